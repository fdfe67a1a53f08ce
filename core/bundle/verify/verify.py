"""Verifies a bundle: every decoder must reproduce the reference within the bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import (
    Reference,
    log_mae,
    teacher_response,
    texture_columns,
)
from verdigris.core.bundle.proxies.make_proxies import check_albedo
from verdigris.core.bundle.verify.map_differences import (
    SAME_SOURCE,
    MapDifferences,
    map_differences,
)
from verdigris.core.bundle.verify.rows import Row, largest
from verdigris.core.bundle.verify.verify_sampler import Sampler, numpy_sampler, sampler_rows
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.network.numpy_mlp import evaluate_at_lod

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

Floats = NDArray[np.float32]

# (uv [N, 2], lod [N], wi [N, 3], wo [N, 3]) -> response [N, 3]
Decoder = Callable[[Floats, Floats, Floats, Floats], NDArray[Any]]

NO_SAMPLER = "the bundle has no sampler (new in version 4.2): bake the material again to get one"

# A texture at a point, in double precision, and decimals of the reference.
SAME_TEXTURE = 1e-5
# Opacity is stored in bytes.
_SAME_OPACITY = 1 / 255


@dataclass(frozen=True)
class Verification:
    """All comparisons of a bundle."""

    bundle: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What was not compared, with reasons, and changes of the source since the bake."""
    materials: int = 0
    """Of a scene pack, whose rows begin with their names."""

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


def numpy_decoder(bundle: Bundle) -> Decoder:
    """The numpy decoder of a bundle, in single floats."""
    return parameters_decoder(bundle.parameters())


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
) -> Verification:
    """Checks every file, then numpy and each of `decoders` and `samplers` on the reference, then
    the stored responses of the graph, and `teacher` if given. `notes` list what is not checked."""
    bundle.check_files()
    reference, bounds = bundle.reference(), bundle.manifest.bounds
    parameters = bundle.parameters()
    bundle.check_constants()
    rows = decoder_rows([("numpy", parameters_decoder(parameters)), *decoders], reference, bounds)
    rows += sampler_rows([*numpy_sampler(parameters), *samplers], reference, bounds)
    if not bundle.manifest.has_sampler:
        notes = (*notes, NO_SAMPLER)
    rows += teacher_rows(bundle.layout, reference, bounds, teacher)
    found = bundle.proxies(), bundle.emission(), bundle.opacity()
    rows += texture_rows(reference, *found)
    if found[0]:
        rows += albedo_rows(parameters, found[0], bounds)
    if teacher is not None:
        rows += _map_rows(map_differences(bundle, teacher))
    unchecked = teacher_notes("the graph", reference, bounds) if teacher is None else []
    return Verification(str(bundle.folder), tuple(rows), (*notes, *unchecked))


def decoder_rows(
    decoders: Sequence[tuple[str, Decoder]], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Compares each decoder with the reference."""
    rows: list[Row] = []
    for name, decode in decoders:
        response = np.asarray(
            decode(reference.uv, reference.lod, reference.wi, reference.wo, **reference.given_live),
            np.float64,
        )
        rows += compare_decoder(name, response, reference, bounds)
    return rows


def compare_decoder(
    name: str, response: NDArray[np.float64], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Relative differences from bounds.floor up, absolute ones below it."""
    wanted = reference.exported.astype(np.float64)
    if response.shape != wanted.shape:
        raise SettingsError(f"{name} gave an array of shape {response.shape}: use {wanted.shape}")
    difference = np.abs(response - wanted)
    difference[~np.isfinite(response)] = np.inf
    bright = wanted >= bounds.floor
    relative = difference[bright] / wanted[bright]
    dark = difference[~bright]
    what = f"{name} against the reference"
    return [
        Row(what, int(bright.sum()), "largest relative", largest(relative), bounds.relative),
        Row(what, int(dark.size), "largest in the dark", largest(dark), bounds.absolute),
    ]


def texture_rows(
    reference: Reference,
    proxies: Proxies | None,
    emission: Sequence[NDArray[Any]] | None,
    opacity: Sequence[NDArray[Any]] | None,
) -> list[Row]:
    """Compares the textures with their columns of the reference, which versions before 4.2 lack."""
    found = texture_columns(reference, proxies, emission, opacity)
    rows = []
    for name, stored in reference.textures.items():
        # a column without a texture disagrees
        values = found.get(name, np.full_like(stored, np.inf)).astype(np.float64)
        difference = np.abs(values - stored) / np.maximum(1, np.abs(stored))
        what = f"{name} against the reference"
        rows.append(Row(what, stored.size, "largest", largest(difference), SAME_TEXTURE))
    return rows


def albedo_rows(parameters: Parameters, proxies: Proxies, bounds: Bounds) -> list[Row]:
    """Compares the proxies' albedo with a quadrature of the response, if there is a bound."""
    if bounds.albedo is None:
        return []
    error = check_albedo(parameters, proxies)
    return [
        Row(
            "albedo against quadrature", error.count, "median relative", error.median, bounds.albedo
        )
    ]


def teacher_rows(
    layout: LatentLayout,
    reference: Reference,
    bounds: Bounds,
    teacher: DeviceMaterial | None = None,
) -> list[Row]:
    """Compares the reference with the source's graph, stored and present."""
    stored, count = reference.teacher, reference.exported.size
    rows: list[Row] = []
    limit = float("inf") if bounds.teacher_log_mae is None else bounds.teacher_log_mae
    if stored is not None:
        found = log_mae(reference.exported, stored)
        rows.append(Row("reference against the graph", count, "mean log", found, limit))
    if teacher is not None:
        live = teacher_response(teacher, reference, layout)
        if stored is not None:
            what = "the graph now against then"
            rows.append(Row(what, count, "mean log", log_mae(live, stored), SAME_SOURCE))
        found = log_mae(reference.exported, live)
        rows.append(Row("reference against the graph now", count, "mean log", found, limit))
    return rows


def _map_rows(differences: MapDifferences) -> list[Row]:
    """Rows for emission and opacity, if the source or the bundle has such a map."""
    emission, opacity, texels, bound = differences
    found = (
        ("emission", emission, texels[0], "mean log", bound),
        ("opacity", opacity, texels[1], "mean", _SAME_OPACITY),
    )
    return [
        Row(f"{what} against the graph now", count, measure, value, bound)
        for what, value, count, measure, bound in found
        if value is not None
    ]


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
    """JSON has no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def print_verification(result: Verification) -> None:
    """A table for terminals and build logs. Of a scene pack's materials it has what disagrees, and
    of each comparison the material nearest to its bound."""
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
