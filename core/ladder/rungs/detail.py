"""The rung of one channel of detail at a high resolution, times colours at a low one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.hosts.ladder_looks import COLOUR_SHOWN, SHOWN_SCALE
from verdigris.core.ladder.fitting.image_fit import (
    BY_FIRST_UV,
    BY_UNIQUE_UV,
    ImageFit,
    Read,
    Records,
)
from verdigris.core.ladder.fitting.records import mean_texture, start_from_means
from verdigris.core.ladder.rungs.light_document import DETAIL_SCALE, OPACITY
from verdigris.core.ladder.rungs.rung import Preview, PreviewTexture, Timing, Written
from verdigris.core.ladder.rungs.stored_light import TO_LIGHT, StoredLight
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.images import RungImage
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.scene import Scene

# The size of detail, divided by the size of colours.
_COLOUR_DIVISOR = 2
# Light above this is clipped for viewers: bytes in sRGB would show steps in the dark.
_LARGEST_SHOWN = 4.0


@dataclass
class DetailAndColour:
    """Luminance at a high resolution times colours at a low one."""

    detail: Grid
    colour: Grid
    curve: ToneCurve
    kind = 2

    @property
    def reads(self) -> Sequence[Read]:
        return Read(self.detail, BY_FIRST_UV, 3), Read(self.colour, BY_UNIQUE_UV, 0)

    @property
    def curves(self) -> tuple[ToneCurve, ToneCurve]:
        return self.curve, self.curve


@dataclass
class DetailRung(StoredLight):
    """Detail on the uv set of the material, times colours on that of light."""

    name = "detail"
    title = "Detail and low colours"
    use = "Phone"
    stores = "one channel of detail and low colours"
    cost = "2 texture reads, 1 division"
    snippet = f"""{TO_LIGHT}
float d = texture(detailMap, uv0).r;
vec3 light = 4.0 * d * d * toLight(texture(colourMap, uv1).rgb, curve);
"""
    needs_unique_set = True
    is_on_material_set = True
    opacity_place = BY_FIRST_UV
    tiled = (OPACITY, "detail")

    model: DetailAndColour

    @classmethod
    def start(cls, scene: Scene, records: Records, size: int) -> DetailAndColour:
        """Colours start with the mean light, and detail with the rest."""
        colour = mean_texture(records, records.curve, max(4, size // _COLOUR_DIVISOR))
        size *= scene.tiles_a_side
        detail = Grid.of(size, size, np.full(1, 0.5))
        model = DetailAndColour(detail, colour, records.curve)
        start_from_means(detail, ImageFit(model, records).means())
        return model

    def grids(self) -> dict[str, Grid]:
        return {"detail": self.model.detail, "colour": self.model.colour}

    def images(self) -> dict[str, RungImage]:
        shown = quantise(srgb_from_linear(self._light / self._shown_scale))
        found = {
            **super().images(),
            COLOUR_SHOWN: RungImage(shown, is_srgb=True, is_for_viewers=True),
        }
        if self.opacity is not None:
            found[OPACITY] = RungImage(self.opacity.grid.image)
        return found

    def numbers(self) -> dict[str, Any]:
        return {
            **super().numbers(), "detail_scale": DETAIL_SCALE, SHOWN_SCALE: self._shown_scale,
        }  # fmt: skip

    @property
    def _light(self) -> NDArray[np.floating]:
        """The light of the colours, (height, width, 3)."""
        return self.model.curve.to_light(self.model.colour.image)

    @property
    def _shown_scale(self) -> float:
        """The light that 1 stands for in the colours for viewers."""
        return round(float(np.clip(self._light.max(), 1, _LARGEST_SHOWN)), 4)

    def replace_texels(self, decoded: Mapping[str, NDArray[np.floating]]) -> None:
        super().replace_texels(decoded)
        self.replace_opacity(decoded.get(OPACITY))

    def timing(self) -> Timing:
        return replace(super().timing(), maps=("colour", "detail"))

    def preview(self, written: Written) -> Preview:
        """The colours alone: a preview surface cannot multiply textures."""
        files, alpha = written.files, None
        if written.has_alpha:
            alpha = PreviewTexture("opacity", files[OPACITY], "r", "Float", is_srgb=False)
        scale = written.numbers.get(SHOWN_SCALE)
        light = PreviewTexture(
            "emissiveColor", files[COLOUR_SHOWN], is_on_light_set=True, scale=scale
        )
        return Preview((), alpha, light)
