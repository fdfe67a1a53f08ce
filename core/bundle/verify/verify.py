"""Proves a bundle: whatever decodes it must find what its reference says, within its bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference, ask_teacher
from verdigris.core.bundle.verify.map_differences import MapDifferences, map_differences
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.network.numpy_decoder import evaluate_at_lod

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

Floats = NDArray[np.float32]

# (uv [N, 2], lod [N], wi [N, 3], wo [N, 3]) -> response [N, 3]
Decoder = Callable[[Floats, Floats, Floats, Floats], NDArray[Any]]

# The graph itself, on another device or by another driver, differs by less than this.
SAME_SOURCE = 1e-3
# Opacity is kept in bytes.
_SAME_OPACITY = 1 / 255


@dataclass(frozen=True)
class Row:
    """One comparison."""

    what: str
    """What was compared with what."""
    count: int
    """Responses, three to a point."""
    measure: str
    """Of the difference."""
    found: float
    """Its value; not finite where a decoder gave no number."""
    bound: float
    """The largest that is allowed."""

    @property
    def holds(self) -> bool:
        return bool(self.found <= self.bound)


@dataclass(frozen=True)
class Verification:
    """All comparisons of a bundle."""

    bundle: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What was not compared, and why; and what of the source is not as it was baked."""

    @property
    def holds(self) -> bool:
        return all(row.holds for row in self.rows)

    @property
    def advice(self) -> str:
        """What to do, where that is known."""
        failed = [row.what for row in self.rows if not row.holds]
        if failed and all(what.startswith("cooperative") for what in failed):
            return (
                "half floats are too coarse for this material on this device: compile its shader "
                "without NEURAL_COOPERATIVE, whose decoder agrees"
            )
        return ""

    def as_json(self) -> dict[str, Any]:
        rows = [
            {name: _plain(value) for name, value in asdict(row).items()} | {"holds": row.holds}
            for row in self.rows
        ]
        return {"bundle": self.bundle, "holds": self.holds, "rows": rows, "notes": [*self.notes]}


def numpy_decoder(bundle: Bundle) -> Decoder:
    """From the file, in single floats."""
    return parameters_decoder(bundle.parameters())


def parameters_decoder(parameters: Parameters) -> Decoder:
    """What numpy finds for these numbers."""

    def decode(uv: Floats, lod: Floats, wi: Floats, wo: Floats) -> NDArray[Any]:
        # what overflows is no number, and so beyond every bound
        with np.errstate(over="ignore", invalid="ignore"):
            return evaluate_at_lod(parameters, uv, lod, wi, wo)

    return decode


def verify(
    bundle: Bundle,
    decoders: Sequence[tuple[str, Decoder]] = (),
    teacher: DeviceMaterial | None = None,
    notes: Sequence[str] = (),
) -> Verification:
    """Checks every file, then numpy and each of `decoders` on the reference, and what is known of
    the source's own graph; `teacher` is that graph, alive. `notes` say what decoders are left
    out."""
    bundle.check_files()
    reference, bounds = bundle.reference(), bundle.manifest.bounds
    rows = decoder_rows([("numpy", numpy_decoder(bundle)), *decoders], reference, bounds)
    rows += teacher_rows(bundle.layout, reference, bounds, teacher)
    if teacher is not None:
        rows += _map_rows(map_differences(bundle, teacher))
    unchecked = teacher_notes("the graph", reference, bounds) if teacher is None else []
    return Verification(str(bundle.folder), tuple(rows), (*notes, *unchecked))


