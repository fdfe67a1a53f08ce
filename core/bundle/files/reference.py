"""reference.json: responses, and rows of a sampler, that decoders are checked with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Floats
from verdigris.core.base.json_fields import LARGEST_SINGLE, Fields, parse_json
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.proxies.proxy_texture import trilinear
from verdigris.core.material.sides import passed
from verdigris.core.network.light.sampler import Lobes, draw, lobes_of, look_at, pdf
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

SAMPLER_COLUMNS: dict[str, tuple[int, ...]] = {
    "random": (2,),
    "pdf": (),
    "drawn": (3,),
    "drawn_pdf": (),
}
_SAMPLER_SEED = 20_061
# Least distance of a random number from the edge to another lobe: single floats may round over it.
_FROM_EDGE = 1e-3
# Largest difference of a component of a drawn direction in a correct sampler.
SAME_DIRECTION = 1e-3
# Single floats may take this part of that difference and of the bound of densities. If a rare lobe
# is drawn, a rounded share moves directions a hundred times as far, and with them the density of a
# narrow lobe. Other random numbers are chosen then, at most this number of times.
ROUNDED, _MOST_CHOICES = 0.25, 16
_SEED = 20_011
# Places of a footprint that the teacher is averaged over.
_PLACES = 16
_UNIFORM, _AT_EDGES, _ON_LEVELS, _GRAZING, _HORIZON, _MIRRORED = 128, 96, 96, 64, 32, 96
# Columns of textures and their shapes.
TEXTURE_COLUMNS = {
    "albedo": (3,),
    "diffuse": (3,),
    "normal": (3,),
    "roughness": (),
    "emission": (3,),
    "opacity": (),
}
_COLUMNS = {
    "uv": (2,),
    "lod": (),
    "wi": (3,),
    "wo": (3,),
    "exported": (3,),
    "teacher": (3,),
    **TEXTURE_COLUMNS,
}
# The column of bundles with live inputs, with a number for each.
LIVE_COLUMN = "live"
# Textures have few bits: their columns get this many decimals, which keeps files small.
_DECIMALS = 5


@dataclass(frozen=True)
class Points:
    """Places and directions at which the material is evaluated."""

    uv: Floats
    lod: Floats
    wi: Floats
    wo: Floats
    live: Floats | None = field(default=None, kw_only=True)
    """Values of live inputs [N, inputs], if there are any."""

    def __len__(self) -> int:
        return len(self.lod)

    @property
    def given_live(self) -> dict[str, Floats]:
        """The argument `live` of decoders and samplers; none without live inputs."""
        return {} if self.live is None else {"live": self.live}


class Textures(NamedTuple):
    """The textures of a bundle that no decoder reads, if it has them."""

    proxies: Proxies | None
    emission: Sequence[NDArray[Any]] | None
    """Mip levels [height, width, 4] in half floats, finest first."""
    opacity: Sequence[NDArray[Any]] | None
    """Mip levels [height, width, 1] in bytes, finest first."""


@dataclass(frozen=True)
class SamplerRows:
    """The results of a sampler at the points of a reference."""

    random: Floats
    """Two uniform numbers for each row."""
    pdf: Floats
    """Density of the row's wi."""
    drawn: Floats
    """The direction that is drawn for `random`."""
    drawn_pdf: Floats
    """Its density."""


@dataclass(frozen=True)
class Reference(Points):
    """Points with their responses."""

    exported: Floats
    """Response of the stored numbers, computed in double precision."""
    sampler: SamplerRows | None = None
    """Results of the bundle's sampler, if it has one."""
    teacher: Floats | None = None
    """Response of the source's graph, averaged over a square of 2^lod finest texels, if known."""
    albedo: Floats | None = None
    """The proxies' directional albedo for views along wo; this and the next three with proxies."""
    diffuse: Floats | None = None
    """The proxies' diffuse albedo."""
    normal: Floats | None = None
    """The proxies' mean normal."""
    roughness: Floats | None = None
    """The proxies' mean roughness."""
    emission: Floats | None = None
    """With an emission map."""
    opacity: Floats | None = None
    """With an opacity map."""

    @property
    def textures(self) -> dict[str, Floats]:
        """The columns of textures, by name."""
        columns = {name: getattr(self, name) for name in TEXTURE_COLUMNS}
        return {name: values for name, values in columns.items() if values is not None}


