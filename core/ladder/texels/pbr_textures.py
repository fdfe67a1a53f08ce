"""The textures of a glTF material that a fit has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import linear_from_srgb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.texels.grid import Grid

    Floats = NDArray[np.floating]


@dataclass
class PbrTextures:
    """All textures of one size, in steps of a byte."""

    grid: Grid
    """Texels as pbr_model.py has them."""
    layers: tuple[str, ...]
    """Of `pbr_model.LAYERS`, those that the texels use."""
    emission: Grid | None = None
    """In sRGB."""
    strength: float = 1.0
    """Factor of the emission."""
    occlusion: Grid | None = None

    @property
    def linear_emission(self) -> Floats | None:
        """Emission (texels, 3) as light, if there is any."""
        if self.emission is None:
            return None
        return np.asarray(linear_from_srgb(self.emission.values) * self.strength)
