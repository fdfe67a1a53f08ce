"""The neural rung: a bundle on the mesh, drawn as an engine does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.views.reference import draws_with
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.settings.rung_names import NEURAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]

# Files that an engine loads.
_LOADED = (".bin", ".ktx2")


@dataclass(frozen=True)
class Neural:
    """A bundle as a rung."""

    material: DeviceMaterial
    folder: Path
    byte_size: int
    seconds: float = 0.0
    """Of its bake; 0 for a bundle that was given."""
    uv_set: str | None = None
    """The set in which it was baked on the mesh; None for the mesh's first."""

    @classmethod
    def of(
        cls, bundle: Bundle, material: DeviceMaterial, seconds: float = 0.0,
        uv_set: str | None = None,
    ) -> Neural:  # fmt: skip
        """The rung of a bundle, with this material of it."""
        files = (each for each in bundle.folder.iterdir() if each.suffix in _LOADED)
        return cls(
            material, bundle.folder, sum(each.stat().st_size for each in files), seconds, uv_set
        )


def neural_rung(scene: Scene, neural: Neural) -> Rung:
    """The rung of a bundle, which is not fitted here."""
    material = neural.material
    uv_set = neural.uv_set or scene.surface.first_set
    read = uv_set
    if material.tiles:
        read = f"{uv_set} (bundle)"
        scene.geometry.add_set(read, material.tiles.to_atlas(scene.surface.sets[uv_set]))

    draw = draws_with(material, scene, read, is_flat=True)
    stored = replace(neural, uv_set=uv_set)
    return Rung(NEURAL, 0, neural.byte_size, neural.seconds, draw, stored, material=material)
