"""Plans, states and summaries as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from verdigris.core.base.text import counted, format_bytes, format_seconds
from verdigris.core.batch.plan.plan import Plan, Planned, State
from verdigris.core.batch.run.summary import FAILED, Summary

_MOST_REASONS = 3


def plan_lines(plan: Plan) -> Iterator[str]:
    """State, time and size of each material, with reasons."""
    by_bundle = {each.bundle: work for work in plan.works for each in work.materials}
    width = max(len(each.entry.name) for each in plan.materials)
    for each in plan.materials:
        work = by_bundle.get(each.bundle)
        line = f"{each.entry.name:<{width}}  {each.state:<15}"
        if work is not None:
            line += f"  {format_seconds(work.seconds / len(work.materials)):>8}"
            line += f"  {format_bytes(work.bytes / len(work.materials)):>8}"
            line += "  continues from a checkpoint" if work.is_resumed else ""
        if each.group:
            line += f"  shares {each.group}"
        yield (line + _why(each)).rstrip()
        if each.entry.links:
            yield f"{'':<{width}}  {each.entry.links_note}"
    yield totals(plan)


def totals(plan: Plan) -> str:
    """A line on the whole plan."""
    left = sum(each.is_to_do for each in plan.materials)
    parts = [f"{counted(len(plan.materials), 'material')}: {left} to bake"]
    parts.append(f"{len(plan.of(State.CURRENT))} up to date")
    broken = len(plan.of(State.BROKEN))
    if broken:
        parts.append(f"{broken} cannot be baked")
    if left:
        parts.append(
            f"about {format_seconds(plan.seconds)} on one device, {format_bytes(plan.bytes)}"
        )
    return ", ".join(parts)


def _why(planned: Planned) -> str:
    if not planned.reasons:
        return ""
    shown = "; ".join(planned.reasons[:_MOST_REASONS])
    more = len(planned.reasons) - _MOST_REASONS
    return f"  ({shown}{f'; and {more} more' if more > 0 else ''})"


def plan_json(plan: Plan) -> dict[str, Any]:
    works = [
        {
            "task": work.task.name,
            "materials": [each.entry.name for each in work.materials],
            "seconds": round(work.seconds, 1),
            "bytes": work.bytes,
            "goes_on": work.is_resumed,
        }
        for work in plan.works
    ]
    return {
        **status_json(plan),
        "bakes": works,
        "seconds": round(plan.seconds, 1),
        "bytes": plan.bytes,
    }


def status_lines(plan: Plan) -> Iterator[str]:
    """Bundles that are out of date, with reasons."""
    width = max(len(each.entry.name) for each in plan.materials)
    for each in plan.materials:
        if each.state != State.CURRENT:
            yield f"{each.entry.name:<{width}}  {each.state:<15}{_why(each)}".rstrip()
    current = len(plan.of(State.CURRENT))
    yield f"{current} of {counted(len(plan.materials), 'material')} up to date"


def status_json(plan: Plan) -> dict[str, Any]:
    materials = [
        {
            "name": each.entry.name,
            "state": str(each.state),
            "why": list(each.reasons),
            "bundle": str(each.bundle),
            "group": each.group,
            "links": list(each.entry.links),
        }
        for each in plan.materials
    ]
    return {
        "scene": str(plan.scene.source),
        "out": str(plan.scene.out),
        "materials": materials,
        "counts": {str(state): len(plan.of(state)) for state in State},
    }


def summary_lines(summary: Summary, files: Sequence[Path]) -> Iterator[str]:
    """The summary of a run as text."""
    counts = ", ".join(f"{number} {status}" for status, number in summary.counts.items())
    if set(summary.counts) == {"up to date"}:
        counts = f"nothing to do, all {len(summary.rows)} up to date"
    yield f"{counted(len(summary.rows), 'material')} in {format_seconds(summary.seconds)}: {counts}"
    for row in summary.rows:
        if row.status == FAILED:
            yield f"  {row.name}: {row.error}"
    for group in summary.groups:
        who = f"{group['name']}: {len(group['members'])} share a decoder"
        yield f"  group {who}, {format_bytes(group['saved_bytes'])} saved"
    for pack in summary.packs:
        yield f"  pack {pack['name']}: {pack.get('error') or pack.get('text')}"
    yield f"report: {files[1]}"
