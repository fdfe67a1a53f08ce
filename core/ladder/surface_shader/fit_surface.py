"""Fits the texels of a surface shader to the response of a teacher, and to its pictures.

The losses and the schedule are those of fit_pbr.py. The shader is MaterialX's own generated code,
which has no derivatives. So each channel is moved by a step, forwards for one half of the samples
and backwards for the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Source, constants_module
from verdigris.core.ladder.fitting import fit_pbr
from verdigris.core.ladder.fitting.fit_pbr import WEIGHT_OF_PIXELS, FitSettings
from verdigris.core.ladder.texels.grid import (
    HARDEST,
    Grid,
    layout_uniform,
    quantise,
    rate_at,
    softness_at,
)
from verdigris.core.ladder.views.reference import batches
from verdigris.core.material.analyse.parts import is_dark_and_opaque
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.training.optimiser import BETA_1, BETA_2, EPSILON, adam_rate

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.surface_shader.surface_shader import SurfaceShader
    from verdigris.core.ladder.views.lit_pixels import LitPixels
    from verdigris.core.ladder.views.reference import Responses

_SHADER = Source("ladder/surface_shader/texel_fit")
_UNIT_BITS = 16
# Texels a side of a block whose mean change is one of the choices.
_BLOCK = 8
# A channel is moved by this for a difference; a byte's step is 1 / 255.
STEP = 1 / 512
_READ = ("gPlaces", "gDirections", "gOrder", "gIncoming", "gOutgoing", "gTargets")


@dataclass(frozen=True)
class SurfaceFitSettings:
    """The work of a fit."""

    steps: int = 60
    batch: int = 32_768
    """Samples of the response in a step."""
    pixels: int = 4096
    """Pixels in a step."""
    rate: float = 0.0005
    """Peak rate for textures that start as the graph's inputs."""
    rate_of_layers: float = 0.01
    """Peak rate for textures that start as glTF textures."""
    is_soft: bool = True
    """Whether the last steps go through soft quantisation. Without it, values are only rounded."""
    weight_of_pixels: float = WEIGHT_OF_PIXELS
    pbr: FitSettings = field(default_factory=FitSettings)
    """The fit of the glTF textures as which materials with several shaders start."""


def on_gpu(settings: SurfaceFitSettings) -> SurfaceFitSettings:
    """The settings with the work that a GPU does in a step."""
    pbr = fit_pbr.on_gpu(settings.pbr)
    return replace(settings, steps=300, batch=1 << 18, pixels=1 << 15, pbr=pbr)


def fit_surface(
    material: TexelMaterial,
    grid: Grid,
    fitted: int,
    samples: Responses,
    settings: SurfaceFitSettings,
    pixels: LitPixels | None = None,
    check: LitPixels | None = None,
    peak_rate: float = 0.02,
    on_progress: Callable[[float], None] = lambda _: None,
) -> str:
    """Fits a grid in place and rounds it to bytes. `check` holds pixels to which nothing is fitted:
    with them, the best of `_choices` is kept. Returns the name of the choice."""
    start = grid.values.copy()
    fit = SurfaceFit(material, grid, fitted, settings.weight_of_pixels)
    steps = settings.steps
    of_samples = batches(samples.count, settings.batch, steps)
    of_pixels = batches(pixels.count if pixels else 1, settings.pixels, steps)
    for number, (chosen, shown) in enumerate(zip(of_samples, of_pixels, strict=True)):
        softness = softness_at(number, steps) if settings.is_soft else 0.0
        rate = rate_at(number, steps, peak_rate)
        fit.step(rate, number, softness, (samples, chosen), (pixels, shown) if pixels else None)
        on_progress((number + 1) / steps)
    fit.finish()
    grid.values[:] = quantise(grid.values)
    if check is None:
        return ""
    choices = _choices(start, grid)
    losses = {name: _loss_of(fit, each, check) for name, each in choices.items()}
    best = min(losses, key=lambda name: losses[name])
    grid.values[:] = choices[best].values
    return best


