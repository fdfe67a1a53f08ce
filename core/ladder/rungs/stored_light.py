"""Rungs that store light: an engine shows it without lighting.

This module contains what they share, and the simplest one, a single texture.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from verdigris.core.ladder.fitting.image_fit import (
    ImageFit,
    ImageFitSettings,
    Model,
    OneTexture,
    Records,
    fit_model,
)
from verdigris.core.ladder.fitting.records import mean_texture, records_of
from verdigris.core.ladder.rungs.light_document import light_document
from verdigris.core.ladder.rungs.rung import SHOWN, Rung, RungFits, Timing, Written
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.images import RungImage
from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen


LIGHT = "light"
"""The use of the image that holds light, and opacity in its alpha."""
TO_LIGHT = """vec3 toLight(vec3 stored, vec3 abc)
{
    return stored / ((abc.z * stored + abc.x) * stored + abc.y);
}
"""
"""GLSL of a tone curve: the numbers of `curve` are a, b and c."""
# Fits of stored light start near their end and take this part of the steps of glTF textures.
_PART_OF_STEPS, _LEAST_STEPS = 5, 10


@dataclass
class StoredLight(Rung):
    """A rung of stored light. Subclasses give the start of the fit and the uses of the grids."""

    model: Model
    """The stored values as they are fitted."""

    @classmethod
    def start(cls, scene: Scene, records: Records, size: int) -> Model:
        """The model with which a fit to pixels begins."""
        raise NotImplementedError

    @classmethod
    def fit(cls, fits: RungFits) -> Self:
        begun = time.monotonic()
        assert fits.records is not None
        scene, records, settings = fits.views.scene, fits.records, fits.settings
        model = cls.start(scene, records, settings.size)
        steps = max(_LEAST_STEPS, settings.steps // _PART_OF_STEPS)
        work = ImageFitSettings(steps, is_soft=settings.is_soft)
        fit_model(model, records, work, partial(fits.on_progress, cls.name))

        def draw(each: Seen, _: int) -> Floats:
            light = np.zeros((each.count, 3), np.float32)
            places = records_of([each], [light], scene.unique_set, first_set=scene.first_set)
            return ImageFit(model, places).shade()

        count = sum(each.grid.values.size for each in model.reads)
        return cls(
            model, size=model.reads[0].grid.width, byte_size=count,
            seconds=time.monotonic() - begun, draw=draw,
        )  # fmt: skip

    def grids(self) -> dict[str, Grid]:
        """The textures by the uses of their images."""
        return {}

    def shown(self) -> RungImage | None:
        """The light of the first texture as sRGB, clipped at 1."""
        found = self.grids().get(LIGHT)
        if found is None:
            return None
        pixels = quantise(srgb_from_linear(self.model.curve.to_light(found.image)))
        return RungImage(self.with_alpha(pixels), is_srgb=True, is_for_viewers=True)

    def images(self) -> dict[str, RungImage]:
        found = {use: RungImage(grid.image) for use, grid in self.grids().items()}
        if LIGHT in found:
            found[LIGHT] = RungImage(self.with_alpha(found[LIGHT].pixels))
        shown = self.shown()
        return found if shown is None else {**found, SHOWN: shown}

    def numbers(self) -> dict[str, Any]:
        return {**super().numbers(), "curve": self.model.curve.as_json()}

    def replace_texels(self, decoded: Mapping[str, NDArray[np.floating]]) -> None:
        for use, grid in self.grids().items():
            grid.values[:] = decoded[use][..., : grid.channels].reshape(grid.values.shape)
        self.replace_opacity(decoded.get(LIGHT))

    def networks(self, written: Written, uv_sets: tuple[str, str]) -> dict[str, str]:
        return {self.name: light_document(written.files, written.numbers, uv_sets)}

    def timing(self) -> Timing:
        return Timing("timeLight", tuple(self.grids()), self.model.kind, self.model.curves)


@dataclass
class UnlitRung(StoredLight):
    """One texture of light on a uv set without overlaps."""

    name = "unlit"
    title = "One unlit texture"
    use = "Older phone"
    stores = "one texture"
    cost = "1 texture read, 1 division"
    snippet = f"""{TO_LIGHT}
vec3 light = toLight(texture(lightMap, uv1).rgb, curve);
"""
    needs_unique_set = True
    has_bound = True

    model: OneTexture

    @classmethod
    def start(cls, scene: Scene, records: Records, size: int) -> OneTexture:
        return OneTexture(mean_texture(records, records.curve, size), records.curve)

    def grids(self) -> dict[str, Grid]:
        return {LIGHT: self.model.texture}
