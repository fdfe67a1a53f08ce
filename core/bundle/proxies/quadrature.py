"""Integrals of a material's response at places, by quadrature: albedo and the shape of its lobe.

Pairs of directions, each evaluated both ways, give the diffuse part and the error of reciprocity.
Lights drawn for many views give the albedo of each, and the highlight's place and width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from verdigris.core.base.array_types import Doubles, Floats
from verdigris.core.base.colour import LUMINANCE
from verdigris.core.bundle.proxies.lobes import (
    LearnedFrames,
    draw_lights,
    equal_shares,
    fit_shares,
    light_counts,
)
from verdigris.core.bundle.proxies.proxy_texture import VIEW_COSINES

# The response [N, 3] of N places [N, 2] with directions wi, wo [N, 3].
Respond = Callable[[Floats, Floats, Floats], Floats]

# The first view that shows the highlight's own width.
_STEEP = int(np.searchsorted(VIEW_COSINES, 0.43))
# Polar angles of both directions and the turn between them, in degrees; each pair is turned to
# eight azimuths. Mirror directions are far, so that highlights do not count as diffuse.
_PAIRS = ((60, 60, 60), (20, 60, 90), (45, 45, 0), (65, 30, 20))
_TURNS = 8
# Number of the darkest pairs, whose mean is the diffuse part.
_DARKEST = 8
_LEAST_COSINE = 0.1
_GOLDEN = (5**0.5 - 1) / 2
# Evaluations at once: buffers of some megabytes.
_AT_ONCE = 1 << 17
# Number of lights of a view that shares are fitted to.
_PILOT = 128
_SMALLEST = 1e-7


@dataclass(frozen=True)
class Integrals:
    """Integrals at N places."""

    albedo: Doubles
    """[N, views, 3]"""
    diffuse: Doubles
    """Albedo of the largest Lambertian part [N, 3]."""
    normal: Doubles
    """[N, 3]"""
    spread: Doubles
    """Mean squared sine between the highlight's half vectors and their mean [N]; 1 without any."""
    reciprocity: Doubles
    """Relative difference between both ways of each pair [N, pairs]."""


def evaluations_of(lights: int) -> int:
    """Evaluations of a place with about this number of lights for each view."""
    return len(VIEW_COSINES) * lights + 2 * len(_PAIRS) * _TURNS


def lights_of(evaluations: int) -> int:
    """Lights for each view, for this number of evaluations of a place."""
    return (evaluations - evaluations_of(0)) // len(VIEW_COSINES)


@dataclass(frozen=True)
class LightTask:
    """N views of places, for which light is summed."""

    frames: LearnedFrames
    """Frames of each view's place."""
    uv: Floats
    """[N, 2]"""
    wo: Floats
    """[3, N]"""
    shift: Floats
    """Shift of the points that the lights are drawn from, [2, N]."""
    lambert: Floats
    """The diffuse part's normal times its luminance divided by pi, [3, N]."""
    counts: tuple[int, ...]
    """Number of lights of each lobe, frame by frame, and of the cosine."""

    def part(self, views: slice) -> LightTask:
        return replace(
            self,
            frames=self.frames.part(views),
            uv=self.uv[views],
            **{name: getattr(self, name)[:, views] for name in ("wo", "shift", "lambert")},
        )


@dataclass(frozen=True)
class LightSums:
    """Means over the lights of each of N views."""

    albedo: Doubles
    """[N, 3]"""
    half: Doubles
    """Half vectors, weighted by the light that the diffuse part leaves [N, 3]."""
    square: Doubles
    """Outer products of the half vectors, weighted alike [N, 3, 3]: the trace is the weight."""


SumLights = Callable[[Respond, LightTask], LightSums]


def sum_lights(respond: Respond, task: LightTask) -> LightSums:
    """Sums over lights in numpy. light_sums.py has others."""

    def draw(part: LightTask) -> tuple[Floats, Floats]:
        return draw_lights(part.frames, part.wo, part.counts, part.shift)

    return sum_drawn(respond, task, draw)