def _choices(start: FloatArray, fitted: Grid) -> dict[str, Grid]:
    """Grids between the start and a fit. If a material has more detail than texels can store, few
    samples reach each texel, and its fit follows their noise. Then the mean change of several
    texels, or no change, is better."""
    change = fitted.values - start

    def moved(by: FloatArray) -> Grid:
        return Grid(fitted.width, fitted.height, quantise(start + by))

    found = {"all": fitted, "half": moved(change / 2), "none": moved(0 * change)}
    if fitted.width % _BLOCK == 0 and fitted.height % _BLOCK == 0:
        rows, columns = fitted.height // _BLOCK, fitted.width // _BLOCK
        blocks = change.reshape(rows, _BLOCK, columns, _BLOCK, -1)
        is_seen = (blocks != 0).any(-1, keepdims=True)
        means = blocks.sum((1, 3)) / np.maximum(is_seen.sum((1, 3)), 1)
        coarse = Grid(columns, rows, means.reshape(rows * columns, -1).astype(np.float32))
        found["smooth"] = moved(coarse.resized(fitted.width, fitted.height).values)
    return found


def _loss_of(fit: SurfaceFit, grid: Grid, pixels: LitPixels) -> float:
    fit.show(grid)
    fit.differentiate(0.0, None, (pixels, slice(0, pixels.count)))
    return fit.loss_of_pixels


