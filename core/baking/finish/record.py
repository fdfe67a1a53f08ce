"""The record of a bake in its bundle's manifest: its sources and its requests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.measure.once import once
from verdigris.core.baking.state.differences import live_facts
from verdigris.core.bundle.cost.source_bytes import SourceBytes, source_bytes
from verdigris.core.bundle.files.write import version
from verdigris.core.material.report.report import describe_teacher

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.teacher.teacher import Teacher


def source_of(run: Run, material: int, is_first: bool = False) -> Mapping[str, Any]:
    return {
        "material": run.teachers[material].material.name,
        **run.documents[material],
        "images": asdict(_images(run.teachers[material])),
        "digest": run.saved.digest,
        "verdigris": version(),
        "kind": run.kind.value,
        "settings": run.settings.to_json(),
        "seed": run.settings.seed,
        "trainer": run.trainer_kind,
        "device": str(run.teachers[material].device),
        "step": run.step - run.steps_saved,
        "seconds": run.clock.seconds,
        "stopped_by": run.clock.stopped_by,
        "decoder_shared_by": list(run.names),
        **({"size": run.size_choice.facts()} if run.size_choice else {}),
        # its figures are rough, and its texture may be the small one
        **({"is_first": True} if is_first else {}),
        **({"mesh": mesh.source} if (mesh := run.teachers[material].mesh) else {}),
        **({"live": live} if (live := live_facts(run.teachers[material])) else {}),
        **_request(run, material),
    }


def _images(teacher: Teacher) -> SourceBytes:
    return source_bytes(teacher.document, teacher.material)


def _request(run: Run, material: int) -> Mapping[str, Any]:
    """What was requested beside settings, so that a later request can be compared with it."""
    options = run.options
    found: dict[str, Any] = {"preset": options.preset} if options.preset else {}
    if options.importance is not None:
        weights = np.ascontiguousarray(options.importance, np.float32)
        found["importance_sha256"] = hashlib.sha256(weights.tobytes()).hexdigest()
    if options.time_limit is not None:
        found["time_limit"] = options.time_limit
    if options.target_error is not None:
        found["target_error"] = options.target_error
    if options.target:
        found["target"] = options.target
    if options.provenance:
        found["asked"] = dict(options.provenance[material])
    return found


def report_of(teacher: Teacher) -> Mapping[str, Any]:
    """What `inspect` says, without the folders of this machine."""
    found = once(teacher, describe_teacher, lambda: describe_teacher(teacher))
    parts = [asdict(part) for part in found.parts]
    return {
        "surface": found.surface_model,
        "nodes": found.nodes,
        **{
            fate: [
                {"name": part["name"], "how": part["how"]} for part in parts if part["fate"] == fate
            ]
            for fate in ("kept", "approximated", "dropped")
        },
        "textures": [{**asdict(facts), "file": Path(facts.file).name} for facts in found.textures],
    }
