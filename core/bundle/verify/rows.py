"""Rows of a verification: what is compared with the reference, the graph and the maps, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Floats
from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.bc6h import decode as decode_blocks
from verdigris.core.bundle.files.bc6h import encode as encode_blocks
from verdigris.core.bundle.files.ktx2 import BC6H
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import (
    SAME_DIRECTION,
    Reference,
    SamplerRows,
    Textures,
    density_errors,
    log_mae,
    sample_rows,
    teacher_response,
    texture_columns,
)
from verdigris.core.bundle.proxies.make_proxies import check_albedo
from verdigris.core.bundle.proxies.transmitted_albedo import check_transmitted_albedo
from verdigris.core.material.teacher.unlit_maps import unlit_maps
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

# (uv [N, 2], lod [N], wi [N, 3], wo [N, 3], random [N, 2]) -> rows; with live inputs `live` too
Sampler = Callable[..., SamplerRows]
# The graph differs by less than this between devices and drivers.
SAME_SOURCE = 1e-3
# The same for an emission map in blocks of BC6H; and, if blocks cannot hold the colours that well,
# as a factor of the least difference that they have.
_SAME_IN_BLOCKS, _SAME_AS_BLOCKS = 1e-2, 1.1
# (uv [N, 2], lod [N], wi [N, 3], wo [N, 3]) -> response [N, 3]
Decoder = Callable[[Floats, Floats, Floats, Floats], NDArray[Any]]


@dataclass(frozen=True)
class OnDevice:
    """Decoders and samplers of a bundle on a device, by name."""

    decoders: list[tuple[str, Decoder]]
    samplers: list[tuple[str, Sampler]]
    """Empty if the bundle has no sampler."""
    below: OnDevice | None = None
    """Those for light from below, if the surface transmits."""


NOTHING = OnDevice([], [])
# Largest difference of a texture at a point: in double precision, with the reference's decimals.
SAME_TEXTURE = 1e-5
# Opacity is stored in bytes.
_SAME_OPACITY = 1 / 255


@dataclass(frozen=True)
class Row:
    """One comparison."""

    what: str
    """The two sides of the comparison."""
    count: int
    """Number of compared values, three for each point."""
    measure: str
    """How the difference is measured."""
    found: float
    """The difference; not finite if a response is not."""
    bound: float
    """The largest allowed difference."""

    @property
    def holds(self) -> bool:
        return bool(self.found <= self.bound)


def largest(values: NDArray[np.float64]) -> float:
    """The largest difference; 0 if nothing is compared."""
    return float(values.max()) if values.size else 0.0


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
    """Compares responses from bounds.floor up by relative differences, others by absolute ones."""
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


def numpy_sampler(parameters: Parameters) -> list[tuple[str, Sampler]]:
    """The sampler in numpy, in single floats, if the decoder has a head."""
    if parameters.head is None:
        return []

    def sample(
        uv: Floats, lod: Floats, wi: Floats, wo: Floats, random: Floats, live: Floats | None = None
    ) -> SamplerRows:
        # an overflow is not finite and so exceeds every bound
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return sample_rows(parameters, uv, lod, wi, wo, random, live)

    return [("numpy", sample)]


def sampler_rows(
    samplers: Sequence[tuple[str, Sampler]], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Compares densities, by relative differences from bounds.floor up, and drawn directions."""
    wanted = reference.sampler
    if wanted is None:
        return []
    rows = []
    for name, sample in samplers:
        place = reference.uv, reference.lod, reference.wi, reference.wo
        found = sample(*place, wanted.random, **reference.given_live)
        densities = np.concatenate(
            [
                density_errors(getattr(found, each), getattr(wanted, each), bounds)
                for each in ("pdf", "drawn_pdf")
            ]
        )
        moved = np.abs(found.drawn.astype(np.float64) - wanted.drawn)
        moved[~np.isfinite(moved)] = np.inf
        what = f"{name} sampler against the reference"
        rows += [
            Row(what, densities.size, "largest relative", largest(densities), bounds.relative),
            Row(what, moved.size, "largest component", largest(moved), SAME_DIRECTION),
        ]
    return rows


def texture_rows(reference: Reference, textures: Textures) -> list[Row]:
    """Compares the textures with their columns of the reference, which versions before 4.2 lack."""
    found = texture_columns(reference, textures)
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


