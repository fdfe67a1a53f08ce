"""Fits the rungs of a ladder by their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.neural_rung import Neural, neural_rung
from verdigris.core.ladder.pbr import fit_pbr
from verdigris.core.ladder.pbr.fit_pbr import FitSettings
from verdigris.core.ladder.pbr.pbr_rung import fit_pbr_rung
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.surface_shader import fit_surface
from verdigris.core.ladder.surface_shader.fit_surface import SurfaceFitSettings
from verdigris.core.ladder.surface_shader.surface_rung import fit_surface_rung
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.ladder.unlit.image_fit import ImageFitSettings, Records
from verdigris.core.ladder.unlit.unlit_rungs import fit_unlit_rung
from verdigris.core.ladder.views.scene import FitViews
from verdigris.core.settings.rung_names import NEURAL, PBR, SURFACE

# Rungs that store light start near their end, and take this part of the steps of glTF textures.
_UNLIT_PART, _LEAST_STEPS = 5, 10


@dataclass
class RungFits:
    """What all rungs of a ladder are fitted with."""

    views: FitViews
    settings: LadderSettings
    reference: Records | None
    """Pixels with their light, for rungs that store light; None without these."""
    neural: Callable[[], Neural] | None
    """Bakes or opens the bundle of the rung of this name."""
    on_progress: Callable[[str, float], None]
    pbr: PbrTextures | None = None
    """Those of the rung of this name, once it is fitted: the surface shader may start with them."""

    def fit(self, name: str) -> Rung:
        """The fitted rung of this name."""
        show = partial(self.on_progress, name)
        settings, scene = self.settings, self.views.scene
        if name == NEURAL:
            if self.neural is None:
                raise SettingsError(
                    "the rung 'neural' needs a bundle: bake one with `verdigris bake`"
                )
            return neural_rung(scene, self.neural())
        if name == PBR:
            rung = fit_pbr_rung(
                self.views, settings.size, settings.responses, self._pbr_settings(), show
            )
            assert isinstance(rung.stored, PbrTextures)
            self.pbr = rung.stored
            return rung
        if name == SURFACE:
            return fit_surface_rung(
                self.views, settings.size, settings.responses, self._surface_settings(), self.pbr,
                show,
            )  # fmt: skip
        assert self.reference is not None
        steps = max(_LEAST_STEPS, settings.steps // _UNLIT_PART)
        image = ImageFitSettings(steps, is_soft=settings.is_soft)
        return fit_unlit_rung(name, scene, self.reference, settings.size, image, show)

    @property
    def _is_software(self) -> bool:
        return self.views.scene.teacher.device.is_software

    def _pbr_settings(self) -> FitSettings:
        given = self.settings
        found = FitSettings(steps=given.steps, is_soft=given.is_soft, seed=given.seed)
        return found if self._is_software else fit_pbr.on_card(found)

    def _surface_settings(self) -> SurfaceFitSettings:
        found = SurfaceFitSettings(is_soft=self.settings.is_soft, pbr=self._pbr_settings())
        return found if self._is_software else fit_surface.on_card(found)
