"""Fits glTF textures to the response of a teacher at the pixels that cameras see.

The fit goes from coarse to fine: one texel for the whole material, then more, up to a quarter, a
half and the whole of the size. Each size starts from the one before. Roughness and metalness, which
one pixel under one light cannot tell apart, then start near their values. At a coarse size, the fit
also finds the layers of glTF's extensions (coat, anisotropy, sheen) that the material needs. The
last steps of each finer size also compare displayed pictures under the light: where glTF cannot
show the response, they find the closest look.

Narrow highlights reach a texel by chance, and each texel then follows its own highlights. So a
seventh of the pixels checks the textures against one value for all texels, and the better of the
two is kept.

The loss is a Tweedie deviance of power 4/3. It weighs differences as a cube root does, and its
minimum is the mean. With absolute differences, one lobe in place of several loses a fifth of the
light. Responses count as at most 20 times the fitted value, because the peaks of a mirror would
take all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Source
from verdigris.core.ladder.fitting.maps import emission_grid
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import (
    HARDEST,
    Grid,
    fill_holes,
    layout_uniform,
    quantise,
    rate_at,
    softness_at,
)
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import Responses, batches, draw_responses
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.core.training.optimiser import BETA_1, BETA_2, EPSILON, adam_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.views.scene import FitViews

_SHADER, _PIXEL_SHADER = Source("ladder/fitting/pbr_fit"), Source("ladder/fitting/fit_pixels")
# Texels a side of the coarsest sizes, and the steps of each; then the parts of the full size, whose
# steps are a share of the full size's.
_COARSE, _PARTS, _SHARE = ((1, 80), (16, 80)), (4, 2), 0.4
_TRIAL_STEPS = 60
# A layer is kept if it lowers the loss by at least this part.
_WORTH = 0.03
_FIRST_RATE, _PEAK_RATE, _LEAST_RATE = 0.04, 0.02, 0.05
# Adam moves a texel as far for one noisy sample as for many. With fewer samples a texel and step
# than this, the rate falls, so that a texture keeps the values of the coarser one.
_STEADY_SAMPLES = 4.0
_COARSE_BATCH = 4096
# Fractional bits of gradients in fixed point, for samples that share no texels.
_UNIT_BITS = 16
# The part of the last steps that also compare pictures under the light, and the weight of the loss
# of a pixel relative to that of a response.
_COMPARED, WEIGHT_OF_PIXELS = 0.6, 30.0
# One of so many pixels checks the fit.
_CHECKED = 7


@dataclass(frozen=True)
class FitSettings:
    """The work of a fit."""

    steps: int = 500
    """Steps at the full size."""
    batch: int = 32_768
    pixels: int = 4096
    """Pixels in a step that also compares pictures."""
    is_soft: bool = True
    """Whether the last steps go through soft quantisation. Without it, values are only rounded."""
    seed: int = 1
    layers: tuple[str, ...] | None = None
    """Layers of extensions, of `pbr_model.LAYERS`; None lets the fit find them."""
    has_metal: bool = True
    """Whether a texel may be metal."""


def on_gpu(settings: FitSettings) -> FitSettings:
    """The settings with the work that a GPU does in a step."""
    return replace(settings, batch=1 << 18, pixels=1 << 15)


def fit_textures(
    views: FitViews,
    size: int,
    samples: int,
    settings: FitSettings,
    on_progress: Callable[[float], None],
) -> PbrTextures:
    """Fits textures to so many samples of the response. Each UDIM tile has this size."""
    scene = views.scene
    responses = draw_responses(
        scene.teacher, views.seen, scene.first_set, samples, settings.seed, views.weights,
        lambda part: on_progress(0.3 * part),
    )  # fmt: skip
    size *= scene.tiles_a_side
    pixels = LitPixels.draw(views, settings.seed)
    on_progress(0.4)
    textures = PbrTextures(
        *fit_pbr(
            responses, size, scene.teacher.device, settings, pixels,
            lambda part: on_progress(0.4 + 0.6 * part),
        )
    )  # fmt: skip
    if scene.has_emission:
        emission = emission_grid(scene, views.seen, size)
        # a graph that can glow may still be dark everywhere
        if emission.values.any():
            textures.emission = emission
            textures.strength = max(1.0, float(emission.values.max()))
            emission.values[:] = quantise(srgb_from_linear(emission.values / textures.strength))
    return textures


def fit_pbr(
    samples: Responses,
    size: int,
    device: Device,
    settings: FitSettings | None = None,
    pixels: LitPixels | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> tuple[Grid, tuple[str, ...]]:
    """Fits textures with this size. Returns them as bytes from 0 to 1, and the layers of extensions
    that they use."""
    settings = settings or FitSettings()
    fit, begin = PbrFit(samples, device, pixels, settings.has_metal), _start(settings)
    small = min(_COARSE_BATCH, settings.batch)

    def run(grid: Grid, layers: tuple[str, ...], steps: int, rate: float) -> Grid:
        fit.start(grid, _bits(layers))
        for number, chosen in enumerate(batches(samples.count, small, steps)):
            fit.step(chosen, rate, number)
        fit.finish()
        return grid

    first, *coarse = [each for each in _COARSE if each[0] < size] or [(size, 0)]
    grid = run(Grid.of(1, 1, begin), (), first[1], _FIRST_RATE)
    layers = settings.layers
    if layers is None:
        side = min(16, size)
        layers = _needed(fit, run, grid.resized(side, side), samples.count)
    _begin(grid, layers)
    for side, steps in coarse:
        grid = run(grid.resized(side, side), layers, steps, _PEAK_RATE)
    few = round(_SHARE * settings.steps)
    stages = [(size // part, few) for part in _PARTS if size // part > grid.width]
    stages.append((size, settings.steps))
    done, total = 0, sum(steps for _, steps in stages)
    for side, steps in stages:
        grid = grid.resized(side, side)
        fit.start(grid, _bits(layers))
        for _ in _steps(fit, side, steps, side == size, settings):
            done += 1
            on_progress(done / total)
        fit.finish()
    seen = _seen_texels(grid, samples.places())
    fill_holes(grid, seen)
    grid.values[:] = quantise(grid.values)
    if pixels and pixels.count >= _CHECKED:
        mean = Grid.of(1, 1, grid.values[seen].mean(0))
        start = Grid.of(1, 1, begin)
        _begin(start, layers)
        plain = [_fit_plain(fit, each, layers, few, settings) for each in (mean, start)]
        best = min((grid, *plain), key=fit.check)
        grid = best if best is grid else Grid.of(size, size, best.values[0])
    return grid, layers


def _start(settings: FitSettings) -> FloatArray:
    """The first values of a texel."""
    start = np.array(pbr_model.START, np.float32)
    if not settings.has_metal:
        start[pbr_model.METALNESS] = 0
    return start


def _begin(grid: Grid, layers: tuple[str, ...]) -> None:
    """Sets the channels of these layers to their first values."""
    for each in layers:
        channels, start = pbr_model.LAYERS[each]
        grid.values[:, channels] = start


def _fit_plain(
    fit: PbrFit, grid: Grid, layers: tuple[str, ...], steps: int, settings: FitSettings
) -> Grid:
    """Fits one texel for the whole material."""
    fit.start(grid, _bits(layers))
    for _ in _steps(fit, 1, steps, False, replace(settings, batch=_COARSE_BATCH)):
        pass
    fit.finish()
    grid.values[:] = quantise(grid.values)
    return grid


def _steps(
    fit: PbrFit, side: int, steps: int, is_last: bool, settings: FitSettings
) -> Iterator[None]:  # fmt: skip
    """Runs the steps at one size. The last of them also compare pictures, and the last size is
    quantised."""
    batch = min(settings.batch, fit.count)
    peak = _PEAK_RATE * min(1.0, batch / (_STEADY_SAMPLES * side * side))
    compared = batches(max(1, fit.compared), settings.pixels, steps)
    for number, chosen in enumerate(batches(fit.count, batch, steps)):
        softness, rate = 0.0, peak * max(_LEAST_RATE, 1 - number / steps)
        if is_last:
            softness = softness_at(number, steps) if settings.is_soft else 0.0
            rate = rate_at(number, steps, peak)
        has_pixels = fit.pixels and number >= (1 - _COMPARED) * steps
        fit.step(chosen, rate, number, softness, next(compared) if has_pixels else None)
        yield


def _needed(fit: PbrFit, run: Callable[..., Grid], grid: Grid, count: int) -> tuple[str, ...]:
    """The layers without which the loss at a coarse size is clearly larger."""
    every = slice(0, min(count, 16 * _COARSE_BATCH))

    def loss_with(layers: tuple[str, ...]) -> float:
        start = Grid(grid.width, grid.height, grid.values.copy())
        _begin(start, layers)
        run(start, layers, _TRIAL_STEPS, _PEAK_RATE)
        fit.start(start, 0)
        fit.differentiate(every)
        return fit.loss

    found: tuple[str, ...] = ()
    best = loss_with(())
    for layer in pbr_model.LAYERS:
        loss = loss_with((*found, layer))
        if loss < (1 - _WORTH) * best:
            found, best = (*found, layer), loss
    return found


def _bits(layers: tuple[str, ...]) -> int:
    """A bit for each channel that is fitted with these layers."""
    left_out = {
        channel
        for name, (channels, _) in pbr_model.LAYERS.items()
        for channel in channels
        if name not in layers
    }
    return sum(1 << channel for channel in range(pbr_model.CHANNELS) if channel not in left_out)


def _seen_texels(grid: Grid, uv: FloatArray) -> NDArray[np.bool_]:
    """Whether a pixel reads each texel."""
    indices, weights = grid.corners(uv)
    return np.asarray(np.bincount(indices.ravel(), weights.ravel(), len(grid.values)) > 0)


class PbrFit:
    """Samples on a device, and the steps of a fit to them."""

    weight_of_pixels = WEIGHT_OF_PIXELS

    def __init__(
        self, samples: Responses, device: Device, pixels: LitPixels | None = None,
        has_metal: bool = True,
    ) -> None:  # fmt: skip
        self._device, self.count, self.pixels = device, samples.count, pixels
        self._kept = 0 if has_metal else 1 << pbr_model.METALNESS
        count = pixels.count if pixels else 0
        self.compared = count - count // _CHECKED
        self._step, self._update, self._decode, self._compare = compiled(device)
        self._losses: Any = None
        self._losses_of_pixels: Any = None
        self._samples = samples.buffers

    def start(self, grid: Grid, fitted: int) -> None:
        """Begins with these texels. `fitted` has a bit for each channel that may change."""
        count = len(grid.values)
        self._grid, self._fitted = grid, fitted & ~self._kept
        self._texels = {
            "gStored": self._buffer(grid.values),
            "gMoments": self._buffer(np.zeros((count, 2 * pbr_model.CHANNELS)), 8),
            "gGradients": self._buffer(np.zeros((count, pbr_model.CHANNELS))),
            "gTexels": self._buffer(np.zeros((count, pbr_model.DEVICE_CHANNELS)), 16),
        }

    def step(
        self, chosen: slice, rate: float, number: int, softness: float = 0.0,
        pixels: slice | None = None,
    ) -> None:  # fmt: skip
        """One step of Adam on these samples, and on these pixels."""
        self.differentiate(chosen, softness, pixels)
        self._run_texels(self._update, rate * adam_rate(1.0, number))

    def differentiate(
        self, chosen: slice, softness: float = 0.0, pixels: slice | None = None
    ) -> None:
        """Decodes the texels and adds the gradients of these samples, and of these pixels."""
        size = self._size = chosen.stop - chosen.start
        shared = max(1, 4 * size // len(self._grid.values))
        self._uniforms = {
            "first": chosen.start,
            "layout": layout_uniform(self._grid.layout),
            "scale": 2.0 ** (_UNIT_BITS - shared.bit_length() // 2),
            "hardness": HARDEST * softness,
            "fitted": self._fitted,
            "adam": {"beta1": BETA_1, "scale": {"beta2": BETA_2, "epsilon": EPSILON}},
        }
        if self._losses is None or self._losses.size < 4 * size:
            self._losses = self._buffer(np.zeros(size))
        self._run_texels(self._decode)
        self._run(self._step, size)
        if pixels is not None:
            self._shade(pixels)

    def _shade(self, chosen: slice) -> None:
        """Adds the gradients of these pixels."""
        assert self.pixels is not None
        count = chosen.stop - chosen.start
        given = {
            "directions": self.pixels.directions,
            "exposure": self.pixels.exposure,
            "weight": self.weight_of_pixels,
        }
        fit = {**self._uniforms, "count": count, "first": chosen.start, "rate": 0.0}
        texels = {name: self._texels[name] for name in ("gTexels", "gGradients")}
        if self._losses_of_pixels is None or self._losses_of_pixels.size != 4 * count:
            self._losses_of_pixels = self._buffer(np.zeros(count))
        variables = {
            "gFit": fit, "gPixels": given, **self.pixels.buffers, **texels,
            "gLosses": self._losses_of_pixels,
        }  # fmt: skip
        self._device.dispatch(self._compare, count, variables)

    def check(self, grid: Grid) -> float:
        """The mean loss of the pixels that no step compares."""
        assert self.pixels is not None
        self.start(grid, 0)
        self.differentiate(slice(0, 1), pixels=slice(self.compared, self.pixels.count))
        return self.loss_of_pixels

    @property
    def loss_of_pixels(self) -> float:
        """Mean loss of the last step's pixels."""
        return float(self._losses_of_pixels.to_numpy().view(np.float32).mean())

    @property
    def loss(self) -> float:
        """Mean loss of the last step's samples."""
        return float(self._losses.to_numpy().view(np.float32)[: self._size].mean())

    @property
    def gradient(self) -> FloatArray:
        """The sum over samples of gradients by decoded texels, (texels, channels)."""
        units = self._texels["gGradients"].to_numpy().view(np.int32)
        scaled = units.reshape(-1, pbr_model.CHANNELS) / np.float32(self._uniforms["scale"])
        return np.asarray(scaled)

    def finish(self) -> None:
        """Reads the stored texels back into the grid."""
        found = self._texels["gStored"].to_numpy().view(np.float32)
        self._grid.values[:] = found.reshape(self._grid.values.shape)

    def _run_texels(self, kernel: Any, rate: float = 0.0) -> None:
        total = len(self._grid.values)
        for first in range(0, total, MOST_THREADS):
            self._run(kernel, min(MOST_THREADS, total - first), rate, first)

    def _run(self, kernel: Any, count: int, rate: float = 0.0, first: int | None = None) -> None:
        fit = {**self._uniforms, "count": count, "rate": rate}
        if first is not None:
            fit["first"] = first
        variables = {"gFit": fit, **self._samples, **self._texels, "gLosses": self._losses}
        self._device.dispatch(kernel, count, variables)

    def _buffer(self, values: NDArray[Any], stride: int = 4) -> Any:
        return self._device.new_buffer(np.asarray(values, np.float32), stride)


def compiled(device: Device) -> list[Any]:
    """The kernels of a fit."""
    kernels = device.shared_kernels({}, pbr_model.CONSTANTS)
    entries = ((_SHADER, "fitResponses"), (_SHADER, "updateTexels"), (_SHADER, "decodeTexels"))
    return [
        kernels.get((source,), entry) for source, entry in (*entries, (_PIXEL_SHADER, "fitPixels"))
    ]
