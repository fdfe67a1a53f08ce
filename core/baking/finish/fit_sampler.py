"""Fits the head of the sampler to the trained decoder, at the end of a bake.

The loss of a surface is the relative variance of an estimate with the sampler's directions, blended
with the cross-entropy of its density and the response, which is smoother while the density is still
far off. Both are estimated on directions that are drawn once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.finish.sampler_examples import (
    SEED,
    Effort,
    Examples,
    draw_examples,
    join,
)
from verdigris.core.base.process.profile import profiled
from verdigris.core.network.light.sampler import (
    Halves,
    ggx_density,
    head_views,
    mixture,
    run_head,
    tilts_of,
    turn_by,
)
from verdigris.core.network.spec import (
    HEAD_SLOPE,
    HEAD_WIDTH,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    TILT_SHARE,
    NetworkSpec,
)
from verdigris.core.training.optimiser import DECODER_BETA_2, adam_change, adam_rate

if TYPE_CHECKING:
    from verdigris.core.baking.finish.sampler_examples import Responds
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.base.device import Device
    from verdigris.core.network.parameters import Parameters

    # Weights and biases of the hidden and of the last layer.
    Views = Sequence[FloatArray]

# Rates of the first and the second round.
_BATCH, _RATE, _SECOND_RATE = 64, 0.03, 0.02
# The first round has this part of the surfaces (a half), and of the steps (a third).
_FIRST_SURFACES, _FIRST_STEPS = 2, 3
# Weight of the variance in the loss; the rest is cross-entropy.
_VARIANCE = 0.9
# Limits in a step: of a direction's weight, of a surface's slopes, and of those of its tilts, which
# are small.
MOST_RATIO, MOST_SLOPE, MOST_TILTING = 50.0, 5.0, 20.0
# Rare surfaces, such as those at edges of masks, decide the noise of a picture, so a fit gains from
# many. Drafts, and bakes on a CPU, fit fewer: their pictures need some percent more samples.
LARGE, SMALL = Effort(4096, 64, 540), Effort(960, 64, 360)
# The effort for a material with few texels. Its surfaces are alike, and its highlights are as
# narrow as in the document: widths must be exact, which takes steps.
FEW_TEXELS, _OF_FEW_TEXELS = 16 * 16, Effort(1920, 64, 900)
# Training samples of a bake with a large fit, on a GPU: those of `standard` and `final`, also for
# materials without detail, which train a sixth as long.
_MANY, MANY_OF_FEW_TEXELS = 5e8, 1.5e8
# Training samples of a long bake: `final`.
LONG = 1.2e9


def effort_on(device: Device, samples: float = LONG, texels: float = math.inf) -> Effort:
    """The effort for a bake with this number of training samples and texels. Bakes on a CPU are
    short."""
    if device.is_software:
        return SMALL
    if texels <= FEW_TEXELS:
        return _OF_FEW_TEXELS if samples >= MANY_OF_FEW_TEXELS else SMALL
    return LARGE if samples >= _MANY else SMALL


@profiled("fit sampler")
def fit_sampler(
    spec: NetworkSpec,
    materials: Callable[[], Iterable[tuple[Parameters, Responds]]],
    effort: Effort,
) -> FloatArray:
    """The head of materials that share a decoder. The first round finds highlights. The second
    draws directions from the lobes of the first, so that widths become exact."""
    surfaces, steps = effort.surfaces // _FIRST_SURFACES, effort.steps // _FIRST_STEPS
    first = replace(effort, surfaces=surfaces, steps=steps)
    examples = join([draw_examples(*each, first) for each in materials()])
    head = fit_head(spec, examples, steps)
    examples = join([draw_examples(*each, effort, head) for each in materials()])
    return fit_head(spec, examples, effort.steps - steps, head)


# a number may be too small for a half
@np.errstate(under="ignore")
def fit_head(
    spec: NetworkSpec, examples: Examples, steps: int, start: FloatArray | None = None
) -> FloatArray:
    """The head's numbers as a bundle stores them: half floats. The fit continues from `start`."""
    head = _first_guess(spec, np.random.default_rng(SEED)) if start is None else start.copy()

    def slopes(views: Views, inputs: FloatArray, chosen: slice) -> tuple[FloatArray, ...]:
        return _slopes(spec, views, inputs, examples.part(chosen))

    # a constant channel must not be magnified
    descent = Descent(steps, _BATCH, _RATE if start is None else _SECOND_RATE, least_deviation=1e-3)
    descent.run(head, partial(head_views, spec), examples.inputs, slopes, start is not None)
    return head.astype(np.float16).astype(np.float32)


