"""Verifies a bundle: each decoder must reproduce the reference within the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Floats
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference
from verdigris.core.bundle.verify.relief_rows import relief_rows
from verdigris.core.bundle.verify.rows import (
    NOTHING,
    Decoder,
    OnDevice,
    Row,
    Sampler,
    albedo_rows,
    decoder_rows,
    map_differences,
    map_rows,
    numpy_sampler,
    sampler_rows,
    teacher_rows,
    texture_rows,
    transmitted_albedo_rows,
)
from verdigris.core.bundle.verify.sphere_density import density_row
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.network.numpy_mlp import evaluate_at_lod

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import Parameters

NO_SAMPLER = "the bundle has no sampler (new in version 4.2): bake the material again to get one"


@dataclass(frozen=True)
class Verification:
    """All comparisons of a bundle."""

    bundle: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What was not compared, with reasons, and changes of the source since the bake."""
    materials: int = 0
    """Number of materials of a scene pack, whose rows begin with their names."""

    @property
    def holds(self) -> bool:
        return all(row.holds for row in self.rows)

    @property
    def advice(self) -> str:
        """A remedy, if there is one."""
        failed = [row.what for row in self.rows if not row.holds]
        if failed and all(what.startswith("cooperative") for what in failed):
            return (
                "half floats are too coarse for this material on this device: compile its shader "
                "without NEURAL_COOPERATIVE"
            )
        return ""

    def as_json(self) -> dict[str, Any]:
        rows = [
            {name: _plain(value) for name, value in asdict(row).items()} | {"holds": row.holds}
            for row in self.rows
        ]
        return {"bundle": self.bundle, "holds": self.holds, "rows": rows, "notes": [*self.notes]}


def parameters_decoder(parameters: Parameters) -> Decoder:
    """The numpy decoder of these numbers."""

    def decode(
        uv: Floats, lod: Floats, wi: Floats, wo: Floats, live: Floats | None = None
    ) -> NDArray[Any]:
        # an overflow is not finite and so exceeds every bound
        with np.errstate(over="ignore", invalid="ignore"):
            return evaluate_at_lod(parameters, uv, lod, wi, wo, live)

    return decode


def verify(
    bundle: Bundle,
    decoders: Sequence[tuple[str, Decoder]] = (),
    teacher: DeviceMaterial | None = None,
    notes: Sequence[str] = (),
    samplers: Sequence[tuple[str, Sampler]] = (),
    below: OnDevice | None = None,
) -> Verification:
    """Checks every file, then numpy and each of `decoders` and `samplers` on the reference, then
    the stored responses of the graph, and `teacher` if given. `below` are those of the transmitted
    side, and `notes` list what is not checked."""
    bundle.check_files()
    reference, bounds = bundle.reference(), bundle.manifest.bounds
    parameters, *transmitted = bundle.parameters().sides
    bundle.check_constants()
    rows = decoder_rows([("numpy", parameters_decoder(parameters)), *decoders], reference, bounds)
    rows += sampler_rows([*numpy_sampler(parameters), *samplers], reference, bounds)
    if not bundle.manifest.has_sampler:
        notes = (*notes, NO_SAMPLER)
    rows += teacher_rows(bundle.layout, reference, bounds, teacher)
    for side in transmitted:
        rows += transmitted_rows(bundle, side, below or NOTHING, teacher)
        if bundle.manifest.has_sampler:
            rows.append(density_row(bundle.parameters()))
        if passing := bundle.transmitted_albedo():
            rows += transmitted_albedo_rows(bundle.parameters(), passing, bounds)
    textures = bundle.textures()
    rows += texture_rows(reference, textures)
    if textures.proxies:
        rows += albedo_rows(parameters, textures.proxies, bounds)
    if teacher is not None:
        rows += map_rows(map_differences(bundle, teacher))
    if heights := bundle.relief():
        rows += relief_rows(heights, teacher)
    unchecked = teacher_notes("the graph", reference, bounds) if teacher is None else []
    return Verification(str(bundle.folder), tuple(rows), (*notes, *unchecked))


def transmitted_rows(
    bundle: Bundle,
    parameters: Parameters,
    on_device: OnDevice,
    teacher: DeviceMaterial | None = None,
) -> list[Row]:
    """Checks the decoder for light from below on its own reference."""
    facts, below = bundle.manifest.transmitted, bundle.transmitted
    assert facts is not None and below is not None
    reference, bounds = below.reference(), bundle.manifest.bounds
    decoders = [("numpy", parameters_decoder(parameters)), *on_device.decoders]
    rows = decoder_rows(decoders, reference, bounds)
    samplers = [*numpy_sampler(parameters), *on_device.samplers]
    rows += sampler_rows(samplers, reference, bounds)
    rows += teacher_rows(
        bundle.layout, reference, replace(bounds, teacher_log_mae=None), teacher, facts.index
    )
    return [replace(row, what=f"transmitted: {row.what}") for row in rows]


def teacher_notes(graph: str, reference: Reference, bounds: Bounds) -> list[str]:
    """A note if there is a bound on the graph but no stored response of it."""
    if bounds.teacher_log_mae is None or reference.teacher is not None:
        return []
    return [f"{graph} is not checked: reference.json has no response of it"]


def source_notes(bundle: Bundle, teacher: Teacher) -> list[str]:
    """A note on changes of the source since the bake."""
    before, now = bundle.manifest.source, source_facts(teacher.document, teacher.material)
    name, changed = teacher.material.name, []
    if name != bundle.source_name:
        changed = [f"its material is {name!r}, not {bundle.source_name!r}"]
    elif "document_sha256" in before:
        changed = changed_sources(before, now)
    return [f"the source has changed since the bake: {', '.join(changed)}"] if changed else []


def _plain(value: Any) -> Any:
    """The value for JSON, which has no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def print_verification(result: Verification) -> None:
    """Prints a table for terminals and build logs. For a scene pack, it has all that disagrees, and
    for each comparison the material nearest to its bound."""
    shown = _telling_rows(result)
    print(result.bundle)
    width = max(len(row.what) for row in shown)
    print(f"  {'':<{width}}  {'values':>6}  {'difference':<19}  {'found':>9}  {'bound':>9}")
    for row in shown:
        verdict = "agrees" if row.holds else "DISAGREES"
        print(
            f"  {row.what:<{width}}  {row.count:>6}  {row.measure:<19}  {row.found:>9.3g}  "
            f"{row.bound:>9.3g}  {verdict}"
        )
    failed = sum(not row.holds for row in result.rows)
    hidden = len(result.rows) - len(shown)
    beside = f"; {hidden} that agree better are not shown: --json has them" if hidden else ""
    verdict = f"{failed} of {len(result.rows)} disagree" if failed else "all agree"
    print(f"  {verdict}{beside}")
    for line in (*result.notes, *([result.advice] if result.advice else [])):
        print(f"  {line}")


def _telling_rows(result: Verification) -> list[Row]:
    if not result.materials:
        return list(result.rows)
    nearest: dict[tuple[str, str], Row] = {}
    for row in result.rows:
        compared = row.what.partition(": ")[2], row.measure
        before = nearest.setdefault(compared, row)
        if row.found * before.bound > before.found * row.bound:
            nearest[compared] = row
    return [row for row in result.rows if not row.holds or row in nearest.values()]
