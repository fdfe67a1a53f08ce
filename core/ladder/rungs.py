"""The rungs of a ladder: how each is fitted, what it stores, and how it is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.ladder.image_fit import ImageFitSettings, Model, Pixels, fit_model
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, fit_pbr
from verdigris.core.ladder.pbr.lit_pixels import LitPixels
from verdigris.core.ladder.pbr.pbr_material import PbrMaterial
from verdigris.core.ladder.reference import draw_responses, light_of, without_coverage
from verdigris.core.ladder.texels import Grid, fill_holes, quantise
from verdigris.core.ladder.tone_curve import ToneCurve, fit_curve
from verdigris.core.ladder.unlit_models import (
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
    mean_at,
    mirror_directions,
)
from verdigris.core.settings.rung_names import (
    DETAIL,
    PBR,
    REFLECTION,
    UNLIT,
    VERTEX,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.surface import Atlas, Surface
    from verdigris.core.ladder.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.environment_render import EnvironmentLighting

    Floats = NDArray[np.float32]
    Progress = Callable[[float], None]

# Sides of the reflection map, and how much smaller colours are than detail.
MIRROR_SIDE, COLOUR_DIVISOR = 64, 2
_START_SHARE = 0.15
# Bytes of a texel of each layer of an extension.
_LAYER_BYTES = {"coat": 2, "anisotropy": 3, "sheen": 4}


@dataclass(frozen=True)
class Scene:
    """What rungs are fitted to and drawn in."""

    teacher: DeviceMaterial
    surface: Surface
    lighting: EnvironmentLighting
    exposure: float
    """Factor of light, with which pictures are compared."""
    first_set: str
    """The uv set of lit textures and of detail."""
    unique_set: str | None
    """The one of light; None if no rung needs one."""
    has_emission: bool
    atlas: Atlas | None = None
    """UDIM tiles of the first set, which is then the atlas' set."""

    @property
    def tiles_a_side(self) -> int:
        """How many times larger textures on the first set are."""
        return self.atlas.side if self.atlas else 1


@dataclass
class Rung:
    """A fitted rung."""

    name: str
    size: int
    byte_size: int
    seconds: float
    draw: Callable[[Seen, int], Floats]
    """Exposed light (N, 3) at the pixels of a view, with so many directions of light."""
    stored: dict[str, Any] = field(default_factory=dict)
    """Grids and curves to write."""
    notes: list[str] = field(default_factory=list)
    material: DeviceMaterial | None = None
    """What is evaluated for each light; None for rungs that store light."""
    nanoseconds: float | None = None
    """Of an evaluation of it; None where it is not measured."""


def fit_pbr_rung(
    scene: Scene,
    seen: Sequence[Seen],
    size: int,
    count: int,
    settings: FitSettings,
    weights: Sequence[Floats] | None,
    on_progress: Progress,
) -> Rung:
    begun = time.monotonic()
    samples = draw_responses(
        scene.teacher, scene.surface, seen, scene.first_set, count, settings.seed, weights,
        lambda part: on_progress(0.3 * part),
    )  # fmt: skip
    size *= scene.tiles_a_side
    pixels = LitPixels.draw(scene, seen, scene.first_set, settings.seed, weights)
    on_progress(0.4)
    grid, layers = fit_pbr(
        samples, size, scene.teacher.device, settings, pixels,
        lambda part: on_progress(0.4 + 0.6 * part),
    )  # fmt: skip
    emission = emission_grid(scene, seen, size) if scene.has_emission else None
    linear = None
    if emission is not None:
        strength = max(1.0, float(emission.values.max()))
        emission.values[:] = quantise(_to_srgb(emission.values / strength))
        linear = linear_from_srgb(emission.values) * strength
    material = PbrMaterial(grid, scene.teacher.device, linear)

    def draw(each: Seen, directions: int) -> Floats:
        view = each.on_set(scene.surface, scene.first_set)
        light = light_of(material, view, scene.lighting, directions)[:, :3]
        return np.asarray(light * scene.exposure, np.float32)

    stored: dict[str, Any] = {"grid": grid, "layers": layers}
    # base colour, occlusion-roughness-metalness, normal
    channels = 3 + 3 + 2 + sum(_LAYER_BYTES[each] for each in layers)
    if emission is not None:
        stored |= {"emission": emission, "strength": strength}
        channels += 3
    seconds = time.monotonic() - begun
    return Rung(PBR, size, size * size * channels, seconds, draw, stored, material=material)