class SurfaceFit:
    """Texels on a device, and the steps of a fit."""

    def __init__(
        self, material: TexelMaterial, grid: Grid, fitted: int,
        weight_of_pixels: float = WEIGHT_OF_PIXELS,
    ) -> None:  # fmt: skip
        """`fitted` has a bit for each channel that may change."""
        self._material, self._grid, self._fitted = material, grid, fitted
        self._differentiate, self._update, self._quantise = compiled(material)
        self._weight = weight_of_pixels
        material.show(grid)
        new = material.device.new_buffer
        self._buffers = {
            "gStored": new(np.asarray(grid.values, np.float32)),
            "gMoments": new(np.zeros((grid.values.size, 2), np.float32), 8),
            "gGradients": new(np.zeros(grid.values.size, np.int32)),
        }
        self._nothing = new(np.zeros(1, np.float32))
        self._losses: dict[bool, Any] = {}
        self._scale = 1.0

    def step(
        self, rate: float, number: int, softness: float,
        samples: tuple[Responses, slice] | None, pixels: tuple[LitPixels, slice] | None,
    ) -> None:  # fmt: skip
        """One step of Adam on these samples and pixels."""
        self.differentiate(softness, samples, pixels)
        self._of_texels(self._update, softness, rate * adam_rate(1.0, number))

    def differentiate(
        self, softness: float, samples: tuple[Responses, slice] | None,
        pixels: tuple[LitPixels, slice] | None = None,
    ) -> None:  # fmt: skip
        """Quantises the texels and adds the gradients of these samples and pixels."""
        counts = [each[1].stop - each[1].start for each in (samples, pixels) if each]
        shared = max(1, 4 * max(counts) // len(self._grid.values))
        self._scale = 2.0 ** (_UNIT_BITS - shared.bit_length() // 2)
        self._of_texels(self._quantise, softness)
        if samples:
            found, chosen = samples
            self._add(chosen, found.buffers)
        if pixels:
            lit, chosen = pixels
            self._add(
                chosen, lit.buffers, directions=lit.directions, exposure=lit.exposure,
                hasEmission=int(lit.has_emission),
            )  # fmt: skip

    def _add(self, chosen: slice, buffers: dict[str, Any], **given: Any) -> None:
        count, is_lit = chosen.stop - chosen.start, "directions" in given
        losses = self._losses.get(is_lit)
        if losses is None or losses.size != 4 * count:
            losses = self._material.device.new_buffer(np.zeros(count, np.float32))
            self._losses[is_lit] = losses
        self._run(
            self._differentiate, count, {**buffers, "gLosses": losses}, first=chosen.start, **given
        )

    @property
    def loss(self) -> float:
        """Mean loss of the last step's samples."""
        return float(self._losses[False].to_numpy().view(np.float32).mean())

    @property
    def loss_of_pixels(self) -> float:
        """Mean loss of the last step's pixels."""
        return float(self._losses[True].to_numpy().view(np.float32).mean())

    @property
    def gradient(self) -> NDArray[np.floating]:
        """The sum over samples of gradients by softly quantised texels, (texels, channels)."""
        units = self._buffers["gGradients"].to_numpy().view(np.int32)
        return np.asarray(units.reshape(self._grid.values.shape) / self._scale)

    def show(self, grid: Grid) -> None:
        """Takes these texels for the next step."""
        self._buffers["gStored"] = self._material.device.new_buffer(
            np.asarray(grid.values, np.float32)
        )

    def finish(self) -> None:
        """Reads the stored texels back into the grid."""
        found = self._buffers["gStored"].to_numpy().view(np.float32)
        self._grid.values[:] = found.reshape(self._grid.values.shape)

    def _of_texels(self, kernel: Any, softness: float, rate: float = 0.0) -> None:
        total = len(self._grid.values)
        for first in range(0, total, MOST_THREADS):
            self._run(
                kernel, min(MOST_THREADS, total - first), {}, first=first, rate=rate,
                hardness=HARDEST * softness,
            )  # fmt: skip

    def _run(self, kernel: Any, count: int, buffers: dict[str, Any], **given: Any) -> None:
        fit = {
            "count": count, "first": 0, "channels": self._material.shader.channels,
            "fitted": _words(self._fitted), "directions": 0, "hasEmission": 0, "exposure": 1.0,
            "glowing": _words(self._material.shader.bits(lambda each: each.is_glow)),
            "weight": self._weight, "scale": self._scale, "step": STEP, "rate": 0.0,
            "hardness": 0.0,
            "adam": {"beta1": BETA_1, "scale": {"beta2": BETA_2, "epsilon": EPSILON}},
            **given,
        }  # fmt: skip
        variables = {
            **dict.fromkeys(_READ, self._nothing), "gLosses": self._nothing, **self._buffers,
            **self._material.bindings(), **buffers, "gFit": fit,
        }  # fmt: skip
        self._material.device.dispatch(kernel, count, variables)


def _words(bits: int) -> list[int]:
    """Bits of up to 128 channels as four words. Standard Surface and OpenPBR have fewer than 70
    channels."""
    return [bits >> 32 * word & 0xFFFFFFFF for word in range(4)]


class TexelMaterial(DeviceMaterial):
    """A surface shader whose inputs are read from a grid of texels. It draws them, and compiles the
    kernels of their fit. Texels are those of images: the shader's document decodes them."""

    def __init__(self, shader: SurfaceShader, device: Device) -> None:
        document = parse_document(shader.write(), name=shader.name)
        material = document.require_material()
        self.device, self.shader = device, shader
        self.generated = generate(document, material, has_atlas=False, has_texels=True)
        self.lanes_per_sample = self.generated.lanes_per_sample
        if self.generated.transmission:
            self.index_below = self.generated.transmission.index
        self.is_dark_and_opaque = is_dark_and_opaque(document.nodes_of(material))
        self.width = -(-max(1, shader.channels) // 4) * 4
        self._kernels = device.new_kernels(is_hasty=True)
        self._kernels.load(constants_module("network_constants", {"kLatentChannels": self.width}))
        self._source = Source(f"texels_{self.generated.digest}", self.generated.source)
        self.texels: Any = None
        self.layout: Any = None

    def show(self, grid: Grid) -> None:
        """Sets the texels."""
        padded = np.zeros((len(grid.values), self.width), np.float32)
        padded[:, : self.shader.channels] = grid.values
        self.texels = self.device.new_buffer(padded, 16)
        self.layout = layout_uniform(grid.layout)

    def values(self) -> FloatArray:
        """The texels as they are on the device, (texels, channels)."""
        found = self.texels.to_numpy().view(np.float32).reshape(-1, self.width)
        return np.asarray(found[:, : self.shader.channels])

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, self._source), entry)

    def bindings(self) -> dict[str, Any]:
        block = dict(self.generated.uniforms)
        found = {"gTexels": self.texels, "gTexelLayout": self.layout}
        return {**found, "pixelCB": block} if block else found


def compiled(material: TexelMaterial) -> list[Any]:
    """The kernels of a fit."""
    entries = ("fitTexels", "updateTexels", "quantiseTexels")
    return [material.kernel(_SHADER, each) for each in entries]
