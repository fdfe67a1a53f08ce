"""The summary of a run: every material, with the records of its bundle. Summaries, plans and states
as JSON, and as lines for people."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError
from verdigris.core.base.json_fields import find_json_file, find_number, find_table, find_whole
from verdigris.core.base.text import counted, format_bytes, format_seconds
from verdigris.core.batch.plan.plan import Plan, Planned, State
from verdigris.core.batch.run.bake_queue import NOT_REACHED, Result
from verdigris.core.bundle.files.read import Bundle, open_bundle

SUMMARY_FILE, REPORT_FILE = "scene_summary.json", "scene_report.html"
FAILED, BAKED, CURRENT = "failed", "baked", "up to date"
_MOST_REASONS = 3


@dataclass(frozen=True)
class Row:
    """A material in summary and report."""

    name: str
    status: str
    """baked, up to date, failed, stopped or not reached."""
    bundle: Path
    error: str = ""
    """Why it failed."""
    reasons: tuple[str, ...] = ()
    """Why it was baked again."""
    seconds: float = 0.0
    """Seconds of its bake, in this run or an earlier one."""
    attempts: int = 0
    from_step: int = 0
    """The step of the checkpoint from which it continued."""
    device: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    group: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Sections of its bundle's manifest: errors, cost, report and source."""

    @property
    def log_mae(self) -> float:
        """Log MAE; NaN without a bundle."""
        value = find_number(find_table(find_table(self.manifest, "errors"), "samples"), "log_mae")
        return math.nan if value is None else value

    @property
    def decoder_bytes(self) -> int:
        """Bytes of the weights in its bundle; 0 without a bundle."""
        return find_whole(find_table(self.manifest, "cost"), "weights_bytes") or 0

    def parts(self, fate: str) -> list[tuple[str, str]]:
        """Kept, approximated, ignored or dropped parts of the material, as name and description."""
        found = find_table(self.manifest, "report").get(fate)
        return [
            (str(part.get("name")), str(part.get("how") or ""))
            for part in (found if isinstance(found, list) else [])
            if isinstance(part, Mapping)
        ]

    def with_earlier_facts(self, earlier: Mapping[str, Any]) -> Row:
        """The row with seconds and warnings of an earlier summary."""
        warnings = earlier.get("warnings")
        return replace(
            self,
            seconds=find_number(earlier, "seconds") or 0.0,
            warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        )

    def as_json(self, out: Path) -> dict[str, Any]:
        """The row as JSON, with paths relative to `out`, the folder of the summary."""
        return {
            "name": self.name,
            "status": self.status,
            "bundle": self.bundle.relative_to(out).as_posix(),
            "error": self.error,
            "why": list(self.reasons),
            "seconds": round(self.seconds, 3),
            "attempts": self.attempts,
            "from_step": self.from_step,
            "device": self.device,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "group": self.group,
            "errors": find_table(self.manifest, "errors"),
            "cost": find_table(self.manifest, "cost"),
            "approximated": [name for name, _ in self.parts("approximated")],
            "dropped": [name for name, _ in self.parts("dropped")],
        }


@dataclass(frozen=True)
class Summary:
    """The summary of a finished run."""

    scene: str
    out: Path
    began: str
    seconds: float
    place: str
    exit_code: int
    rows: tuple[Row, ...]
    packs: tuple[Mapping[str, Any], ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(row.status for row in self.rows))

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Members of each group, and the bytes that sharing a decoder saves."""
        found = []
        for group in dict.fromkeys(row.group for row in self.rows if row.group):
            rows = [row for row in self.rows if row.group == group]
            members = [row.name for row in rows]
            decoders = [row.decoder_bytes for row in rows if row.status in (BAKED, CURRENT)]
            found.append({"name": group, "members": members, "saved_bytes": sum(decoders[1:])})
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "scene": self.scene,
            "out": str(self.out.absolute()),
            "began": self.began,
            "seconds": round(self.seconds, 3),
            "place": self.place,
            "exit_code": self.exit_code,
            "counts": self.counts,
            "materials": [row.as_json(self.out) for row in self.rows],
            "groups": self.groups,
            "packs": [dict(pack) for pack in self.packs],
        }

    def text(self) -> str:
        return json.dumps(_finite(self.as_json()), indent=1, allow_nan=False) + "\n"


def rows_of(plan: Plan, results: Sequence[Result]) -> list[Row]:
    """A row for each material, from its present bundle. Seconds and warnings of earlier runs come
    from the earlier summary."""
    earlier = _earlier(plan.scene.out / SUMMARY_FILE)
    by_name = {each.material.entry.name: each for each in results}
    rows = [_row(planned, by_name.get(planned.entry.name)) for planned in plan.materials]
    return [
        row.with_earlier_facts(earlier[row.name])
        if row.status == CURRENT and row.name in earlier and not row.seconds
        else row
        for row in rows
    ]


def _earlier(file: Path) -> dict[str, Mapping[str, Any]]:
    """Materials of the existing summary that have a bundle."""
    found = find_json_file(file)
    with contextlib.suppress(KeyError, TypeError):
        materials = found["materials"]
        return {each["name"]: each for each in materials if each["status"] in (BAKED, CURRENT)}
    return {}


def _row(planned: Planned, result: Result | None) -> Row:
    bundle = _find_bundle(planned.bundle)
    manifest: dict[str, Any] = {}
    if bundle is not None:
        for name in ("errors", "cost", "report", "source"):
            manifest[name] = getattr(bundle.manifest, name)
    status, error = CURRENT, ""
    if planned.state == State.BROKEN:
        status, error = FAILED, "; ".join(planned.reasons)
    elif result is not None:
        status, error = result.status, result.text
    elif planned.is_to_do:
        status = NOT_REACHED
    planned_now = result.material if result is not None else planned
    outcome = result.outcome if result is not None else None
    return Row(
        planned.entry.name,
        status,
        planned.bundle,
        error,
        planned.reasons if planned.is_to_do else (),
        outcome.seconds if outcome else 0.0,
        result.attempts if result else 0,
        outcome.from_step if outcome else 0,
        (outcome.device if outcome else "")
        or str(find_table(manifest, "source").get("device", "")),
        tuple(outcome.warnings) if outcome else (),
        planned.entry.all_notes,
        planned_now.group,
        manifest,
    )


def _find_bundle(path: Path) -> Bundle | None:
    try:
        return open_bundle(path)
    except BundleError:
        return None


def _finite(value: Any) -> Any:
    """Replaces infinities and NaN, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def plan_lines(plan: Plan) -> Iterator[str]:
    """The state, time and size of each material, with reasons."""
    by_bundle = {each.bundle: work for work in plan.works for each in work.materials}
    width = max(len(each.entry.name) for each in plan.materials)
    for each in plan.materials:
        work = by_bundle.get(each.bundle)
        line = f"{each.entry.name:<{width}}  {each.state:<15}"
        if work is not None:
            line += f"  {format_seconds(work.seconds / len(work.materials)):>11}"
            line += f"  {format_bytes(work.bytes / len(work.materials)):>8}"
            line += "  continues from a checkpoint" if work.is_resumed else ""
        if each.group:
            line += f"  shares {each.group}"
        yield (line + _why(each)).rstrip()
        if each.entry.links:
            yield f"{'':<{width}}  {each.entry.links_note}"
    yield totals(plan)


def totals(plan: Plan) -> str:
    """A line about the whole plan."""
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
