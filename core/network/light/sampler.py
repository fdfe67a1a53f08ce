"""The sampler: directions of light drawn nearly in proportion to the response, and their density.

It is a mixture of a GGX lobe near each learned frame, a cosine lobe and the uniform hemisphere. A
small head computes the widths, weights and tilts of the lobes from the latents and the view. The
tilts are for highlights that the decoder moves away from its frames: anywhere, or towards the next
frame, as at the edge between two materials with different normals. A GGX lobe draws visible normals
(Heitz 2018) and reflects the view at them, so its density is exact and integrates to 1 over all
directions. Directions below the horizon carry no light: draw them, and count their light as zero.

Arrays are channel-first. Values of surfaces are [..., N]; directions are [3, N], or [3, S, N] with
several for each surface.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.directions import (
    build_frame,
    dot,
    into_frame,
    logarithms,
    normalise,
    stretch_factors,
)
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import (
    AXIS_ROWS,
    FRAME_ROWS,
    HEAD_SLOPE,
    LEAST_LEAN_COSINE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINES,
    LENGTH_EPSILON,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    TILT_SHARE,
    NetworkSpec,
)


@dataclass
class View:
    """Surfaces seen from a direction, with what the head and the lobes need."""

    frames: list[FloatArray]
    """Each learned frame, [3 axes, 3 components, N]."""
    seen: list[FloatArray]
    """The view direction in each frame, [3, N]."""
    stretch: list[FloatArray]
    """The factors of half vectors in each frame, [2, N]."""
    towards: list[FloatArray]
    """The normal of the next frame in each frame, as tangents, [2, N]."""
    inputs: FloatArray
    """Inputs of the head, [channels, N]."""


@dataclass
class Lobes:
    """A mixture for each surface."""

    view: View
    frames: list[FloatArray]
    """Each learned frame, tilted, [3 axes, 3 components, N]."""
    seen: list[FloatArray]
    """The view direction in the tilted frames, [3, N], above their horizons."""
    widths: FloatArray
    """GGX alpha along tangent and bitangent of each frame, [frames, 2, N]."""
    weights: FloatArray
    """The weights of the GGX lobes, the cosine lobe and the uniform hemisphere, [frames + 2, N]."""


def all_head_views(spec: NetworkSpec, head: FloatArray) -> tuple[FloatArray, ...]:
    """Views of the flat vector of both heads: weights and bias of each layer."""
    return tuple(
        view
        for layer in spec.head_layers
        for view in (
            head[layer.weight_offset : layer.bias_offset].reshape(layer.outputs, -1),
            head[layer.bias_offset : layer.end],
        )
    )


def head_views(spec: NetworkSpec, head: FloatArray) -> tuple[FloatArray, ...]:
    """Views of the sampler's head: its hidden and its last layer."""
    return all_head_views(spec, head)[:4]


def look_at(parameters: Parameters, latents: FloatArray, wo: FloatArray) -> View:
    """Surfaces with these latents [channels, N], seen from wo [3, N]."""
    raw = parameters.frames() @ latents
    frames, seen, stretch = [], [], []
    inputs = [latents]
    for index in range(parameters.spec.frame_count):
        rows = raw[FRAME_ROWS * index : FRAME_ROWS * (index + 1)]
        frame = build_frame(rows[:AXIS_ROWS])
        local = into_frame(frame, wo)
        inputs += [local[2:], logarithms(local[2:])]
        frames.append(frame)
        seen.append(local)
        stretch.append(stretch_factors(rows[AXIS_ROWS:]))
    inputs += [wo[2:], logarithms(wo[2:])]
    towards = [
        _tangents(into_frame(frame, following[2]))
        for frame, following in zip(frames, [*frames[1:], frames[0]], strict=True)
    ]
    return View(frames, seen, stretch, towards, np.concatenate(inputs))


def _tangents(normal: FloatArray) -> FloatArray:
    return np.asarray(normal[:2] / np.maximum(normal[2], LEAST_LEAN_COSINE))