def emission_grid(scene: Scene, seen: Sequence[Seen], size: int) -> Grid:
    """Mean emission at the texels, linear; (texels, 3)."""
    from verdigris.core.material.evaluator import Frames

    grid = Grid.of(size, size, np.zeros(3))
    parts: list[tuple[Floats, Floats]] = []
    for each in seen:
        view = each.view
        frames = Frames(view.position, view.tangent, view.bitangent, view.normal)
        own = np.stack([view.tangent, view.bitangent, view.normal], 1)
        wo = np.einsum("nij,nj->ni", own, view.to_eye).astype(np.float32)
        found = scene.teacher.unlit(view.uv, wo, frames)
        found = without_coverage(found[:, :3], found[:, 3])
        parts.append((each.on_set(scene.surface, scene.first_set).uv, found))
    uv = np.concatenate([each[0] for each in parts]).T
    values = np.concatenate([each[1] for each in parts]).T
    grid.values[:], weight = mean_at(values, *grid.corners(uv), len(grid.values))
    fill_holes(grid, weight > 0)
    return grid


def pixels_of(
    scene: Scene,
    seen: Sequence[Seen],
    lights: Sequence[Floats],
    weights: Sequence[Floats] | None = None,
) -> Pixels:
    """All pixels of these views with their exposed light (N, 4)."""
    surface = scene.surface
    unique = surface.sets[scene.unique_set or surface.first_set]
    detail = surface.sets[scene.first_set]
    vertex, _ = surface.vertices
    columns: list[tuple[Any, ...]] = []
    for number, (each, light) in enumerate(zip(seen, lights, strict=True)):
        view = each.view
        cosine = (view.normal * view.to_eye).sum(1, keepdims=True)
        paint = np.ones(len(light), np.float32) if weights is None else weights[number]
        columns.append(
            (
                each.mixed(unique).T,
                each.mixed(detail).T,
                (2 * cosine * view.normal - view.to_eye).T,
                vertex[each.triangle].T,
                each.weights.T,
                (without_coverage(light[:, :3], light[:, 3]) * np.float32(scene.exposure)).T,
                paint * light[:, 3],
            )
        )
    return Pixels(*(np.concatenate(each, -1) for each in zip(*columns, strict=True)))


def _image_rung(
    name: str,
    scene: Scene,
    model: Model,
    pixels: Pixels,
    settings: ImageFitSettings,
    on_progress: Progress,
    begun: float,
    size: int,
    stored: dict[str, Any],
) -> Rung:
    fit_model(model, pixels, settings, on_progress)

    def draw(each: Seen, _: int) -> Floats:
        light = np.zeros((len(each.triangle), 4), np.float32)
        return np.asarray(model.shade(pixels_of(scene, [each], [light]))[0].T, np.float32)

    count = sum(grid.values.size for grid in model.grids)
    return Rung(name, size, count, time.monotonic() - begun, draw, {"model": model, **stored})


