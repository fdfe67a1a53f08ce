"""The displacement of a material as a texture beside those of its inputs.

A height is `scale * (value - midlevel)`, in world units along the normal, with a value from 0 to 1:
what a bundle stores, and what `verdigris export` writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.outputs import write_own_file
from verdigris.core.bundle.effect_images import encode_heights

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from verdigris.core.base.array_types import FloatArray

DISPLACEMENT = "displacement"
_STEPS = 65535


@dataclass(frozen=True)
class Displacement:
    """Heights of a material in the uv set of its textures."""

    scale: float
    """Height in world units between the values 0 and 1."""
    midlevel: float
    """The value of the mesh itself; may be below 0 or above 1."""
    values: FloatArray = field(compare=False, repr=False)
    """[height, width] from 0 to 1, row 0 at v = 0."""
    file: str = f"{DISPLACEMENT}.png"
    """The image in the folder of the ladder. For UDIM tiles, documents read `tiles` instead."""
    tiles: str = ""

    def facts(self) -> dict[str, Any]:
        """The entry of a report."""
        tiles = {"tiles": self.tiles} if self.tiles else {}
        return {"file": self.file, **tiles, "scale": self.scale, "midlevel": self.midlevel}

    def write(self, folder: Path, parts: Mapping[int, tuple[int, int, int]]) -> None:
        """Writes the image with 16 bits, and each UDIM tile: `parts` has the left, the bottom and
        the side of each in texels."""
        _write(folder / self.file, self.values)
        for number, (left, bottom, side) in parts.items():
            tile = self.values[bottom : bottom + side, left : left + side]
            _write(folder / self.tiles.replace("<UDIM>", str(number)), tile)


def _write(path: Path, values: FloatArray) -> None:
    texels = np.rint(np.clip(values[::-1], 0, 1) * _STEPS).astype(np.uint16)
    write_own_file(path, encode_heights(texels))
