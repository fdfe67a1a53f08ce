"""Directions for quadrature: visible normals of GGX lobes in the learned frames, and cosines.

A response has its highlights where the decoder's frames have the half vector near their normal, so
that few samples suffice. Visible normals: Heitz 2018; spherical caps: Dupuy and Benyoub 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import Floats
from verdigris.core.network.directions import build_frame, into_frame, normalise, stretch_factors
from verdigris.core.network.light.sampler import above_horizon
from verdigris.core.network.numpy_mlp import latents_at_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import AXIS_ROWS, FRAME_ROWS

# Widths of the lobes before the frame's stretch. Each frame has one of each.
ALPHAS = (0.03, 0.1, 0.3, 1.0)
# Shares of the cosine lobe among all samples: before shares are fitted, and the least after that.
_COSINE_SHARE, _LEAST_COSINE_SHARE = 0.4, 0.1
# Rounds of expectation maximisation.
_ROUNDS = 12
LEAST_ALPHA, LARGEST_ALPHA = 1e-3, 2.0
# Additive recurrence of the plastic number: points that fill the square evenly.
PLASTIC = (0.7548776662466927, 0.5698402909980532)
# Points between the first ones of two lobes.
APART = 1009
LEAST_DENSITY = 1e-9


@dataclass(frozen=True)
class LearnedFrames:
    """The frames of N places."""

    axes: tuple[Floats, ...]
    """Axes of each frame, [3 axes, 3 components, N]."""
    narrowness: tuple[Floats, ...]
    """Factors [2, N] of each frame, by which its lobes are narrower along both axes."""

    def repeated(self, count: int) -> LearnedFrames:
        """The frames with each place repeated in a row."""
        return LearnedFrames(
            tuple(np.repeat(each, count, axis=-1) for each in self.axes),
            tuple(np.repeat(each, count, axis=-1) for each in self.narrowness),
        )

    def part(self, places: slice) -> LearnedFrames:
        return LearnedFrames(
            tuple(each[..., places] for each in self.axes),
            tuple(each[..., places] for each in self.narrowness),
        )


def learned_frames(parameters: Parameters, uv: Floats, lod: Floats) -> LearnedFrames:
    """The decoder's frames at these places [N, 2]."""
    raw = parameters.frames() @ latents_at_lod(parameters, uv.T, lod)
    rows = np.split(raw, parameters.spec.frame_count)
    return LearnedFrames(
        tuple(build_frame(each[:AXIS_ROWS]) for each in rows),
        tuple(stretch_factors(each[AXIS_ROWS:FRAME_ROWS])[:2] for each in rows),
    )


def equal_shares(frame_count: int) -> Floats:
    """The shares of all lobes, frame by frame, and of the cosine."""
    lobes = frame_count * len(ALPHAS)
    return np.array([*[(1 - _COSINE_SHARE) / lobes] * lobes, _COSINE_SHARE], np.float32)


def draw_lights(
    frames: LearnedFrames, wo: Floats, counts: Sequence[int], shift: Floats
) -> tuple[Floats, Floats]:
    """Directions [3, N, S] for each of N views [3, N], with `counts` of each lobe, and their
    density [N, S]. They are drawn from points that are shifted by `shift` [2, N]."""
    chosen = [
        (lobe, count, _points(count, shift, number))
        for number, (lobe, count) in enumerate(zip(_lobes(frames, wo), counts, strict=False))
        if count
    ]
    parts = [lobe.draw(points) for lobe, _, points in chosen]
    u, v = _points(counts[-1], shift, len(counts) - 1)
    radius, turn = np.sqrt(u), 2 * np.pi * v
    cosines = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.sqrt(1 - u)])
    wi = np.concatenate([*parts, cosines.astype(np.float32)], axis=-1)
    density = counts[-1] * np.maximum(wi[2], 0) / np.pi
    for lobe, count, _ in chosen:
        density = density + count * lobe.density(wi)
    return wi, np.maximum(density / wi.shape[-1], LEAST_DENSITY).astype(np.float32)


