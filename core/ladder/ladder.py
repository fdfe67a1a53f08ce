"""Fits all rungs of a material on a mesh, and measures them. The caller bakes the neural rung and
handles files and folders (core/baking/fit_ladder.py)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.fitting.maps import Coverage
from verdigris.core.ladder.fitting.records import reference_records
from verdigris.core.ladder.ladder_settings import LARGEST_ATLAS, LadderSettings
from verdigris.core.ladder.measure.measure_rung import (
    SUBPIXELS,
    HeldOut,
    Measured,
    bound_of_textures,
    measure_rung,
)
from verdigris.core.ladder.measure.time_rung import time_rung
from verdigris.core.ladder.rungs.neural import Neural
from verdigris.core.ladder.rungs.registry import require_rungs
from verdigris.core.ladder.rungs.rung import Rung, RungFits
from verdigris.core.ladder.surface_shader.displacement import find_displacement
from verdigris.core.ladder.texels.displacement import DISPLACEMENT, Displacement
from verdigris.core.ladder.views.scene import FitViews, Scene, painted_weights
from verdigris.core.ladder.views.visibility import Seen, back_warnings, cameras_around, see

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.importance.camera import Camera
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.teacher.teacher import Teacher

    OnProgress = Callable[[str, float], None]

_DISPLACED = (
    "the displacement is in {}, which the USD and surface.mtlx read; glTF has no displacement: "
    "displace its mesh by this image. Rungs are fitted to the mesh as it is"
)
# Added to the seed of the views to which rungs are fitted.
_HELD_OUT_SEED = 1009


@dataclass
class Ladder:
    """A fitted and measured ladder."""

    scene: Scene
    settings: LadderSettings
    rungs: list[Rung]
    measured: dict[str, Measured]
    held_out: HeldOut
    warnings: list[str]
    displacement: Displacement | None
    shared_seconds: dict[str, float]
    """Seconds of the work that rungs share: compilation, views, reference pictures, held-out views,
    measurements."""


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
    find_bundle: Callable[[], Neural] | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Ladder:
    """Fits and measures the rungs with these names.

    `find_bundle` bakes or opens the bundle of the neural rung, after the mesh and the cameras are
    checked. `importance` holds painted weights in the first uv set, row 0 at v = 0. With
    `has_tiles`, unit squares of uv are UDIM tiles; otherwise a texture repeats.
    """
    kinds, settings = require_rungs(names), settings or LadderSettings()
    warnings = surface.warnings()
    shared: dict[str, float] = {}
    with _timed(shared, "mesh"):
        needs_unique = any(kind.needs_unique_set for kind in kinds)
        scene = Scene.build(teacher, surface, environment, uv_set, needs_unique, has_tiles)
    _check_atlas(scene, settings)
    with _timed(shared, "compile"):
        scene.compile()
        for kind in kinds:
            kind.compile(teacher)
    with _timed(shared, "views"):
        seen = _see_views(scene, cameras, settings, on_progress)
    warnings += back_warnings(seen)
    weights = None if importance is None else painted_weights(seen, scene.surface, importance)
    views = FitViews(scene, seen, weights)
    records = None
    if not all(kind.is_lit for kind in kinds):
        with _timed(shared, "reference pictures"):
            records = reference_records(
                views, settings.samples, lambda part: on_progress("reference pictures", part)
            )
    fits = RungFits(views, settings, records, find_bundle, on_progress)
    for kind in sorted(kinds, key=lambda kind: kind.is_fitted_last):
        fits.fit(kind)
    rungs = [fits.fitted[kind.name] for kind in kinds]
    with _timed(shared, "occlusion and opacity"):
        coverage = Coverage.find(scene, seen)
        for rung in rungs:
            if coverage is not None:
                rung.add_opacity(coverage)
            rung.add_maps(scene)
    displacement = None
    if any(kind.is_lit and kind.is_on_material_set for kind in kinds):
        with _timed(shared, DISPLACEMENT):
            displacement, notes = find_displacement(scene, settings.size * scene.tiles_a_side)
        warnings += notes
    if displacement is not None:
        warnings.append(_DISPLACED.format(displacement.file))
        for rung in rungs:
            rung.add_displacement(displacement)
    if settings.has_blocks:
        with _timed(shared, "blocks"):
            for rung in rungs:
                rung.compress()
    with _timed(shared, "held-out views"):
        held_out = _held_out(scene, settings, lambda part: on_progress("held-out views", part))
    with _timed(shared, "measure"):
        measured = _measure(rungs, scene, held_out, on_progress)
    return Ladder(scene, settings, rungs, measured, held_out, warnings, displacement, shared)


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
    """The visibility buffers of the given cameras. Without cameras, some are placed around the
    mesh."""
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
        if rung.has_bound:
            measured[rung.name].bound = bound_of_textures(scene, held_out, rung.size)
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