def above_horizon(view: FloatArray, widths: FloatArray) -> FloatArray:
    """A view direction [3, N] in the frame of a lobe with these widths [2, N], raised above the
    horizon: frames can be tilted away from it."""
    least = np.clip(widths.max(0), *LEAST_VIEW_COSINES)
    return normalise(np.stack([view[0], view[1], np.maximum(view[2], least)]))


def lobes_of(parameters: Parameters, view: View) -> Lobes:
    """The mixture that the head computes."""
    assert parameters.head is not None
    _, _, raw = run_head(head_views(parameters.spec, parameters.head), view.inputs)
    turns = [turn_by(tilt) for tilt in tilts_of(parameters.spec, raw, np.stack(view.towards))]
    frames = [_turned(turn, frame) for turn, frame in zip(turns, view.frames, strict=True)]
    widths, weights = mixture(parameters.spec, raw, np.stack(view.stretch))
    seen = [
        above_horizon(turned(turn, each), width)
        for turn, each, width in zip(turns, view.seen, widths, strict=True)
    ]
    return Lobes(view, frames, seen, widths, weights)


def untilted_lobes(view: View, widths: FloatArray, weights: FloatArray) -> Lobes:
    """A mixture in the learned frames themselves."""
    seen = [above_horizon(*each) for each in zip(view.seen, widths, strict=True)]
    return Lobes(view, view.frames, seen, widths, weights)


def tilts_of(spec: NetworkSpec, raw: FloatArray, towards: FloatArray) -> FloatArray:
    """The normals of tilted frames in the learned frames, as tangents [frames, 2, N]."""
    tilts = raw[spec.untilted_outputs : spec.tilted_outputs].reshape(towards.shape)
    leans = raw[spec.tilted_outputs :][:, None]
    return np.asarray(np.clip(TILT_SHARE * tilts + leans * towards, -MOST_TILT, MOST_TILT))


def turn_by(tilt: FloatArray) -> FloatArray:
    """Tangent, bitangent and normal, [3, 3, ...], of a frame tilted by tangents [2, ...]."""
    normal = normalise(np.stack([*tilt, np.ones_like(tilt[0])]))
    along = -normal[0] * normal
    along[0] += 1
    tangent = normalise(along)
    return np.stack([tangent, np.cross(normal, tangent, axis=0), normal])


def turned(turn: FloatArray, vector: FloatArray) -> FloatArray:
    """Components [3, ..., N] in a tilted frame, from those in the learned frame."""
    x, y, z = vector
    return np.stack([axis[0] * x + axis[1] * y + axis[2] * z for axis in turn])


def _turned(turn: FloatArray, frame: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("abN,biN->aiN", turn, frame))