def fit_shares(frames: LearnedFrames, wo: Floats, wi: Floats, light: Floats) -> Floats:
    """Shares in proportion to the light that each lobe explains, by expectation maximisation on
    samples. Their `light` [N, S] is the response divided by the density that they were drawn with.
    """
    lobes = _lobes(frames, wo)
    densities = np.stack([*(lobe.density(wi) for lobe in lobes), np.maximum(wi[2], 0) / np.pi])
    shares = equal_shares(len(frames.axes))
    # every place counts the same
    weight = light / np.maximum(light.sum(1, keepdims=True), LEAST_DENSITY)
    for _ in range(_ROUNDS):
        parts = shares[:, None, None] * densities
        mixed = weight / np.maximum(parts.sum(0), LEAST_DENSITY)
        shares = np.einsum("kns,ns->k", parts, mixed)
        shares /= max(float(shares.sum()), LEAST_DENSITY)
    shares[-1] += _LEAST_COSINE_SHARE
    return np.asarray(shares / shares.sum(), np.float32)


def light_counts(shares: Floats, count: int) -> tuple[int, ...]:
    """Numbers of lights of each lobe and of the cosine: about `count` in all, and at least one of
    the cosine."""
    counts = np.rint(shares * count).astype(int)
    counts[-1] = max(1, counts[-1])
    return tuple(int(each) for each in counts)


def _lobes(frames: LearnedFrames, wo: Floats) -> list[_Lobe]:
    return [
        _Lobe(axes, np.clip(alpha / narrow, LEAST_ALPHA, LARGEST_ALPHA), wo)
        for axes, narrow in zip(frames.axes, frames.narrowness, strict=True)
        for alpha in ALPHAS
    ]


class _Lobe:
    """Reflection of views by the visible normals of a GGX lobe."""

    def __init__(self, axes: Floats, alpha: Floats, wo: Floats) -> None:
        self.axes = axes
        self.alpha = alpha[:, :, None]
        # a view behind the tilted surface still needs lights
        self.view = above_horizon(into_frame(axes, wo), alpha)[:, :, None]

    # network.sampler has the same for one lobe of each surface. Samples come last here, which takes
    # half the time for many of each place.
    def draw(self, points: Floats) -> Floats:
        """Directions [3, N, S] of points [2, N, S] of the unit square."""
        u, v = points
        scaled = self._scaled(self.view)
        height = (1 - v) * (1 + scaled[2]) - scaled[2]
        radius, turn = np.sqrt(np.maximum(1 - height * height, 0)), 2 * np.pi * u
        cap = np.stack([radius * np.cos(turn), radius * np.sin(turn), height]) + scaled
        half = normalise(np.stack([*(cap[:2] * self.alpha), cap[2]]))
        reflected = 2 * half * (half * self.view).sum(0) - self.view
        return np.asarray(np.einsum("aiN,aNS->iNS", self.axes, reflected), np.float32)

    def density(self, wi: Floats) -> Floats:
        light = np.einsum("aiN,iNS->aNS", self.axes, wi)
        half = normalise(light + self.view)
        is_seen = (half[2] > 0) & ((light * half).sum(0) > 0)
        wide = ((half[:2] / self.alpha) ** 2).sum(0) + half[2] ** 2
        normals = 1 / (np.pi * self.alpha[0] * self.alpha[1] * wide * wide)
        length = np.sqrt(((self.alpha * self.view[:2]) ** 2).sum(0) + self.view[2] ** 2)
        return np.asarray(is_seen * normals / (2 * (self.view[2] + length)), np.float32)

    def _scaled(self, view: Floats) -> Floats:
        return np.asarray(normalise(np.stack([*(view[:2] * self.alpha), view[2]])), np.float32)


def _points(count: int, shift: Floats, lobe: int) -> Floats:
    """[2, N, count] in the unit square; another part of the sequence for each lobe."""
    steps = np.outer(PLASTIC, np.arange(count) + APART * lobe)[:, None]
    return np.asarray((steps + shift[:, :, None]) % 1, np.float32)
