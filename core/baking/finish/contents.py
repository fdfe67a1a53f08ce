"""The contents of a bundle beside its numbers: the record of its bake, errors, shaders, maps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.bake_request import recorded_fields
from verdigris.core.baking.finish.store import MARGIN, judged, rounding_by_material
from verdigris.core.baking.measure.measure import once
from verdigris.core.baking.state.checkpoint import live_facts
from verdigris.core.base.text import version
from verdigris.core.bundle.cost.source_bytes import source_bytes
from verdigris.core.bundle.files.reference import make_reference
from verdigris.core.bundle.files.stored_textures import Exported
from verdigris.core.bundle.files.write import Contents
from verdigris.core.bundle.runtime.runtime_files import runtime_files
from verdigris.core.material.analyse.displacement import without_effect
from verdigris.core.material.analyse.features import DISPLACEMENT, DROPPED, FATES, IGNORED, Part
from verdigris.core.material.report import describe_teacher

if TYPE_CHECKING:
    from verdigris.core.baking.finish.figures import Figures
    from verdigris.core.baking.state.run import Run
    from verdigris.core.bundle.proxies.checked_proxies import CheckedProxies
    from verdigris.core.geometry.teacher_relief import TeacherRelief
    from verdigris.core.material.teacher.teacher import Teacher

# The bounds of albedos are this much above the error on this device.
_ALBEDO_MARGIN = 2e-3


def make_contents(
    run: Run,
    material: int,
    exported: Exported,
    figures: Figures,
    proxies: CheckedProxies,
    is_first: bool,
) -> Contents:
    """The contents of a material's bundle. `is_first`: the bundle is still to be refined."""
    teacher, maps = run.teachers[material], run.maps[material]
    reference, bounds, arithmetic = judged(exported, teacher)
    below = exported.parameters.index_below
    transmitted = make_reference(exported.exact.sides[1], teacher, below) if below else None
    albedos = {
        name: MARGIN * proxies.errors[name]["median"] + _ALBEDO_MARGIN
        for name in ("albedo", "transmitted_albedo")
        if name in proxies.errors
    }
    return Contents(
        name=run.names[material],
        source=_source_of(run, material, is_first),
        report=_report_of(teacher, maps.relief),
        errors={
            "samples": asdict(figures.samples),
            "sphere": asdict(figures.picture),
            "sky": asdict(figures.sky),
            **proxies.errors,
            **({"quantisation": rounding_by_material(run)[material]} if run.rounding else {}),
        },
        bounds=replace(bounds, **albedos),
        arithmetic=arithmetic,
        live=teacher.live_inputs,
        tiles=teacher.tiles,
        reference=reference,
        transmitted_reference=transmitted,
        preview=figures.preview,
        emission=maps.emission,
        emission_format=maps.emission_format,
        opacity=maps.opacity,
        relief=maps.relief.heights,
        proxies=proxies.proxies,
        transmitted_albedo=proxies.transmitted,
        runtime=runtime_files(
            exported.parameters.spec,
            arithmetic.advised,
            transmits=below > 0,
            has_relief=maps.relief.heights is not None,
        ),
    )


def _source_of(run: Run, material: int, is_first: bool) -> Mapping[str, Any]:
    teacher = run.teachers[material]
    return {
        "material": teacher.material.name,
        **run.documents[material],
        "images": asdict(source_bytes(teacher.document, teacher.material)),
        "digest": run.saved.digest,
        "verdigris": version(),
        "kind": run.kind.value,
        "settings": run.settings.to_json(),
        "seed": run.settings.seed,
        "trainer": run.trainer_kind,
        "device": str(teacher.device),
        "step": run.step - run.steps_saved,
        "seconds": run.clock.seconds,
        "stopped_by": run.clock.stopped_by,
        "decoder_shared_by": list(run.names),
        **({"returns": run.guard.returns} if run.guard.returns else {}),
        **({"size": run.size_choice.facts()} if run.size_choice else {}),
        # the figures are rough, and the texture may be the small one
        **({"is_first": True} if is_first else {}),
        **({"mesh": mesh.source} if (mesh := teacher.mesh) else {}),
        **({"live": live} if (live := live_facts(teacher)) else {}),
        **_request(run, material),
    }


def _request(run: Run, material: int) -> Mapping[str, Any]:
    """What was requested beside the settings, to be compared with a later request."""
    options = run.options
    found: dict[str, Any] = {"preset": options.preset} if options.preset else {}
    if options.importance is not None:
        weights = np.ascontiguousarray(options.importance, np.float32)
        found["importance_sha256"] = hashlib.sha256(weights.tobytes()).hexdigest()
    asked = {name: getattr(options, name) for name in recorded_fields()}
    found |= {name: value for name, value in asked.items() if value not in (None, "")}
    if options.provenance:
        found["asked"] = dict(options.provenance[material])
    return found


def _report_of(teacher: Teacher, relief: TeacherRelief) -> Mapping[str, Any]:
    """The report of `inspect`, without the folders of this machine."""
    found = once(teacher, describe_teacher, lambda: describe_teacher(teacher))

    def evaluated(part: Part) -> Part:
        if part.name != DISPLACEMENT or part.fate == DROPPED or relief.heights is not None:
            return part
        told = without_effect(part, relief.notes)
        return replace(told, fate=DROPPED) if relief.is_lost else told

    parts = [evaluated(part) for part in found.parts]
    return {
        "surface": found.surface_model,
        "nodes": found.nodes,
        **{
            fate: [{"name": part.name, "how": part.how} for part in parts if part.fate == fate]
            for fate in FATES
            if fate != IGNORED or any(part.fate == IGNORED for part in parts)
        },
        "textures": [{**asdict(facts), "file": Path(facts.file).name} for facts in found.textures],
    }