@dataclass(frozen=True)
class Descent:
    """Fits the two layers of a head by Adam, with a rate that falls along a cosine."""

    steps: int
    batch: int
    """Examples of a step."""
    rate: float
    """The first rate."""
    least_deviation: float
    """Is added to the deviation of each input, by which inputs are divided."""

    def run(
        self,
        numbers: FloatArray,
        views_of: Callable[[FloatArray], Views],
        inputs: FloatArray,
        slopes_of: Callable[[Views, FloatArray, slice], tuple[FloatArray, ...]],
        is_fitted: bool = False,
    ) -> None:
        """Fits the numbers in place. `views_of` gives the weights and biases of both layers, and
        `slopes_of` their gradients on a part of the inputs. `is_fitted`: the numbers are for these
        inputs, and not a first guess for inputs with deviation 1."""
        mean = inputs.mean(1)
        scale = 1 / (inputs.std(1) + self.least_deviation)
        views = views_of(numbers)
        weights, bias = views[:2]
        if is_fitted:
            bias += weights @ mean
            weights /= scale
        normal = (inputs - mean[:, None]) * scale[:, None]
        first, second, slope = (np.zeros_like(numbers) for _ in range(3))
        slopes = views_of(slope)
        count = inputs.shape[1]
        batches = max(1, count // self.batch)
        bounds = np.linspace(0, count, batches + 1).astype(int)
        for step in range(self.steps):
            chosen = slice(*bounds[step % batches : step % batches + 2])
            slope[:] = 0
            for view, value in zip(
                slopes, slopes_of(views, normal[:, chosen], chosen), strict=True
            ):
                view[:] = value
            rate = self.rate * 0.5 * (1 + math.cos(math.pi * step / self.steps))
            change = adam_rate(rate, step, DECODER_BETA_2)
            adam_change(first, second, slope, change, DECODER_BETA_2)
            numbers -= slope
        weights *= scale
        bias -= weights @ mean


def slopes_of_layers(
    views: Views, inputs: FloatArray, hidden: FloatArray, bent: FloatArray, by_raw: FloatArray
) -> tuple[FloatArray, ...]:
    """Gradients by the weights and biases of both layers, from those by the last outputs."""
    by_hidden = (views[2].T @ by_raw) * np.where(hidden > 0, 1, HEAD_SLOPE)
    return by_hidden @ inputs.T, by_hidden.sum(1), by_raw @ bent.T, by_raw.sum(1)


def _first_guess(spec: NetworkSpec, random: np.random.Generator) -> FloatArray:
    head = np.zeros(spec.head_layers[-1].end, np.float32)
    weights, _, last, bias = head_views(spec, head)
    weights[:] = random.standard_normal(weights.shape) / np.sqrt(spec.head_inputs)
    last[:] = 0.1 * random.standard_normal(last.shape) / np.sqrt(HEAD_WIDTH)
    # a narrow lobe with a random tilt would miss every highlight
    last[spec.untilted_outputs :] = 0
    bias[: 2 * spec.frame_count] = np.log(0.2)
    # most materials need little of the uniform hemisphere
    bias[-1] = -1
    return head


def _slopes(
    spec: NetworkSpec, views: Views, inputs: FloatArray, examples: Examples
) -> tuple[FloatArray, ...]:
    """Gradients of the mean loss by the weights and biases of both layers."""
    hidden, bent, raw = run_head(views, inputs)
    most = np.full((len(raw), 1), MOST_SLOPE)
    most[spec.untilted_outputs :] = MOST_TILTING
    by_raw = np.clip(_slope_by_raw(spec, raw, examples), -most, most) / raw.shape[1]
    return slopes_of_layers(views, inputs, hidden, bent, by_raw)


def _slope_by_raw(spec: NetworkSpec, raw: FloatArray, examples: Examples) -> FloatArray:
    # All frames go through numpy together: calls take the time, not the amount of numbers.
    widths, share = mixture(spec, raw, examples.stretch)
    widths_by_axis = np.moveaxis(widths, 1, 0)
    squares = widths_by_axis * widths_by_axis
    tilts = np.moveaxis(tilts_of(spec, raw, examples.towards), 1, 0)
    turns = turn_by(tilts)
    lobes = examples.halves(turns, widths_by_axis)
    count = spec.frame_count
    ggx, ggx_share = ggx_density(lobes, squares), share[:count]
    others = [examples.cosine / np.float32(np.pi), (examples.cosine > 0) / np.float32(2 * np.pi)]
    density = (ggx_share * ggx).sum(1) + share[-2] * others[0] + share[-1] * others[1] + 1e-12
    ratio = np.minimum(examples.response / density, MOST_RATIO)
    by_density = -examples.mass * (1 - _VARIANCE + _VARIANCE * ratio) / density
    by_ggx = by_density[:, None] * ggx
    by_share = np.stack([*by_ggx.sum(0), *((by_density * each).sum(0) for each in others)])
    # back through the least weight and the softmax
    free = 1 - LEAST_LOBE_WEIGHT * len(share)
    soft = (share - LEAST_LOBE_WEIGHT) / free
    by_soft = free * by_share
    slope = np.empty_like(raw)
    slope[2 * count : spec.untilted_outputs] = soft * (by_soft - (by_soft * soft).sum(0))
    by_log = ggx_share * by_ggx
    is_free = (widths > LEAST_LOBE_WIDTH) & (widths < MOST_LOBE_WIDTH)
    for axis, part in enumerate(_slopes_of_logarithm(lobes, squares)):
        slope[axis : 2 * count : 2] = (by_log * part).sum(0) * is_free[:, axis]
    turning = [(by_log * part).sum(0) for part in _slopes_of_turns(lobes, squares)]
    by_tilt = np.moveaxis(_slopes_of_tilt(tilts, turns, turning), 0, 1)
    slope[spec.untilted_outputs : spec.tilted_outputs] = TILT_SHARE * by_tilt.reshape(2 * count, -1)
    slope[spec.tilted_outputs :] = (by_tilt * examples.towards).sum(1)
    return slope


def _slopes_of_logarithm(lobe: Halves, squares: FloatArray) -> list[FloatArray]:
    """Derivatives of log(ggx_density) by the logarithm of each width, without that of the view's
    least cosine."""
    parts = [lobe.half[axis] / squares[axis] for axis in range(2)]
    spread = parts[0] + parts[1] + lobe.half[2]
    seen = [squares[axis] * lobe.seen[axis] for axis in range(2)]
    root = np.sqrt(seen[0] + seen[1] + lobe.seen[2])
    shadow = root * (np.sqrt(lobe.seen[2]) + root)
    return [4 * parts[axis] / spread - 1 - seen[axis] / shadow for axis in range(2)]


def _slopes_of_turns(lobe: Halves, squares: FloatArray) -> list[FloatArray]:
    """Derivatives of log(ggx_density) where the frame's normal turns to its tangent or bitangent,
    and its tangent to its bitangent. The limit of the view at the horizon is left out."""
    x, y = squares
    spread = lobe.half[0] / x + lobe.half[1] / y + lobe.half[2]
    view = lobe.view
    root = np.sqrt(x * lobe.seen[0] + y * lobe.seen[1] + lobe.seen[2])
    shadow = view[2] + root
    to_tangents = [
        -4 * lobe.products[axis] * (1 - 1 / squares[axis]) / spread
        - view[axis] * (1 + view[2] * (1 - squares[axis]) / root) / shadow
        for axis in range(2)
    ]
    around = -4 * lobe.products[2] * (1 / x - 1 / y) / spread
    return [*to_tangents, around - view[0] * view[1] * (x - y) / (root * shadow)]


def _slopes_of_tilt(
    tilt: FloatArray, turn: FloatArray, turning: Sequence[FloatArray]
) -> FloatArray:
    """Slopes by the two tangents of turn_by(), from slopes by the turns of the tilted frame."""
    tangent, bitangent, normal = turn
    length = np.sqrt(1 + (tilt * tilt).sum(0))
    to_tangent, to_bitangent, around = turning
    # the part along the normal turns nothing
    whole = to_bitangent - around * normal[0] / np.sqrt(1 - normal[0] ** 2)
    found = (tangent[:2] * to_tangent + bitangent[:2] * whole) / length
    return np.asarray(found * (np.abs(tilt) < MOST_TILT))
