"""Surfaces and directions that the head of the sampler is fitted to, with their responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.network.directions import build_frame, into_frame, normalise
from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.network.light.sampler import (
    Halves,
    Lobes,
    View,
    above_horizon,
    draw,
    lobes_of,
    local_halves,
    look_at,
    pdf,
    turned,
    untilted_lobes,
)
from verdigris.core.network.parameters import with_live
from verdigris.core.network.spec import LEAST_LOBE_WIDTH, MOST_LOBE_WIDTH

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.network.parameters import Parameters

SEED = 20_051
# Shares of surfaces on these mip levels.
LEVELS = {0: 0.6, 2: 0.2, 4: 0.2}
_LEAST_COSINE = 0.05
# Alphas of the mixture that draws directions, beside a cosine lobe and the uniform hemisphere.
_BROAD_WIDTHS = (0.02, 0.06, 0.15, 0.3, 0.6)
# Alphas of lobes around directions that reflect much.
_PEAK_WIDTHS = (0.02, 0.06, 0.02, 0.06)
_UP = np.array([0, 0, 1, 0, 0, 0], np.float32)[:, None]


class Responds(Protocol):
    """A student on a mip level."""

    level: float

    def response(
        self,
        uv: NDArray[Any],
        wi: NDArray[Any],
        wo: NDArray[Any],
        *,
        live: NDArray[Any] | None = None,
    ) -> NDArray[np.floating[Any]]: ...


@dataclass
class Effort:
    """The size of a fit."""

    surfaces: int
    directions: int
    """Directions for each surface."""
    steps: int


@dataclass
class Examples:
    """Surfaces [N], with directions [S, N] and their responses."""

    inputs: FloatArray
    """Inputs of the head, [channels, N]."""
    stretch: FloatArray
    """Stretch of the frames, [frames, 2, N]."""
    towards: FloatArray
    """Tangents to the next frame, [frames, 2, N]."""
    wi: FloatArray
    """Directions in the learned frames, [3, S, frames, N]."""
    wo: FloatArray
    """The view in the learned frames, [3, frames, N]."""
    cosine: FloatArray
    """Cosine of the surface's normal and each direction, [S, N]; 0 below the horizon."""
    mass: FloatArray
    """Share of each direction in the reflected light, [S, N]: response divided by density."""
    response: FloatArray
    """Response divided by the reflected light, [S, N]."""

    def part(self, chosen: slice | NDArray[np.bool_]) -> Examples:
        return Examples(*(getattr(self, each.name)[..., chosen] for each in fields(self)))

    def halves(self, turns: FloatArray, widths: FloatArray) -> Halves:
        """In the frames that are tilted by `turns`, [3, 3, frames, N], of lobes with `widths`,
        [2, frames, N]."""
        return local_halves(turned(turns, self.wi), above_horizon(turned(turns, self.wo), widths))

    @property
    def count(self) -> int:
        return int(self.inputs.shape[1])


@profiled("sampler examples")
def draw_examples(
    parameters: Parameters, student: Responds, effort: Effort, head: FloatArray | None = None
) -> Examples:
    """Examples of one material, from a student with these parameters. With a head, half of the
    directions come from its lobes."""
    random = np.random.default_rng(SEED)
    found = []
    for seen in draw_surfaces(parameters, student, effort.surfaces, _LEAST_COSINE, random):
        view = look_at(parameters, seen.latents, seen.wo)
        lobes = None if head is None else lobes_of(replace(parameters, head=head), view)
        found.append(_Surfaces(seen, view, lobes, student).examples(effort.directions, random))
    return join(found)


class Seen(NamedTuple):
    """Surfaces of one level under views."""

    uv: FloatArray
    """[2, N]"""
    latents: FloatArray
    """With live values, [channels, N]."""
    live: FloatArray
    """[N, inputs]"""
    wo: FloatArray
    """[3, N]"""


def draw_surfaces(
    parameters: Parameters,
    student: Responds,
    count: int,
    least_cosine: float,
    random: np.random.Generator,
) -> Iterator[Seen]:
    """About `count` surfaces in all, in one part for each of LEVELS, on which the student is set
    meanwhile."""
    layout = parameters.layout
    for level, part in LEVELS.items():
        own = max(1, round(part * count))
        uv = random.random((2, own)).astype(np.float32)
        chosen = min(level, layout.levels - 1)
        latents = gather(parameters.latents, *corners(layout, uv, chosen))
        wo = hemisphere(random, own, least_cosine).T.astype(np.float32)
        live = random.random((own, len(parameters.live))).astype(np.float32)
        student.level = float(chosen)
        yield Seen(uv, with_live(parameters, latents, live), live, wo)
    student.level = 0.0


def join(parts: Sequence[Examples]) -> Examples:
    """Examples of several materials or levels as one set, mixed evenly."""
    order = np.random.default_rng(SEED).permutation(sum(each.count for each in parts))
    arrays = ([getattr(each, name.name) for each in parts] for name in fields(Examples))
    mixed = (np.concatenate(each, -1)[..., order] for each in arrays)
    return Examples(*map(np.ascontiguousarray, mixed))


