"""The rungs of a ladder: how each is fitted, what it stores, and how it is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.ladder.image_fit import (
    ImageFit,
    ImageFitSettings,
    Model,
    Records,
    fit_model,
)
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, fit_pbr
from verdigris.core.ladder.pbr.lit_pixels import LitPixels
from verdigris.core.ladder.pbr.pbr_material import PbrMaterial
from verdigris.core.ladder.texels import Grid, fill_holes, quantise
from verdigris.core.ladder.tone_curve import CLAMP, ToneCurve, fit_curve
from verdigris.core.ladder.unlit_models import (
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
    mirror_directions,
)
from verdigris.core.ladder.views.records import records_of
from verdigris.core.ladder.views.reference import (
    draw_responses,
    emission_at,
    light_of,
    without_coverage,
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
    from verdigris.core.ladder.views.visibility import DeviceSurface, Seen
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.pictures.environment_render import EnvironmentLighting

    Floats = NDArray[np.float32]
    Progress = Callable[[float], None]

# Sides of the reflection map, and how much smaller colours are than detail.
MIRROR_SIDE, COLOUR_DIVISOR = 64, 2
_START_SHARE = 0.15
# The part of the mean light that the texture of a reflection rung starts with.
_UNMOVED = 0.6
# Bytes of a texel of each layer of an extension.
_LAYER_BYTES = {"coat": 2, "anisotropy": 3, "sheen": 4}


@dataclass(frozen=True)
class Scene:
    """What rungs are fitted to and drawn in."""

    teacher: Teacher
    geometry: DeviceSurface
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
    def surface(self) -> Surface:
        return self.geometry.surface

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
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    samples = draw_responses(
        scene.teacher, seen, scene.first_set, count, settings.seed, weights,
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
        light = light_of(material, each, scene.lighting, directions, scene.first_set)[:, :3]
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
    lights = [
        without_coverage(emission_at(scene.teacher, each), np.ones(each.count, np.float32))[0]
        for each in seen
    ]
    largest = max(float(each.max()) for each in lights) or 1.0
    grid = start_texture(records_of(seen, lights, scene.first_set), CLAMP, size, 1 / largest)
    grid.values *= np.float32(largest)
    return grid


def _image_rung(
    name: str,
    scene: Scene,
    model: Model,
    records: Records,
    settings: ImageFitSettings,
    on_progress: Progress,
    begun: float,
    size: int,
    stored: dict[str, Any],
) -> Rung:
    fit_model(model, records, settings, on_progress)

    def draw(each: Seen, _: int) -> Floats:
        light = np.zeros((each.count, 3), np.float32)
        return ImageFit(model, records_of([each], [light], scene.unique_set)).shade()

    count = sum(each.grid.values.size for each in model.reads)
    return Rung(name, size, count, time.monotonic() - begun, draw, {"model": model, **stored})


def fit_unlit_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress,
    curve: ToneCurve | None = None,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    curve = curve or records.curve
    model = OneTexture(start_texture(records, curve, size), curve)
    return _image_rung(
        UNLIT, scene, model, records, settings, on_progress, begun, size, {"curve": curve}
    )


def start_texture(records: Records, curve: ToneCurve, size: int, factor: float = 1.0) -> Grid:
    """A square texture with the mean stored light of each texel, and filled holes."""
    grid = Grid.of(size, size, np.full(3, 0.5))
    start_from_means(grid, ImageFit(OneTexture(grid, curve), records).means(factor))
    return grid


def start_from_means(grid: Grid, found: tuple[Floats, Floats]) -> None:
    """Sets texels to means, and fills those that no pixel touched."""
    means, weight = found
    seen = weight > 1e-6
    grid.values[seen] = means[seen, : grid.channels]
    fill_holes(grid, seen)


def fit_reflection_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """The texture starts with the light that does not move, the map with the environment."""
    begun = time.monotonic()
    curve = records.curve
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
    texture = start_texture(records, curve, size, _UNMOVED)
    share = Grid.of(size, size, np.full(3, _START_SHARE))
    model = WithReflection(texture, share, mirror, curve, mirror_curve)
    stored = {"curve": curve, "mirror_curve": mirror_curve}
    return _image_rung(
        REFLECTION, scene, model, records, settings, on_progress, begun, size, stored
    )


def fit_detail_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """Colours start with the mean light, and detail with the rest."""
    begun = time.monotonic()
    curve = records.curve
    low = max(4, size // COLOUR_DIVISOR)
    colour = start_texture(records, curve, low)
    size *= scene.tiles_a_side
    detail = Grid.of(size, size, np.full(1, 0.5))
    model = DetailAndColour(detail, colour, curve)
    start_from_means(detail, ImageFit(model, records).means())
    return _image_rung(
        DETAIL, scene, model, records, settings, on_progress, begun, size, {"curve": curve}
    )


def fit_vertex_rung(
    scene: Scene,
    records: Records,
    triangle: NDArray[np.int64],
    settings: ImageFitSettings,
    on_progress: Progress,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    _, count = scene.surface.vertices
    curve = records.curve
    colours = Grid(count, 1, np.full((count, 3), 0.5, np.float32))
    model = VertexColours(colours, curve)
    means, weight = ImageFit(model, records).means()
    seen = weight > 1e-6
    colours.values[:] = np.where(seen[:, None], means, means[seen].mean(0))
    rung = _image_rung(
        VERTEX, scene, model, records, settings, on_progress, begun, count, {"curve": curve}
    )
    unseen = int((~seen).sum())
    if unseen:
        rung.notes.append(f"{unseen} of {count} vertices are seen by no camera")
    total = len(scene.surface.mesh.position)
    rung.notes.append(advise_subdivision(model, records, triangle, total))
    return rung


def advise_subdivision(
    model: VertexColours, records: Records, triangle: NDArray[np.int64], total: int
) -> str:
    """Which part of the triangles has most of the error: these are worth splitting."""
    light = ImageFit(model, records).shade()
    error = np.abs(np.sqrt(np.maximum(light, 0)) - np.sqrt(np.maximum(records.light, 0))).sum(1)
    by_triangle = np.sort(np.bincount(triangle, error))[::-1]
    half = int(np.searchsorted(np.cumsum(by_triangle), by_triangle.sum() / 2)) + 1
    return (
        f"{half} of {total} triangles ({half / total:.0%}) have half of the error: "
        "split these to improve vertex colours"
    )


def _to_srgb(linear: Floats) -> Floats:
    from verdigris.core.pictures.picture_files import srgb_from_linear

    return srgb_from_linear(linear)
