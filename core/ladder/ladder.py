"""Fits all rungs of a material on a mesh, and measures them. A bake of the neural rung, files and
folders are the caller's (core/baking/fit_ladder.py)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.fit_rungs import RungFits
from verdigris.core.ladder.ladder_settings import LARGEST_ATLAS, LadderSettings
from verdigris.core.ladder.maps.occlusion import add_occlusion
from verdigris.core.ladder.maps.opacity import add_opacity
from verdigris.core.ladder.measure.measure_rung import (
    SUBPIXELS,
    HeldOut,
    Measured,
    bound_of_textures,
    measure_rung,
)
from verdigris.core.ladder.measure.time_rung import time_rung
from verdigris.core.ladder.neural_rung import Neural
from verdigris.core.ladder.pbr.fit_pbr import compiled
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.textures.block_textures import compress_rung
from verdigris.core.ladder.unlit.records import reference_records
from verdigris.core.ladder.views.scene import FitViews, Scene, painted_weights
from verdigris.core.ladder.views.visibility import (
    DeviceSurface,
    Seen,
    back_warnings,
    cameras_around,
    see,
)
from verdigris.core.lighting.device_lighting import DeviceEnvironment
from verdigris.core.material.evaluator import compile_material
from verdigris.core.pictures.environment_render import SHADE_ENVIRONMENT, EnvironmentLighting
from verdigris.core.settings.bake_settings import BC7_FORMAT
from verdigris.core.settings.rung_names import (
    DETAIL,
    NEURAL,
    PBR,
    REFLECTION,
    SURFACE,
    UNLIT,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.importance.camera import Camera
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.teacher.teacher import Teacher

    Floats = NDArray[np.float32]
    OnProgress = Callable[[str, float], None]

# Beside the seed of the views to which rungs are fitted.
_HELD_OUT_SEED = 1009


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
    neural: Callable[[], Neural] | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Ladder:
    """Fits and measures the rungs of these names, as `check_rungs` returns them.

    `neural` bakes or opens the bundle of the rung of that name, once a fault of the mesh or of the
    cameras would have been found. `importance` are painted weights in the first
    uv set, row 0 at v = 0. With `has_tiles`, unit squares of uv are UDIM tiles, and else a texture
    repeats.
    """
    settings = settings or LadderSettings()
    warnings = surface.warnings()
    shared: dict[str, float] = {}
    with _timed(shared, "mesh"):
        scene = _scene_of(teacher, surface, environment, names, uv_set, has_tiles)
    _check_atlas(scene, settings)
    with _timed(shared, "compile"):
        _compile(scene, names)
    with _timed(shared, "views"):
        seen = _see_views(scene, cameras, settings, on_progress)
    warnings += back_warnings(seen)
    weights = None if importance is None else painted_weights(seen, scene.surface, importance)
    views = FitViews(scene, seen, weights)
    reference = None
    if any(name not in (NEURAL, SURFACE, PBR) for name in names):
        with _timed(shared, "reference pictures"):
            reference = reference_records(
                views, settings.samples, lambda part: on_progress("reference pictures", part)
            )
    fits = RungFits(views, settings, reference, neural, on_progress)
    # glTF textures first: those of the surface shader may begin with them
    by_name = {name: fits.fit(name) for name in sorted(names, key=SURFACE.__eq__)}
    rungs = [by_name[name] for name in names]
    with _timed(shared, "occlusion and opacity"):
        add_opacity(rungs, scene, seen)
        add_occlusion(rungs, scene)
    if settings.texture_format == BC7_FORMAT:
        with _timed(shared, "blocks"):
            for rung in rungs:
                compress_rung(rung)
    with _timed(shared, "held-out views"):
        held_out = _held_out(scene, settings, lambda part: on_progress("held-out views", part))
    with _timed(shared, "measure"):
        measured = _measure(rungs, scene, held_out, on_progress)
    return Ladder(scene, settings, rungs, measured, held_out, warnings, shared)


def _check_atlas(scene: Scene, settings: LadderSettings) -> None:
    """Refuses tiles that would make one texture too large to fit."""
    side = settings.size * scene.tiles_a_side
    if scene.tiles_a_side > 1 and side > LARGEST_ATLAS:
        raise SettingsError(
            f"size is {settings.size}, and {scene.tiles_a_side} tiles a side of "
            f"{scene.surface.name} would make one texture of {side}: use at most "
            f"{LARGEST_ATLAS // scene.tiles_a_side}"
        )


def _see_views(
    scene: Scene, cameras: Sequence[Camera], settings: LadderSettings, on_progress: OnProgress
) -> list[Seen]:
    """The visibility buffers of the given cameras, or of some around the mesh."""
    cameras = list(cameras) or cameras_around(
        scene.surface, settings.views, settings.view_size, settings.seed
    )
    seen = []
    for number, camera in enumerate(cameras, 1):
        seen.append(see(scene.geometry, camera, number))
        on_progress("views", number / len(cameras))
    return seen


def _measure(
    rungs: Sequence[Rung], scene: Scene, held_out: HeldOut, on_progress: OnProgress
) -> dict[str, Measured]:
    """Errors and times of the rungs, by name."""
    measured = {}
    for number, rung in enumerate(rungs, 1):
        measured[rung.name] = measure_rung(rung, held_out)
        if rung.name == UNLIT:
            measured[UNLIT].bound = bound_of_textures(scene, held_out, rung.size)
        rung.nanoseconds = time_rung(rung, scene.teacher.device)
        on_progress("measure", number / len(rungs))
    return measured


def _held_out(
    scene: Scene, settings: LadderSettings, on_progress: Callable[[float], None]
) -> HeldOut:
    size, seed = SUBPIXELS * settings.held_out_size, settings.seed + _HELD_OUT_SEED
    cameras = cameras_around(scene.surface, settings.held_out, size, seed)
    seen = [see(scene.geometry, each, number) for number, each in enumerate(cameras, 1)]
    return HeldOut.draw(scene, seen, settings.held_out_samples, on_progress)


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