def run_head(
    views: Sequence[FloatArray], inputs: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The hidden layer of a head before and after its activation, and the outputs."""
    first, first_bias, last, last_bias = views
    hidden = first @ inputs + first_bias[:, None]
    bent = np.maximum(hidden, HEAD_SLOPE * hidden)
    return hidden, bent, last @ bent + last_bias[:, None]


def mixture(
    spec: NetworkSpec, raw: FloatArray, stretch: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Widths and weights from the head's outputs, which are logarithms of widths, and logits."""
    count = spec.frame_count
    logarithm = raw[: 2 * count].reshape(stretch.shape)
    limits = math.log(LEAST_LOBE_WIDTH), math.log(MOST_LOBE_WIDTH)
    widths = np.exp(np.clip(logarithm - np.log(stretch), *limits))
    logits = raw[2 * count : spec.untilted_outputs]
    share = np.exp(logits - logits.max(0))
    share /= share.sum(0)
    least = LEAST_LOBE_WEIGHT
    return widths, least + (1 - least * len(logits)) * share


@dataclass
class Halves:
    """The part of a GGX lobe's density that does not depend on its widths."""

    half: FloatArray
    """The squares of the half vector's components, [3, ..., N]."""
    seen: FloatArray
    """The squares of the view direction's components, [3, N]."""
    products: FloatArray
    """The products of the half vector's x and z, y and z, x and y, [3, ..., N]."""
    view: FloatArray
    """The view direction, [3, N]."""
    is_reflected: FloatArray
    """1 if a visible normal can reflect the view to this direction, else 0, [..., N]."""


def halves(frame: FloatArray, seen: FloatArray, wi: FloatArray) -> Halves:
    """Half vectors of directions [3, ..., N] and the view direction in the frame, above its
    horizon."""
    return local_halves(turned(frame, wi), seen)


def local_halves(local: FloatArray, seen: FloatArray) -> Halves:
    """Half vectors of directions that are given in the frame."""
    view = seen if local.ndim == seen.ndim else seen[:, None]
    total = local + view
    half = total / np.maximum(np.sqrt(dot(total, total)), LENGTH_EPSILON)
    is_reflected = ((half[2] > 0) & (dot(local, half) > 0)).astype(local.dtype)
    products = half[[0, 1, 0]] * half[[2, 2, 1]]
    return Halves(half * half, seen * seen, products, seen, is_reflected)


def ggx_density(found: Halves, squares: FloatArray) -> FloatArray:
    """The density of reflections at visible normals, by solid angle; `squares` of widths are
    [2, N]."""
    x, y = squares
    spread = found.half[0] / x + found.half[1] / y + found.half[2]
    cosine = np.sqrt(found.seen[2])
    root = np.sqrt(x * found.seen[0] + y * found.seen[1] + found.seen[2])
    normals = np.pi * np.sqrt(x * y) * spread * spread
    return np.asarray(found.is_reflected / (normals * 2 * (cosine + root)))


def pdf(lobes: Lobes, wi: FloatArray) -> FloatArray:
    """The density with which wi is drawn, by solid angle. Above the horizon it integrates to 1 less
    the share that is drawn below."""
    result = lobes.weights[-2] * np.maximum(wi[2], 0) / np.pi
    result = result + np.where(wi[2] > 0, lobes.weights[-1] / (2 * np.pi), 0)
    for frame, seen, widths, weight in zip(
        lobes.frames, lobes.seen, lobes.widths, lobes.weights, strict=False
    ):
        result = result + weight * ggx_density(halves(frame, seen, wi), widths**2)
    return np.asarray(result)


def draw(lobes: Lobes, random: FloatArray) -> FloatArray:
    """Directions [3, ..., N] from uniform numbers [2, ..., N]. Directions with z <= 0 have no
    light."""
    first, second = random
    ends = np.cumsum(lobes.weights, 0)
    count = len(ends)
    chosen = sum((first >= end).astype(np.intp) for end in ends[:-1])
    each = np.arange(ends.shape[1])
    weight = lobes.weights[chosen, each]
    rest = (first - (ends[chosen, each] - weight)) / weight
    rest = np.clip(rest, 0, 1 - np.finfo(rest.dtype).epsneg)
    wi = np.stack(_around_z(np.where(chosen == count - 2, np.sqrt(1 - second), second), rest))
    for index, (frame, seen) in enumerate(zip(lobes.frames, lobes.seen, strict=True)):
        drawn = draw_ggx(seen, lobes.widths[index], rest, second)
        wi = np.where(chosen == index, np.einsum("aiN,a...N->i...N", frame, drawn), wi)
    return wi


def _around_z(cosine: FloatArray, turn: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    sine = np.sqrt(np.maximum(1 - cosine * cosine, 0))
    return sine * np.cos(2 * np.pi * turn), sine * np.sin(2 * np.pi * turn), cosine


def draw_ggx(
    seen: FloatArray, widths: FloatArray, turn: FloatArray, height: FloatArray
) -> FloatArray:
    """The view direction reflected at a visible normal, which is drawn from a spherical cap (Dupuy
    and Benyoub 2023). Both are in the frame. `turn` and `height` are [N] or [S, N]."""
    view = normalise(np.stack([widths[0] * seen[0], widths[1] * seen[1], seen[2]]))
    if turn.ndim > 1:
        view, seen = view[:, None], seen[:, None]
    cosine = (1 - height) * (1 + view[2]) - view[2]
    cap = np.stack(_around_z(cosine, turn)) + view
    half = normalise(np.stack([cap[0] * widths[0], cap[1] * widths[1], np.maximum(cap[2], 0)]))
    return np.asarray(2 * dot(half, seen) * half - seen)
