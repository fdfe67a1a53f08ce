"""Fits all rungs of a material on a mesh, measures them, and writes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder import rungs as all_rungs
from verdigris.core.ladder.block_textures import compress_rung
from verdigris.core.ladder.image_fit import ImageFitSettings, Records
from verdigris.core.ladder.maps.occlusion import add_occlusion
from verdigris.core.ladder.maps.opacity import add_opacity
from verdigris.core.ladder.measure import (
    SUBPIXELS,
    HeldOut,
    Measured,
    bound_of_textures,
    measure_rung,
)
from verdigris.core.ladder.neural_rung import Neural, neural_rung
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, compiled, on_card
from verdigris.core.ladder.rungs import Rung, Scene
from verdigris.core.ladder.surface_rung.fit_surface import SurfaceFitSettings
from verdigris.core.ladder.surface_rung.fit_surface import on_card as surface_on_card
from verdigris.core.ladder.surface_rung.surface_rung import fit_surface_rung
from verdigris.core.ladder.time_rung import time_rung
from verdigris.core.ladder.views.records import reference_records
from verdigris.core.ladder.views.visibility import DeviceSurface, Seen, cameras_around, see
from verdigris.core.lighting.device_lighting import DeviceEnvironment
from verdigris.core.material.use_material import compile_material
from verdigris.core.pictures.environment_render import SHADE_ENVIRONMENT, EnvironmentLighting
from verdigris.core.settings.limits import BC7_FORMAT, RGBA8_FORMAT
from verdigris.core.settings.rung_names import (
    DETAIL,
    NEURAL,
    PBR,
    REFLECTION,
    RUNGS,
    SURFACE,
    UNLIT,
    VERTEX,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.importance.camera import Camera
    from verdigris.core.ladder.surface import Surface
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.teacher.teacher import Teacher

    Floats = NDArray[np.float32]
    OnProgress = Callable[[str, float], None]

LARGEST_TEXTURE = 4096
TEXTURE_FORMATS = RGBA8_FORMAT, BC7_FORMAT
_HELD_OUT_SEED = 1009
_UNLIT_PART = 5
# With more texels, views have more pixels: each texel should be seen a few times.
_FINE_SIZE, _FINE_VIEWS = 512, 512


@dataclass(frozen=True)
class LadderSettings:
    """Sizes and work."""

    size: int = 256
    """Texels a side of textures."""
    views: int = 24
    """Number of views to which rungs are fitted."""
    view_size: int = 256
    """Pixels a side of these."""
    samples: int = 16
    """Directions of light at each of their pixels."""
    responses: int = 1_000_000
    """Samples of the response, to which glTF textures are fitted."""
    steps: int = 500
    """Steps of the fit of glTF textures; unlit ones, which start near their end, take a fifth."""
    held_out: int = 8
    """Number of views that are only measured."""
    held_out_size: int = 128
    held_out_samples: int = 64
    seed: int = 1
    is_soft: bool = True
    """Whether bytes are fitted through soft quantisation."""

    texture_format: str = RGBA8_FORMAT
    """Of textures: one of TEXTURE_FORMATS."""

    def __post_init__(self) -> None:
        if self.texture_format not in TEXTURE_FORMATS:
            known = " or ".join(TEXTURE_FORMATS)
            raise SettingsError(f"texture_format is {self.texture_format!r}: use {known}")
        limits = {
            "size": (4, LARGEST_TEXTURE), "views": (1, 4096), "view_size": (16, 2048),
            "samples": (2, 4096), "responses": (1000, 1 << 28), "steps": (10, 1_000_000),
            "held_out": (1, 1024), "held_out_size": (16, 1024), "held_out_samples": (2, 4096),
        }  # fmt: skip
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}: use {least} to {most}")


@dataclass
class Ladder:
    """The result."""

    scene: Scene
    settings: LadderSettings
    rungs: list[Rung]
    measured: dict[str, Measured]
    held_out: HeldOut
    warnings: list[str]
    shared_seconds: dict[str, float]
    """Of what rungs share: compilation, views, reference pictures, held-out views, measures."""


def make_ladder(
    teacher: Teacher,
    surface: Surface,
    environment: Environment,
    names: Sequence[str],
    settings: LadderSettings | None = None,
    cameras: Sequence[Camera] = (),
    uv_set: str | None = None,
    importance: Floats | None = None,
    has_tiles: bool = False,
    neural: Neural | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Ladder:
    """Fits and measures the rungs of these names, as `check_rungs` returns them.

    `neural` is the bundle of the rung of that name. `importance` are painted weights in the first
    uv set, row 0 at v = 0. With `has_tiles`, unit squares of uv are UDIM tiles, and else a texture
    repeats.
    """
    settings = settings or LadderSettings()
    warnings = surface.warnings()
    shared: dict[str, float] = {}
    with _timed(shared, "mesh"):
        scene = _scene_of(teacher, surface, environment, names, uv_set, has_tiles)
    with _timed(shared, "compile"):
        _compile(scene, names)
    surface = scene.surface
    cameras = list(cameras) or cameras_around(
        surface, settings.views, settings.view_size, settings.seed
    )
    seen = []
    with _timed(shared, "views"):
        for number, camera in enumerate(cameras, 1):
            seen.append(see(scene.geometry, camera, number))
            on_progress("views", number / len(cameras))
    weights = _painted(seen, surface, importance)
    reference = None
    if any(name not in (NEURAL, SURFACE, PBR) for name in names):
        with _timed(shared, "reference pictures"):
            reference = reference_records(
                scene, seen, settings.samples, weights,
                lambda part: on_progress("reference pictures", part),
            )  # fmt: skip
    by_name: dict[str, Rung] = {}
    # glTF textures first: those of the surface shader may begin with them
    for name in sorted(names, key=SURFACE.__eq__):
        by_name[name] = _fit(
            name, scene, seen, settings, weights, neural, reference, by_name.get(PBR), on_progress
        )
    found = [by_name[name] for name in names]
    with _timed(shared, "occlusion and opacity"):
        add_opacity(found, scene, seen)
        add_occlusion(found, scene)
    if settings.texture_format == BC7_FORMAT:
        with _timed(shared, "blocks"):
            for rung in found:
                compress_rung(rung)
    held = cameras_around(
        surface,
        settings.held_out,
        SUBPIXELS * settings.held_out_size,
        settings.seed + _HELD_OUT_SEED,
    )
    with _timed(shared, "held-out views"):
        views = [see(scene.geometry, each, number) for number, each in enumerate(held, 1)]
        held_out = HeldOut.draw(
            scene, views, settings.held_out_samples,
            lambda part: on_progress("held-out views", part),
        )  # fmt: skip
    measured = {}
    with _timed(shared, "measure"):
        for number, rung in enumerate(found, 1):
            measured[rung.name] = measure_rung(rung, held_out)
            if rung.name == UNLIT:
                measured[UNLIT].bound = bound_of_textures(scene, held_out, rung.size)
            rung.nanoseconds = time_rung(rung, teacher.device)
            on_progress("measure", number / len(found))
    return Ladder(scene, settings, found, measured, held_out, warnings, shared)


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    begun = time.monotonic()
    yield
    seconds[name] = time.monotonic() - begun


def _compile(scene: Scene, names: Sequence[str]) -> None:
    """Compiles the large kernels, or finds them in the cache, before rungs are timed."""
    scene.teacher.kernel(SHADE_ENVIRONMENT, "shadeEnvironment")
    if PBR in names or SURFACE in names:
        compile_material(scene.teacher)
        compiled(scene.teacher.device)


def check_rungs(names: Sequence[str]) -> list[str]:
    """The names once each, in the order of RUNGS."""
    unknown = [name for name in names if name not in RUNGS]
    if unknown or not names:
        given = ", ".join(map(repr, unknown)) or "none"
        raise SettingsError(f"rungs: {given} is not known: choose of {', '.join(RUNGS)}")
    return [name for name in RUNGS if name in names]


def _fit(
    name: str,
    scene: Scene,
    seen: Sequence[Seen],
    settings: LadderSettings,
    weights: Sequence[Floats] | None,
    neural: Neural | None,
    reference: tuple[Records, NDArray[np.int64]] | None,
    pbr: Rung | None,
    on_progress: OnProgress,
) -> Rung:
    def show(part: float) -> None:
        on_progress(name, part)

    if name == NEURAL:
        if neural is None:
            raise SettingsError("the rung 'neural' needs a bundle: bake one with `verdigris bake`")
        return neural_rung(scene, neural)
    fit = FitSettings(steps=settings.steps, is_soft=settings.is_soft, seed=settings.seed)
    if not scene.teacher.device.is_software:
        fit = on_card(fit)
    if name == SURFACE:
        own = SurfaceFitSettings(is_soft=settings.is_soft)
        if not scene.teacher.device.is_software:
            own = surface_on_card(own)
        return fit_surface_rung(
            scene,
            seen,
            settings.size,
            settings.responses,
            own,
            settings.seed,
            weights,
            fit,
            pbr,
            show,
        )
    if name == PBR:
        return all_rungs.fit_pbr_rung(
            scene, seen, settings.size, settings.responses, fit, weights, show
        )
    image = ImageFitSettings(max(10, settings.steps // _UNLIT_PART), is_soft=settings.is_soft)
    assert reference is not None
    records, triangle = reference
    if name == VERTEX:
        return all_rungs.fit_vertex_rung(scene, records, triangle, image, show)
    fit_rung = {
        UNLIT: all_rungs.fit_unlit_rung,
        REFLECTION: all_rungs.fit_reflection_rung,
        DETAIL: all_rungs.fit_detail_rung,
    }[name]
    return fit_rung(scene, records, settings.size, image, show)


def _scene_of(
    teacher: Teacher,
    surface: Surface,
    environment: Environment,
    names: Sequence[str],
    uv_set: str | None,
    has_tiles: bool,
) -> Scene:
    first_set, atlas = surface.require_set(uv_set), None
    needs_unique = any(name in (UNLIT, REFLECTION, DETAIL) for name in names)
    if has_tiles and len(surface.reports[first_set].tiles) > 1:
        surface, atlas = surface.with_atlas(first_set)
        first_set = atlas.uv_set
    elif needs_unique and not surface.has_unique_set and surface.is_of_tiles(first_set):
        # light differs between tiles that share the material's textures
        surface, _ = surface.with_atlas(first_set)
    geometry = DeviceSurface(teacher.device, surface)
    lit_by = DeviceEnvironment.upload(teacher.device, environment)
    return Scene(
        teacher,
        geometry,
        EnvironmentLighting(lit_by, geometry.occluders),
        2.0**environment.exposure,
        first_set,
        surface.require_unique_set() if needs_unique else None,
        not teacher.is_dark_and_opaque,
        atlas,
    )


def _painted(
    seen: Sequence[Seen], surface: Surface, importance: Floats | None
) -> list[Floats] | None:
    """The painted weight of each pixel; their mean is 1."""
    if importance is None:
        return None
    height, width = importance.shape
    found = []
    for each in seen:
        uv = each.mixed(surface.sets[surface.painted_set or surface.first_set])
        u, v = (uv - np.floor(uv)).T
        row = np.minimum((v * height).astype(int), height - 1)
        column = np.minimum((u * width).astype(int), width - 1)
        found.append(importance[row, column])
    mean = float(np.concatenate(found).mean())
    if mean <= 0:
        raise SettingsError("the importance map is 0 wherever a camera looks: paint a seen place")
    return [np.asarray(each / mean, np.float32) for each in found]


def with_work(settings: LadderSettings, is_software: bool) -> LadderSettings:
    """The defaults of a device: a graphics card draws more samples in less time."""
    if is_software:
        return settings
    view_size = _FINE_VIEWS if settings.size > _FINE_SIZE else settings.view_size
    return replace(
        settings, samples=64, responses=4_000_000, view_size=view_size, held_out=64,
        held_out_size=256, held_out_samples=256,
    )  # fmt: skip
