"""The reference of all rungs: pictures of the teacher under a light, and samples of its response
at the pixels that cameras see. All of it stays on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source
from verdigris.core.material.evaluator import POINT
from verdigris.core.pictures.environment_render import LitPart

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen, ViewPixels
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.environment_render import EnvironmentLighting

    Progress = Callable[[float], None]

_SHADER = Source("ladder/views/draw_responses")
# A pixel with less coverage does not count in a fit.
_LEAST_COVERAGE = 0.05
# Samples of the response at a pixel.
_MOST_A_PIXEL = 256


def light_on_device(
    material: DeviceMaterial,
    pixels: ViewPixels,
    lighting: EnvironmentLighting,
    samples: int,
    is_flat: bool = False,
) -> LitPart:
    """The sum of light towards the viewer at these pixels."""
    part = LitPart(material, pixels.view, pixels.origins, np.eye(3))
    for pairs in part.passes(samples, POINT):
        part.add(lighting, pairs, is_flat, POINT)
    return part


def _light_of(
    material: DeviceMaterial,
    seen: Seen,
    lighting: EnvironmentLighting,
    samples: int,
    uv_set: str | None = None,
    is_flat: bool = False,
) -> Floats:
    """Light towards the viewer and coverage, (N, 4), at the pixels of a view. The material reads
    this uv set."""
    parts = [
        light_on_device(material, each, lighting, samples, is_flat) for each in seen.parts(uv_set)
    ]
    return np.concatenate([each.light() for each in parts])


def draws_with(
    material: DeviceMaterial, scene: Scene, uv_set: str | None = None, is_flat: bool = False
) -> Callable[[Seen, int], Floats]:
    """A function that draws the exposed light (N, 3) of a material at the pixels of a view, with so
    many directions of light."""

    def draw(seen: Seen, samples: int) -> Floats:
        light = _light_of(material, seen, scene.lighting, samples, uv_set, is_flat)[:, :3]
        return np.asarray(light * scene.exposure, np.float32)

    return draw


def lights_of(
    material: DeviceMaterial,
    seen: Sequence[Seen],
    lighting: EnvironmentLighting,
    samples: int,
    on_progress: Progress = lambda _: None,
) -> list[Floats]:
    """Light towards the viewer and coverage, (N, 4), at the pixels of each view."""
    found = []
    for number, each in enumerate(seen, 1):
        found.append(_light_of(material, each, lighting, samples))
        on_progress(number / len(seen))
    return found


@dataclass(frozen=True)
class Responses:
    """Samples of the response at pixels, in the tangent frames of the fitted uv set and in a random
    order."""

    count: int
    buffers: dict[str, Any]
    """`gPlaces` (2 numbers a sample), `gDirections` (6: wi and wo) and `gTargets` (4: the response,
    and the painted weight, 1 without paint)."""

    @classmethod
    def upload(
        cls, device: Device, uv: Floats, wi: Floats, wo: Floats, value: Floats, weight: Floats
    ) -> Responses:
        """Samples from arrays with the channels first."""
        columns = {"gPlaces": [uv], "gDirections": [wi, wo], "gTargets": [value, weight[None]]}
        buffers = {
            name: device.new_buffer(np.concatenate(each).T.astype(np.float32))
            for name, each in columns.items()
        }
        return cls(len(weight), buffers)

    def places(self) -> Floats:
        """The uv (2, N)."""
        return np.asarray(self.buffers["gPlaces"].to_numpy().view(np.float32).reshape(-1, 2).T)


def draw_responses(
    teacher: DeviceMaterial,
    seen: Sequence[Seen],
    uv_set: str,
    count: int,
    seed: int,
    weights: Sequence[Floats] | None = None,
    on_progress: Progress = lambda _: None,
) -> Responses:
    """Draws so many samples, spread evenly over the pixels of all views. Each has a light direction
    of its own."""
    rng = np.random.default_rng(seed)
    total = sum(each.count for each in seen)
    # more samples of a mesh with few pixels add nothing
    repeats = min(max(1, round(count / total)), _MOST_A_PIXEL)
    order = teacher.device.new_buffer(rng.permutation(total * repeats).astype(np.uint32))
    buffers = {
        name: teacher.device.new_space(width * total * repeats)
        for name, width in (("gPlaces", 2), ("gDirections", 6), ("gTargets", 4))
    }
    first = 0
    for number, each in enumerate(seen):
        for own, fitted in both_frames(each, uv_set):
            paint = paint_of(own, weights, number)
            for _ in range(repeats):
                drawn = draw_lights(teacher, own, first, seed)
                uv, wi, wo = own.view.buffers["gUv"], drawn["gIncoming"], drawn["gOutgoing"]
                frames = own.view.buffers["gFrames"]
                value = teacher.response_on_device(own.count, uv, wi, wo, frames=frames)
                weight = paint
                if not teacher.is_dark_and_opaque:
                    rows = value.to_numpy().view(np.float32).reshape(-1, 3)
                    cover = _emission(teacher, own, wo)[:, 3:]
                    rows, weight = without_coverage(np.concatenate([rows, cover], 1), paint)
                    value = teacher.device.new_buffer(rows)
                given = {
                    "gResponses": value,
                    "gFittedUv": fitted.view.buffers["gUv"],
                    "gFittedFrames": fitted.view.buffers["gFrames"],
                    "gPaint": teacher.device.new_buffer(weight),
                    "gOrder": order,
                }
                _run(teacher, "storeResponses", own, first, seed, {**drawn, **buffers, **given})
                first += own.count
        on_progress((number + 1) / len(seen))
    return Responses(first, buffers)


def without_coverage(light: Floats, paint: Floats) -> tuple[Floats, Floats]:
    """The light (N, 3) of the surface alone, from light that is multiplied by its coverage (N, 4);
    and the painted weights times the coverage."""
    cover = light[:, 3]
    bare = light[:, :3] / np.maximum(cover, _LEAST_COVERAGE)[:, None]
    return np.asarray(bare, np.float32), np.asarray(paint * cover, np.float32)


def emission_at(teacher: DeviceMaterial, seen: Seen) -> Floats:
    """Emission towards the viewer and coverage, (N, 4), at the pixels of a view."""
    return emissions_at(lambda: [teacher], seen)[0]


def emissions_at(teachers: Callable[[], Iterable[DeviceMaterial]], seen: Seen) -> Sequence[Floats]:
    """The emission and coverage of each of several teachers at the same pixels."""
    parts = []
    for pixels in seen.parts():
        wo, of_part = None, []
        for each in teachers():
            wo = wo or draw_lights(each, pixels, 0, 0)["gOutgoing"]
            of_part.append(_emission(each, pixels, wo))
        parts.append(of_part)
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _emission(teacher: DeviceMaterial, pixels: ViewPixels, wo: Any) -> Floats:
    uv, frames = pixels.view.buffers["gUv"], pixels.view.buffers["gFrames"]
    found = teacher.response_on_device(pixels.count, uv, wo, wo, frames=frames, is_lit=False)
    return np.asarray(found.to_numpy().view(np.float32).reshape(-1, 4))


def both_frames(seen: Seen, uv_set: str) -> Iterator[tuple[ViewPixels, ViewPixels]]:
    """The pixels of a view with the tangent frames of the first uv set, which the teacher reads,
    and with those of the fitted set."""
    surface = seen.geometry.surface
    if uv_set == surface.first_set:
        for each in seen.parts():
            yield each, each
    else:
        yield from zip(seen.parts(), seen.parts(uv_set), strict=True)


def paint_of(pixels: ViewPixels, weights: Sequence[Floats] | None, number: int) -> Floats:
    """The painted weights of pixels of the view with this number."""
    if weights is None:
        return np.ones(pixels.count, np.float32)
    return weights[number][pixels.part]


def draw_lights(
    teacher: DeviceMaterial, pixels: ViewPixels, first: int, seed: int
) -> dict[str, Any]:
    """A light direction and the view direction of each pixel, in the tangent frame of the pixel."""
    new, count = teacher.device.new_space, 3 * pixels.count
    drawn = {name: new(count) for name in ("gIncoming", "gOutgoing")}
    _run(teacher, "drawLights", pixels, first, seed, drawn)
    return drawn


def _run(
    teacher: DeviceMaterial,
    entry: str,
    pixels: ViewPixels,
    first: int,
    seed: int,
    buffers: dict[str, Any],
) -> None:
    kernel = teacher.device.shared_kernels({}, ()).get((_SHADER,), entry)
    view = {name: pixels.view.buffers[name] for name in ("gFrames", "gToEye")}
    given = {"gParameters": {"count": pixels.count, "first": first, "seed": seed}}
    teacher.device.dispatch(kernel, pixels.count, {**view, **buffers, **given})


def batches(count: int, size: int, steps: int) -> Iterator[slice]:
    """Slices of shuffled samples, one for each step. They go through all samples again and again:
    unlike a new order in each round, slices need no copy."""
    size = min(size, count)
    at = 0
    for _ in range(steps):
        if at + size > count:
            at = 0
        yield slice(at, at + size)
        at += size