def transmitted_albedo_rows(
    parameters: Parameters, stored: TransmittedAlbedo, bounds: Bounds
) -> list[Row]:
    """The same for the transmitted albedo. `parameters` are those of both sides."""
    if bounds.transmitted_albedo is None:
        return []
    error = check_transmitted_albedo(parameters, stored)
    bound = bounds.transmitted_albedo
    what = "transmitted: albedo against quadrature"
    return [Row(what, error.count, "median relative", error.median, bound)]


def teacher_rows(
    layout: LatentLayout,
    reference: Reference,
    bounds: Bounds,
    teacher: DeviceMaterial | None = None,
    index_below: float = 0.0,
) -> list[Row]:
    """Compares the reference with the responses of the source's graph, as stored and as now. With
    an index, it is the reference of the transmitted side."""
    stored, count = reference.teacher, reference.exported.size
    rows: list[Row] = []
    limit = float("inf") if bounds.teacher_log_mae is None else bounds.teacher_log_mae
    if stored is not None:
        found = log_mae(reference.exported, stored)
        rows.append(Row("reference against the graph", count, "mean log", found, limit))
    if teacher is not None:
        live = teacher_response(teacher, reference, layout, index_below)
        if stored is not None:
            what = "the graph now against then"
            rows.append(Row(what, count, "mean log", log_mae(live, stored), SAME_SOURCE))
        found = log_mae(reference.exported, live)
        rows.append(Row("reference against the graph now", count, "mean log", found, limit))
    return rows


class MapDifferences(NamedTuple):
    """Means over the texels of the finest level; None if neither side has such a map."""

    emission: float | None
    """Mean difference of log(1 + emission)."""
    opacity: float | None
    texels: tuple[int, int]
    """Texels of emission and of opacity, which can have different sizes."""
    emission_bound: float
    """The largest mean difference that an intact emission map has."""


def map_differences(bundle: Bundle, teacher: DeviceMaterial) -> MapDifferences:
    """Compares both maps. A missing map counts as no emission, or as opaque."""
    facts = bundle.manifest.emission, bundle.manifest.opacity
    # a missing map gets the size of the other one, or of the latents
    other = facts[0] or facts[1] or bundle.layout
    sizes = [(each.width, each.height) for each in (facts[0] or other, facts[1] or other)]
    found = {size: unlit_maps(teacher, *size) for size in {*sizes}}
    emission, coverage = found[sizes[0]].emission, found[sizes[1]].coverage
    glow = _difference(np.log1p, bundle.emission(), 3, 1.0, 0.0, emission)
    solid = _difference(lambda values: values, bundle.opacity(), 1, 255.0, 1.0, coverage)
    texels = [width * height for width, height in sizes]
    bound = SAME_SOURCE
    if facts[0] is not None and facts[0].format == BC6H:
        bound = _SAME_IN_BLOCKS
        if emission is not None and glow is not None and glow > bound:
            bound = _bound_of_blocks(emission)
    return MapDifferences(glow, solid, (texels[0], texels[1]), bound)


def _bound_of_blocks(emission: NDArray[np.float32]) -> float:
    """The bound for a map whose blocks have several colours, such as glowing cracks."""
    wanted = emission.clip(0, LARGEST_HALF).astype(np.float16)
    blocks = decode_blocks(encode_blocks(wanted), *wanted.shape[:2]).astype(np.float64)
    least = np.abs(np.log1p(blocks) - np.log1p(wanted.astype(np.float64))).mean()
    return max(_SAME_IN_BLOCKS, _SAME_AS_BLOCKS * float(least))


def _difference(
    scaled: Any,
    stored: Sequence[NDArray[Any]] | None,
    channels: int,
    one: float,
    missing: float,
    found: NDArray[np.float32] | None,
) -> float | None:
    if stored is None and found is None:
        return None
    texels = missing if stored is None else stored[0][..., :channels].astype(np.float64) / one
    wanted = missing if found is None else found.reshape(*found.shape[:2], channels)
    first, second = (np.clip(each, 0, LARGEST_HALF) for each in (texels, wanted))
    return float(np.abs(scaled(first) - scaled(second)).mean())


def map_rows(differences: MapDifferences) -> list[Row]:
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
