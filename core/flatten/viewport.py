"""Writes flattened textures as PNG files, for viewports that cannot evaluate a neural material.

They are small and trained briefly, enough to recognise a material while lighting a scene. The
conversion to base colour and metalness is exact if a metallic-roughness shader can represent the
values.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.flatten.flat_model import ALBEDO, F0, NORMAL, ROUGHNESS, stored_normal
from verdigris.core.hosts.host import BASE_COLOR, EMISSION, METALNESS, NORMAL_MAP, OPACITY
from verdigris.core.hosts.host import ROUGHNESS as ROUGHNESS_MAP
from verdigris.core.material.teacher.unlit_maps import UnlitMaps, levels
from verdigris.core.progress.events import FLATTENING, Event, Phase, Step

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.unlit_maps import Floats
    from verdigris.core.network.parameters import FloatArray
    from verdigris.core.settings.bake_settings import BakeSettings

LARGEST_SIDE = 256
MOST_STEPS = 1_500
LARGEST_BATCH = 4_096
# F0 of a metallic-roughness shader at metalness 0.
DIELECTRIC_F0 = 0.04
_COLOURS = (BASE_COLOR, EMISSION)
BASE_TEXTURES = (BASE_COLOR, ROUGHNESS_MAP, METALNESS, NORMAL_MAP)
"""The textures that every material has."""
_KINDS = (*BASE_TEXTURES, EMISSION, OPACITY)
# The smallest opacity above 0 in eight bits.
_LEAST_COVERAGE = 1 / 255
_EVENT_SECONDS = 0.2


def viewport_settings(settings: BakeSettings) -> BakeSettings:
    """The settings of a bake, reduced to what a viewport shows."""
    return replace(
        settings,
        resolution=min(settings.resolution, LARGEST_SIDE),
        iterations=min(settings.iterations, MOST_STEPS),
        batch=min(settings.batch, LARGEST_BATCH),
    )


def texture_paths(bundle: Path) -> dict[str, Path]:
    """The paths of all possible textures beside a bundle, by kind."""
    return {kind: bundle.with_name(f"{bundle.stem}_{kind}.png") for kind in _KINDS}


def viewport_textures(
    teacher: DeviceMaterial, settings: BakeSettings, bundle: Path, unlit: UnlitMaps
) -> Generator[Event, None, dict[str, str]]:
    """Fits textures and writes them beside a bundle, with its emission and opacity maps. Yields
    events of the progress, and returns the paths by kind."""
    from verdigris.core.flatten.fit import flattening

    settings = viewport_settings(settings)
    yield Phase(FLATTENING, 1, 1)
    steps, done = flattening(teacher, settings), 0
    begun = reported = time.monotonic()
    while True:
        try:
            loss = next(steps)
        except StopIteration as end:
            textures = end.value
            break
        done += 1
        now = time.monotonic()
        if now - reported > _EVENT_SECONDS or done == settings.iterations:
            reported, spent = now, now - begun
            rate = done * settings.batch / max(spent, 1e-9)
            left = (settings.iterations - done) * spent / done
            yield Step(done, settings.iterations, loss, rate, spent, left)
    small = UnlitMaps(_shrunk(unlit.emission), _shrunk(unlit.coverage))
    return write_textures(textures.level(0), small, bundle)


def write_textures(texels: FloatArray, unlit: UnlitMaps, bundle: Path) -> dict[str, str]:
    """Writes texels [height, width, 9] and maps of the same size as images beside a bundle. Row 0
    is at v = 0. Colours are in sRGB, other values are linear; green of the normal grows with v.

    Emission is clipped at 1, because it is a preview and not a light. Shaders multiply colours by
    the opacity, so colours are divided by it here.
    """
    from verdigris.core.pictures.picture_files import write_data, write_picture

    emission, coverage = unlit
    solid = 1 if coverage is None else np.maximum(coverage, _LEAST_COVERAGE)[..., None]
    base, metalness = metallic_from(texels[..., ALBEDO] / solid, texels[..., F0] / solid)
    normal = np.moveaxis(stored_normal(np.moveaxis(texels[..., NORMAL], -1, 0)), 0, -1)
    images = {
        BASE_COLOR: base,
        ROUGHNESS_MAP: texels[..., ROUGHNESS, None],
        METALNESS: metalness[..., None],
        NORMAL_MAP: 0.5 + 0.5 * normal,
        **({} if emission is None else {EMISSION: emission / solid}),
        **({} if coverage is None else {OPACITY: coverage[..., None]}),
    }
    paths = texture_paths(bundle)
    for kind, values in images.items():
        write = write_picture if kind in _COLOURS else write_data
        write(paths[kind], np.ascontiguousarray(values[::-1], np.float32))
    return {kind: str(paths[kind]) for kind in images}


def _shrunk(finest: Floats | None) -> Floats | None:
    """The finest mip level of a map with the size of a viewport texture."""
    if finest is None:
        return None
    return next(level for level in levels(finest) if max(level.shape[:2]) <= LARGEST_SIDE)


def metallic_from(albedo: FloatArray, f0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Base colour [..., 3] and metalness [...] for a diffuse albedo and an F0.

    With t = 1 - metalness they are albedo = t base and F0 = 0.04 t + (1 - t) base, so that
    base = albedo + F0 - 0.04 t, and 0.04 t^2 - (albedo + F0) t + albedo = 0 for means of colours.
    """
    both, diffuse = (albedo + f0).mean(-1), albedo.mean(-1)
    root = np.sqrt(np.maximum(both**2 - 4 * DIELECTRIC_F0 * diffuse, 0))
    rest = np.clip(2 * diffuse / np.maximum(both + root, 1e-6), 0, 1)
    base = np.clip(albedo + f0 - DIELECTRIC_F0 * rest[..., None], 0, 1)
    return base, 1 - rest