def choose_points(layout: LatentLayout, live_inputs: int = 0) -> Points:
    """512 points: ordinary ones, and the edge cases of decoders. A quarter of the live values are
    at an end of their range."""
    random = np.random.default_rng(_SEED)
    last = layout.levels - 1
    uv = [random.random((_UNIFORM, 2)), _edge_places(random, layout)]
    uv += [random.uniform(-2, 3, (_ON_LEVELS + _GRAZING + _HORIZON + _MIRRORED, 2))]
    lod = np.zeros(sum(map(len, uv)))
    # between levels, on them, before the first, after the last; few values, many points
    choices = [-1.0, 0.25, 1.0, 1.75, 2.0, 2.75, last / 2 + 1, last + 0.5, last + 1, last + 3.5]
    begin = _UNIFORM + _AT_EDGES
    lod[begin : begin + _ON_LEVELS] = np.resize(choices, _ON_LEVELS)
    count = len(lod)
    wi, wo = hemisphere(random, count), hemisphere(random, count)
    begin += _ON_LEVELS
    grazing = slice(begin, begin + _GRAZING)
    for vectors in (wi[begin : begin + _GRAZING // 2], wo[grazing]):
        vectors[:, 2] = 10 ** random.uniform(-3.5, -1.5, len(vectors))
    begin += _GRAZING
    below = slice(begin, begin + _HORIZON)
    wi[below][0::3, 2] *= -1
    wo[below][1::3, 2] *= -1
    wi[below][2::3, 2] = 0
    begin += _HORIZON
    # around the mirror direction, from exactly on it to a wide highlight
    mirrored = wo[begin:] * [-1, -1, 1]
    spread = np.resize([0, 0.01, 0.05, 0.2], _MIRRORED)[:, None]
    wi[begin:] = mirrored + spread * random.standard_normal((_MIRRORED, 3))
    wi[begin:, 2] = np.abs(wi[begin:, 2])
    wi[-1] = wo[-1] = [0, 0, 1]
    live = np.clip(random.uniform(-1 / 6, 7 / 6, (count, live_inputs)), 0, 1).astype(np.float32)
    return Points(
        live=live if live_inputs else None,
        uv=np.concatenate(uv).astype(np.float32),
        lod=lod.astype(np.float32),
        wi=_unit(wi),
        wo=_unit(wo),
    )


def _edge_places(random: np.random.Generator, layout: LatentLayout) -> NDArray[np.float64]:
    """Places on borders and centres of texels, on seams of a tile, and far outside."""
    size = np.array([layout.width, layout.height])
    whole = random.integers(0, size, (_AT_EDGES, 2))
    uv = (whole + np.resize([0, 0.5], _AT_EDGES)[:, None]) / size
    seams = [[0, 0], [1, 1], [-1, 2], [0, 0.5], [0.5, 1], [-0.25, 0.25], [1e-9, -1e-9], [1, 0.3]]
    uv[: len(seams)] = seams
    far = slice(len(seams), len(seams) + 16)
    uv[far] = random.uniform(-50, 50, (16, 2))
    return np.asarray(uv)


def hemisphere(
    random: np.random.Generator, count: int, least_cosine: float = 0.05
) -> NDArray[np.float64]:
    """Uniform directions [count, 3], except those below the least cosine."""
    cosine, turn = random.uniform(least_cosine, 1, count), 2 * np.pi * random.random(count)
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)


def _unit(vectors: NDArray[np.float64]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@profiled("make reference rows")
def make_reference(
    parameters: Parameters, teacher: DeviceMaterial | None = None, index_below: float = 0.0
) -> Reference:
    """The responses of stored numbers of one side and of their graph. `index_below`: they are those
    of the transmitted side, whose directions of light are mirrored."""
    points = choose_points(parameters.layout, parameters.spec.live_inputs)
    places = points.uv, points.lod, points.wi, points.wo, points.live
    return Reference(
        points.uv,
        points.lod,
        points.wi,
        points.wo,
        exported=exported_response(parameters, points),
        sampler=None if parameters.head is None else make_sampler_rows(parameters, *places),
        live=points.live,
        teacher=teacher_response(teacher, points, parameters.layout, index_below)
        if teacher
        else None,
    )


def exported_response(parameters: Parameters, points: Points) -> Floats:
    found = evaluate_at_lod(
        parameters.with_double_decoder(), points.uv, points.lod, points.wi, points.wo, points.live
    )
    return np.asarray(found, np.float32)


def teacher_response(
    teacher: DeviceMaterial, points: Points, layout: LatentLayout, index_below: float = 0.0
) -> Floats:
    """The graph's response, averaged over a square that is 2^lod finest texels wide, counted along
    the longer side of the texture. With an index, directions of light are mirrored ones."""
    from verdigris.core.material.evaluator import Footprint

    uv = (points.uv - np.floor(points.uv)).astype(np.float32)
    side = max(layout.width, layout.height)
    # from the first level's to the last level's
    lod = np.clip(points.lod, 0, layout.levels)
    result = np.zeros((len(points), 3), np.float32)
    above = (points.wi[:, 2] > 0) & (points.wo[:, 2] > 0)
    wi = points.wi
    if index_below:
        wi = passed(points.wi.T, points.wo.T, index_below).T
    for each in np.unique(lod):
        chosen = above & (lod == each)
        if chosen.any():
            footprint = Footprint(min(1.0, 2.0 ** float(each) / side), _PLACES)
            live = None if points.live is None else points.live[chosen]
            result[chosen] = teacher.response(
                uv[chosen], wi[chosen], points.wo[chosen], None, footprint, live
            )
    return result


def make_sampler_rows(
    parameters: Parameters,
    uv: Floats,
    lod: Floats,
    wi: Floats,
    wo: Floats,
    live: Floats | None = None,
) -> SamplerRows:
    """Rows in double precision. Their random numbers are away from the edges of lobes, and give
    directions and densities that single floats can reproduce."""
    exact = parameters.with_double_decoder()
    rounded = parameters.in_single_floats()
    ends = np.cumsum(lobes_at(exact, uv, lod, wo, live).weights, 0)
    bounds = Bounds()
    generator = np.random.default_rng(_SAMPLER_SEED)
    random = np.empty((len(uv), 2))
    chosen: NDArray[np.bool_] = np.ones(len(uv), np.bool_)
    for _ in range(_MOST_CHOICES):
        while chosen.any():
            random[chosen] = generator.uniform(_FROM_EDGE, 1 - _FROM_EDGE, (int(chosen.sum()), 2))
            chosen = np.any(np.abs(ends - random[:, 0]) < _FROM_EDGE, axis=0)
        found, single = (
            sample_rows(each, uv, lod, wi, wo, random.astype(np.float32), live)
            for each in (exact, rounded)
        )
        moved = np.abs(found.drawn - single.drawn).max(1)
        changed = density_errors(single.drawn_pdf, found.drawn_pdf, bounds)
        chosen = (moved > ROUNDED * SAME_DIRECTION) | (changed > ROUNDED * bounds.relative)
        if not chosen.any():
            break
    return found


def with_sampler_rows(reference: Reference, parameters: Parameters) -> Reference:
    """The same with this version's lobes, for the same random numbers."""
    if reference.sampler is None:
        return reference
    place = reference.uv, reference.lod, reference.wi, reference.wo
    exact = parameters.with_double_decoder()
    rows = sample_rows(exact, *place, reference.sampler.random, **reference.given_live)
    return replace(reference, sampler=rows)


def sample_rows(
    parameters: Parameters,
    uv: Floats,
    lod: Floats,
    wi: Floats,
    wo: Floats,
    random: Floats,
    live: Floats | None = None,
) -> SamplerRows:
    """The oracle's rows for these random numbers."""
    lobes = lobes_at(parameters, uv, lod, wo, live)
    dtype = parameters.decoder.dtype
    drawn = draw(lobes, np.asarray(random, dtype).T)
    found = pdf(lobes, np.asarray(wi, dtype).T), drawn.T, pdf(lobes, drawn)
    return SamplerRows(random, *(np.asarray(each, np.float32) for each in found))


def lobes_at(
    parameters: Parameters,
    uv: FloatArray,
    lod: FloatArray,
    wo: FloatArray,
    live: FloatArray | None = None,
) -> Lobes:
    """The mixture at each uv [N, 2], lod [N] and wo [N, 3], in the decoder's precision."""
    dtype = parameters.decoder.dtype
    latents = latents_at_lod(parameters, np.asarray(uv, dtype).T, np.asarray(lod, dtype), live)
    return lobes_of(parameters, look_at(parameters, latents, np.asarray(wo, dtype).T))


def density_errors(found: Floats, wanted: Floats, bounds: Bounds) -> NDArray[np.float64]:
    """Errors relative to the density, or to bounds.floor if the density is below."""
    exact = wanted.astype(np.float64)
    difference = np.abs(found - exact) / np.maximum(exact, bounds.floor)
    return np.where(np.isfinite(found), difference, np.inf)


def log_mae(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Mean absolute difference of log(1 + response)."""
    first, second = (np.maximum(np.asarray(each, np.float64), 0) for each in (first, second))
    return float(np.abs(np.log1p(first) - np.log1p(second)).mean())


def with_textures(reference: Reference, textures: Textures) -> Reference:
    """The same with the values of textures at its points."""
    columns: dict[str, Any] = {**texture_columns(reference, textures)}
    return replace(reference, **columns)


def texture_columns(points: Points, textures: Textures) -> dict[str, Floats]:
    """Trilinear values of textures at points, by column."""
    proxies, emission, opacity = textures
    found: dict[str, NDArray[Any]] = {}
    if proxies is not None:
        values = proxies.at(points.uv, points.lod)
        found["albedo"] = values.albedo(points.wo[:, 2])
        found |= {name: getattr(values, name) for name in ("diffuse", "normal", "roughness")}
    if emission is not None:
        levels = [each[..., :3].astype(np.float64) for each in emission]
        found["emission"] = trilinear(levels, points.uv, points.lod)
    if opacity is not None:
        levels = [each[..., 0].astype(np.float64) / 255 for each in opacity]
        found["opacity"] = trilinear(levels, points.uv, points.lod)
    return {name: values.astype(np.float32) for name, values in found.items()}


def encode_reference(reference: Reference) -> bytes:
    """A column for each name. Every number is a single float, with the decimals to restore it."""
    columns = []
    sampler = reference.sampler
    for owner, name in (
        *((reference, name) for name in (*_COLUMNS, LIVE_COLUMN)),
        *((sampler, name) for name in SAMPLER_COLUMNS if sampler),
    ):
        values = getattr(owner, name)
        if values is not None:
            # a call for each row takes four times as long
            text, between = json.dumps(_decimals(name, values)), "], [" if values.ndim > 1 else ", "
            rows = text[1:-1].replace(between, between.replace(" ", "\n  "))
            columns.append(f' "{name}": [\n  {rows}\n ]')
    return ("{\n" + ",\n".join([f' "count": {len(reference)}', *columns]) + "\n}\n").encode()


def _decimals(name: str, values: Floats) -> Any:
    """The numbers of a column. uv has all digits, which readers in double precision need on far
    tiles. Other columns have the shortest decimals of single floats, which are half as long."""
    singles = np.asarray(values, np.float32)
    if name == "uv":
        return singles.tolist()
    if name in TEXTURE_COLUMNS:
        singles = singles.round(_DECIMALS)
    return np.array([float(str(each)) for each in singles.ravel()]).reshape(singles.shape).tolist()


def parse_reference(data: bytes, count: int, file: str, live_inputs: int = 0) -> Reference:
    fields = parse_json(data, file)
    fields.whole("count", count, count)
    columns = {
        name: _column(fields, name, count, shape)
        for name, shape in _COLUMNS.items()
        if name in fields or not (name == "teacher" or name in TEXTURE_COLUMNS)
    }
    if live_inputs:
        live = _column(fields, LIVE_COLUMN, count, (live_inputs,))
        fields.require(bool(((live >= 0) & (live <= 1)).all()), LIVE_COLUMN, "use 0 to 1")
        columns[LIVE_COLUMN] = live
    sampler = None
    if "drawn" in fields:
        sampler = SamplerRows(
            **{name: _column(fields, name, count, shape) for name, shape in SAMPLER_COLUMNS.items()}
        )
    for name in ("wi", "wo"):
        lengths = np.linalg.norm(columns[name].astype(np.float64), axis=1)
        is_unit = bool((np.abs(lengths - 1) < 1e-3).all())
        fields.require(is_unit, name, "directions must have length 1")
    return Reference(**columns, sampler=sampler)


def _column(fields: Fields, name: str, count: int, shape: tuple[int, ...]) -> Floats:
    values = fields.numbers(name, count, *shape)
    fields.require(bool((np.abs(values) < LARGEST_SINGLE).all()), name, "it must fit single floats")
    return np.asarray(values, np.float32)