@dataclass
class _Surfaces:
    """Surfaces with the lobes of a head, if there is one."""

    seen: Seen
    view: View
    lobes: Lobes | None
    student: Responds

    def examples(self, directions: int, random: np.random.Generator) -> Examples:
        """Examples with broad directions, and about as many around those that reflect much: a
        highlight may be narrow, and far from the learned frames. With lobes of a head, half of all
        directions come from them: highlights of mirrors are far narrower than their surroundings.
        """
        view = self.view
        own = 0 if self.lobes is None else directions // 2
        count = round((directions - own) / 2 / len(_BROAD_WIDTHS))
        parts = [(lobes, count) for lobes in _broad_lobes(view)]
        wi = np.concatenate([_drawn(lobes, count, random) for lobes, count in parts], 1)
        luminance = self._luminance(wi)
        peaks = _lobes_at_peaks(view, self.seen.wo, wi, luminance / _density(parts, wi), random)
        further = [(peaks, directions - own - wi.shape[1])]
        if self.lobes is not None:
            further.append((self.lobes, own))
        parts += further
        drawn = np.concatenate([_drawn(*each, random) for each in further], 1)
        wi = np.concatenate([wi, drawn], 1)
        luminance = np.concatenate([luminance, self._luminance(drawn)])
        mass = luminance / _density(parts, wi)
        total = np.maximum(mass.sum(0), 1e-12)
        return Examples(
            view.inputs,
            np.stack(view.stretch),
            np.stack(view.towards),
            np.stack([turned(frame, wi) for frame in view.frames], 2),
            np.stack(view.seen, 1),
            np.maximum(wi[2], 0),
            mass / total,
            luminance / (total / directions),
        )

    def _luminance(self, wi: FloatArray) -> FloatArray:
        """Luminance of the responses, [S, N]."""
        count = wi.shape[1]
        response = self.student.response(
            np.tile(self.seen.uv.T, (count, 1)),
            np.ascontiguousarray(wi.reshape(3, -1).T, np.float32),
            np.tile(self.seen.wo.T, (count, 1)),
            live=np.tile(self.seen.live, (count, 1)) if self.seen.live.size else None,
        )
        return np.asarray((response @ LUMINANCE.astype(np.float32)).reshape(count, -1))


def _drawn(lobes: Lobes, count: int, random: np.random.Generator) -> FloatArray:
    """Directions [3, count, N] of a mixture."""
    points = random.random((count, 2, lobes.weights.shape[1])).astype(np.float32)
    return np.asarray(draw(lobes, np.moveaxis(points, 0, 1)), np.float32)


def _density(parts: Sequence[tuple[Lobes, int]], wi: FloatArray) -> FloatArray:
    """Density of all directions, of which each mixture drew its number."""
    whole = sum(count for _, count in parts)
    return np.maximum(sum(count / whole * pdf(lobes, wi) for lobes, count in parts), 1e-9)


def _broad_lobes(view: View) -> list[Lobes]:
    """Mixtures with wide and with narrow lobes in the learned frames."""
    frames, count = len(view.frames), view.inputs.shape[1]
    # a quarter each for the cosine lobe and the uniform hemisphere
    weights = np.full((frames + 2, count), 0.25, np.float32)
    weights[:frames] = 0.5 / frames
    stretch = np.stack(view.stretch)
    limits = LEAST_LOBE_WIDTH, MOST_LOBE_WIDTH
    return [
        untilted_lobes(view, np.clip(alpha / stretch, *limits), weights) for alpha in _BROAD_WIDTHS
    ]


def _lobes_at_peaks(
    view: View, wo: FloatArray, wi: FloatArray, mass: FloatArray, random: np.random.Generator
) -> Lobes:
    """Narrow lobes around directions, which are chosen in proportion to their reflected light."""
    count, ends = wi.shape[2], np.cumsum(mass, 0)
    frames = []
    for index in range(len(_PEAK_WIDTHS)):
        at = (index + random.random(count)) / len(_PEAK_WIDTHS) * ends[-1]
        chosen = np.minimum((ends <= at).sum(0), len(ends) - 1)
        half = normalise(wi[:, chosen, np.arange(count)] + wo)
        # a frame's raw values are relative to the axes
        frames.append(build_frame(np.concatenate([half, np.zeros_like(half)]) - _UP))
    widths = np.array(_PEAK_WIDTHS, np.float32)[:, None, None]
    widths = np.broadcast_to(widths, (len(frames), 2, count))
    weights = np.zeros((len(frames) + 2, count), np.float32)
    weights[:-2] = 1 / len(frames)
    return Lobes(
        view,
        frames,
        [
            above_horizon(into_frame(frame, wo), width)
            for frame, width in zip(frames, widths, strict=True)
        ],
        widths,
        weights,
    )