def fit_unlit_rung(
    scene: Scene, pixels: Pixels, size: int, settings: ImageFitSettings, on_progress: Progress,
    curve: ToneCurve | None = None,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    curve = curve or fit_curve(pixels.light)
    texture = start_texture(pixels.light, curve, pixels.uv, size)
    model = OneTexture(texture, curve)
    return _image_rung(
        UNLIT, scene, model, pixels, settings, on_progress, begun, size, {"curve": curve}
    )


def start_texture(light: Floats, curve: ToneCurve, uv: Floats, size: int) -> Grid:
    """A square texture with the mean stored light of each texel, and filled holes."""
    grid = Grid.of(size, size, np.full(3, 0.5))
    stored = curve.to_stored(light)
    grid.values[:], weight = mean_at(stored, *grid.corners(uv), len(grid.values))
    fill_holes(grid, weight > 0)
    return grid


def fit_reflection_rung(
    scene: Scene, pixels: Pixels, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """The texture starts with the light that does not move, the map with the environment."""
    begun = time.monotonic()
    curve = fit_curve(pixels.light)
    environment = scene.lighting.environment.environment
    directions = mirror_directions(MIRROR_SIDE)
    around = environment.radiance(directions.T).T * scene.exposure
    sun = environment.turned_sun
    if sun is not None:
        # spread over a lobe, as a rough surface mirrors it
        lobe = 60 / (2 * np.pi) * np.maximum(np.array(sun.direction) @ directions, 0) ** 60
        around = around + np.outer(sun.irradiance, lobe) * scene.exposure
    mirror_curve = fit_curve(around)
    mirror = Grid(
        MIRROR_SIDE, MIRROR_SIDE,
        np.ascontiguousarray(mirror_curve.to_stored(around).T, np.float32),
    )  # fmt: skip
    texture = start_texture(pixels.light * 0.6, curve, pixels.uv, size)
    share = Grid.of(size, size, np.full(3, _START_SHARE))
    model = WithReflection(texture, share, mirror, curve, mirror_curve)
    stored = {"curve": curve, "mirror_curve": mirror_curve}
    return _image_rung(REFLECTION, scene, model, pixels, settings, on_progress, begun, size, stored)


def fit_detail_rung(
    scene: Scene, pixels: Pixels, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """Colours start with the mean light, and detail with the rest."""
    begun = time.monotonic()
    curve = fit_curve(pixels.light)
    low = max(4, size // COLOUR_DIVISOR)
    colour = start_texture(pixels.light, curve, pixels.uv, low)
    size *= scene.tiles_a_side
    detail = Grid.of(size, size, np.full(1, 0.5))
    below = curve.to_light(colour.sample(pixels.uv)).mean(0) + 1e-3
    ratio = np.sqrt(np.clip((pixels.light.mean(0) + 1e-3) / below, 0.02, 3.9) / 4)[None]
    detail.values[:], weight = mean_at(ratio, *detail.corners(pixels.detail_uv), len(detail.values))
    fill_holes(detail, weight > 0)
    model = DetailAndColour(detail, colour, curve)
    return _image_rung(
        DETAIL, scene, model, pixels, settings, on_progress, begun, size, {"curve": curve}
    )


def fit_vertex_rung(
    scene: Scene, pixels: Pixels, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    begun = time.monotonic()
    _, count = scene.surface.vertices
    curve = fit_curve(pixels.light)
    stored = curve.to_stored(pixels.light)
    means, weight = mean_at(stored, pixels.vertex, pixels.share, count)
    colours = Grid(count, 1, means)
    model = VertexColours(colours, curve)
    rung = _image_rung(
        VERTEX, scene, model, pixels, settings, on_progress, begun, count, {"curve": curve}
    )
    unseen = int((weight == 0).sum())
    if unseen:
        rung.notes.append(f"{unseen} of {count} vertices are seen by no camera")
    rung.notes.append(advise_subdivision(model, pixels, scene.surface))
    return rung


def advise_subdivision(model: VertexColours, pixels: Pixels, surface: Surface) -> str:
    """Which part of the triangles has most of the error: these are worth splitting."""
    light, _ = model.shade(pixels)
    error = np.abs(np.sqrt(np.maximum(light, 0)) - np.sqrt(np.maximum(pixels.light, 0))).sum(0)
    key = pixels.vertex.astype(np.int64)
    _, owner = np.unique(key[0] + (key[1] << 21) + (key[2] << 42), return_inverse=True)
    by_triangle = np.sort(np.bincount(owner, error))[::-1]
    half = int(np.searchsorted(np.cumsum(by_triangle), by_triangle.sum() / 2)) + 1
    total = len(surface.mesh.position)
    return (
        f"{half} of {total} triangles ({half / total:.0%}) have half of the error: "
        "split these to improve vertex colours"
    )


def _to_srgb(linear: Floats) -> Floats:
    from verdigris.core.pictures.picture_files import srgb_from_linear

    return srgb_from_linear(linear)