def decoder_rows(
    decoders: Sequence[tuple[str, Decoder]], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Each decoder on the reference."""
    rows: list[Row] = []
    for name, decode in decoders:
        response = np.asarray(
            decode(reference.uv, reference.lod, reference.wi, reference.wo), np.float64
        )
        rows += compare_decoder(name, response, reference, bounds)
    return rows


def compare_decoder(
    name: str, response: NDArray[np.float64], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Relative differences where there is light, absolute ones where it is nearly dark."""
    wanted = reference.exported.astype(np.float64)
    if response.shape != wanted.shape:
        raise ValueError(f"{name} gave an array of shape {response.shape}, not {wanted.shape}")
    difference = np.abs(response - wanted)
    difference[~np.isfinite(response)] = np.inf
    bright = wanted >= bounds.floor
    relative = difference[bright] / wanted[bright]
    dark = difference[~bright]
    what = f"{name} against the reference"
    return [
        Row(what, int(bright.sum()), "largest relative", _largest(relative), bounds.relative),
        Row(what, int(dark.size), "largest in the dark", _largest(dark), bounds.absolute),
    ]


def log_mae(first: NDArray[Any], second: NDArray[Any]) -> float:
    first, second = (np.maximum(np.asarray(each, np.float64), 0) for each in (first, second))
    return float(np.abs(np.log1p(first) - np.log1p(second)).mean())


def teacher_rows(
    layout: LatentLayout,
    reference: Reference,
    bounds: Bounds,
    teacher: DeviceMaterial | None = None,
) -> list[Row]:
    """What is known of the source's own graph."""
    stored, count = reference.teacher, reference.exported.size
    rows: list[Row] = []
    limit = float("inf") if bounds.teacher_log_mae is None else bounds.teacher_log_mae
    if stored is not None:
        found = log_mae(reference.exported, stored)
        rows.append(Row("reference against the graph", count, "mean log", found, limit))
    if teacher is not None:
        live = ask_teacher(teacher, reference, layout)
        if stored is not None:
            what = "the graph now against then"
            rows.append(Row(what, count, "mean log", log_mae(live, stored), SAME_SOURCE))
        found = log_mae(reference.exported, live)
        rows.append(Row("reference against the graph now", count, "mean log", found, limit))
    return rows


def _map_rows(differences: MapDifferences) -> list[Row]:
    """Of what the source gives off and covers, where it or the bundle has a map of that."""
    emission, opacity, texels = differences
    found = (
        ("emission", emission, texels[0], "mean log", SAME_SOURCE),
        ("opacity", opacity, texels[1], "mean", _SAME_OPACITY),
    )
    return [
        Row(f"{what} against the graph now", count, measure, value, bound)
        for what, value, count, measure, bound in found
        if value is not None
    ]


def teacher_notes(graph: str, reference: Reference, bounds: Bounds) -> list[str]:
    """Whether there is a bound on the graph, and nothing that was stored of it to hold to that."""
    if bounds.teacher_log_mae is None or reference.teacher is not None:
        return []
    return [f"{graph} is not checked: reference.json does not say what it answered"]


def source_notes(bundle: Bundle, teacher: Teacher) -> list[str]:
    """What of a source is not as the bundle says that it was baked."""
    before, now = bundle.manifest.source, source_facts(teacher.document, teacher.material)
    name, changed = teacher.material.name, []
    if name != bundle.source_name:
        changed = [f"its material is {name!r}, not {bundle.source_name!r}"]
    elif "document_sha256" in before:
        changed = changed_sources(before, now)
    return [f"the source is not what was baked: {', '.join(changed)}"] if changed else []


def _plain(value: Any) -> Any:
    """JSON knows no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _largest(values: NDArray[np.float64]) -> float:
    return float(values.max()) if values.size else 0.0


def print_verification(result: Verification) -> None:
    """A table for terminals and build logs."""
    print(result.bundle)
    width = max(len(row.what) for row in result.rows)
    print(f"  {'':<{width}}  {'values':>6}  {'difference':<19}  {'found':>9}  {'bound':>9}")
    for row in result.rows:
        verdict = "agrees" if row.holds else "DISAGREES"
        print(
            f"  {row.what:<{width}}  {row.count:>6}  {row.measure:<19}  {row.found:>9.3g}  "
            f"{row.bound:>9.3g}  {verdict}"
        )
    failed = sum(not row.holds for row in result.rows)
    print(f"  {failed} of {len(result.rows)} disagree" if failed else "  all agree")
    for line in (*result.notes, *([result.advice] if result.advice else [])):
        print(f"  {line}")