def sum_drawn(
    respond: Respond, task: LightTask, draw: Callable[[LightTask], tuple[Floats, Floats]]
) -> LightSums:
    """Sums over the lights [3, N, S] that `draw` gives for N views, with their densities [N, S]."""
    step = max(1, _AT_ONCE // sum(task.counts))
    parts = []
    for start in range(0, len(task.uv), step):
        part = task.part(slice(start, start + step))
        wi, density = draw(part)
        value = evaluate(respond, part.uv, wi, part.wo)
        light = np.einsum("c,cns->ns", LUMINANCE, value)
        lambert = np.maximum(np.einsum("in,ins->ns", part.lambert, wi), 0)
        weight = np.maximum(light - lambert, 0) / density / density.shape[1]
        half = wi + part.wo[:, :, None]
        half /= np.maximum(np.sqrt((half * half).sum(0)), _SMALLEST)
        parts.append(
            LightSums(
                (value / density).mean(-1, dtype=np.float64).T,
                np.einsum("ns,ins->ni", weight, half),
                np.einsum("ns,ins,jns->nij", weight, half, half),
            )
        )
    return _joined(parts)


def integrate(
    respond: Respond,
    frames: LearnedFrames,
    uv: Floats,
    lights: int,
    random: np.random.Generator,
    shares: Floats,
    sum_over: SumLights = sum_lights,
) -> Integrals:
    """The integrals, with about `lights` lights for each view of each place."""
    normal, diffuse, reciprocity = _joined_tuples(
        [_diffuse_part(respond, uv[part]) for part in _slices(len(uv), 2 * len(_PAIRS) * _TURNS)]
    )
    count, views = len(uv), len(VIEW_COSINES)
    # views of similar cosines are turned evenly, for brushed materials
    turn = 2 * np.pi * (random.random((count, 1)) + _GOLDEN * np.arange(views))
    task = LightTask(
        frames.repeated(views),
        np.repeat(uv, views, axis=0),
        polar(VIEW_COSINES, turn).reshape(3, -1),
        random.random((2, count * views), np.float32),
        np.repeat((diffuse @ LUMINANCE / np.pi * normal.T), views, axis=1).astype(np.float32),
        light_counts(shares, lights),
    )
    sums = sum_over(respond, task)
    albedo = sums.albedo.reshape(count, views, 3)

    # steep views alone, which see the highlight near its normals' own distribution
    half, square = (
        each.reshape(count, views, *each.shape[1:])[:, _STEEP:].mean(1)
        for each in (sums.half, sums.square)
    )
    total = np.trace(square, axis1=1, axis2=2)
    middle = _unit(half)
    along = np.einsum("ni,nij,nj->n", middle, square, middle)
    spread = np.where(total > _SMALLEST, 1 - along / np.maximum(total, _SMALLEST), 1)
    mixed = (diffuse @ LUMINANCE)[:, None] * normal + total[:, None] * middle
    mean = np.where(mixed.any(1, keepdims=True), _unit(mixed), (0.0, 0.0, 1.0))
    return Integrals(albedo, diffuse, mean, spread, reciprocity)


def _slices(count: int, evaluations: int) -> list[slice]:
    step = max(1, _AT_ONCE // evaluations)
    return [slice(start, start + step) for start in range(0, count, step)]


def _joined(parts: list[LightSums]) -> LightSums:
    return LightSums(
        *(
            np.concatenate([getattr(each, field.name) for each in parts])
            for field in fields(LightSums)
        )
    )


def _joined_tuples(parts: list[tuple[Doubles, Doubles, Doubles]]) -> list[Doubles]:
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def find_shares(
    respond: Respond, frames: LearnedFrames, uv: Floats, random: np.random.Generator
) -> Floats:
    """The shares of the lobes that suit this material, from one random view of each place."""
    count = len(uv)
    wo = polar(random.uniform(_LEAST_COSINE, 1, count), 2 * np.pi * random.random(count))
    counts = light_counts(equal_shares(len(frames.axes)), _PILOT)
    wi, density = draw_lights(frames, wo, counts, random.random((2, count), np.float32))
    value = np.einsum("c,cns->ns", LUMINANCE, evaluate(respond, uv, wi, wo))
    return fit_shares(frames, wo, wi, value / density)


def _diffuse_part(respond: Respond, uv: Floats) -> tuple[Doubles, Doubles, Doubles]:
    """Normal [N, 3] and albedo [N, 3] of the largest Lambertian part, and errors of reciprocity.

    A Lambertian response is linear in the direction to the light; a fit finds its normal. Its
    albedo is what every pair has: the mean of the darkest ones.
    """
    first, second = _pair_directions()
    count, pairs = len(uv), first.shape[1]
    wi = np.broadcast_to(np.concatenate([first, second], 1)[:, None], (3, count, 2 * pairs))
    wo = np.broadcast_to(np.concatenate([second, first], 1)[:, None], (3, count, 2 * pairs))
    value = evaluate(respond, uv, wi, wo).astype(np.float64)
    light = np.einsum("c,cns->ns", LUMINANCE, value)
    lights = np.concatenate([first, second], 1).T
    normal = _unit(light @ np.linalg.pinv(lights).T)
    normal = np.where(normal[:, 2:] > 0, normal, (0.0, 0.0, 1.0))
    ways = value[..., :pairs], value[..., pairs:]
    cosines = [np.maximum(normal @ each, _LEAST_COSINE) for each in (first, second)]
    parts = np.pi * np.sqrt(ways[0] * ways[1] / (cosines[0] * cosines[1]))
    order = np.argsort(np.einsum("c,cns->ns", LUMINANCE, parts), axis=1)[:, :_DARKEST]
    diffuse = np.take_along_axis(parts, order[None], axis=2).mean(-1).T
    there = light[:, :pairs] / first[2]
    back = light[:, pairs:] / second[2]
    reciprocity = np.abs(there - back) / np.maximum((there + back) / 2, _SMALLEST)
    return normal, diffuse, reciprocity


def evaluate(respond: Respond, uv: Floats, wi: Floats, wo: Floats) -> Floats:
    """Responses [3, N, S] of lights [3, N, S] and views [3, N] or [3, N, S]."""
    count = wi.shape[2]
    view = wo if wo.ndim == 3 else np.repeat(wo[:, :, None], count, axis=2)
    value = respond(np.repeat(uv, count, axis=0).astype(np.float32), _rows(wi), _rows(view))
    result = np.moveaxis(np.asarray(value, np.float32).reshape(*wi.shape[1:], 3), 2, 0)
    return np.ascontiguousarray(result)


def polar(cosine: Any, turn: Any) -> Floats:
    """Unit vectors [3, ...]."""
    cosine, turn = np.broadcast_arrays(cosine, turn)
    sine = np.sqrt(1 - cosine * cosine)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine]).astype(np.float32)


def _pair_directions() -> tuple[Floats, Floats]:
    """Both directions of every pair, [3, pairs] each."""
    first, second, between = np.radians(np.repeat(_PAIRS, _TURNS, axis=0)).T
    turn = np.tile(2 * np.pi * np.arange(_TURNS) / _TURNS, len(_PAIRS))
    return polar(np.cos(first), turn), polar(np.cos(second), turn + between)


def _unit(vectors: Any) -> Doubles:
    vectors = np.asarray(vectors, np.float64)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, _SMALLEST), np.float64)


def _rows(vectors: Floats) -> Floats:
    return np.ascontiguousarray(vectors.reshape(3, -1).T, np.float32)
