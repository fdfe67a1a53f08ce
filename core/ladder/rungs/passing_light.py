"""Light that passes through a surface, as glTF states it: the mean over the surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.material.sides import THIN
from verdigris.core.material.teacher.probe import mean_albedo, mean_transmitted

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial

# What passes is diffuse if light straight from behind is at most this often as bright as Lambert's.
_MOST_OF_DIFFUSE = 2.0
_PLACES = 64


@dataclass(frozen=True)
class PassingLight:
    """What a material lets pass."""

    share: tuple[float, float, float]
    """The share of white light from behind that reaches a viewer."""
    reflected: tuple[float, float, float]
    index: float
    """The index of the solid behind; 1 for a thin wall."""
    is_diffuse: bool
    thickness: float
    """Of the mesh, in its own units."""

    @classmethod
    def of(cls, material: DeviceMaterial, thickness: float) -> PassingLight | None:
        """None for an opaque material."""
        if not material.index_below:
            return None
        share = mean_transmitted(material)
        uv = np.random.default_rng(1).random((_PLACES, 2)).astype(np.float32)
        up = np.tile(np.array([0, 0, 1], np.float32), (_PLACES, 1))
        behind = np.pi * material.response(uv, -up, up).mean()
        is_diffuse = behind <= _MOST_OF_DIFFUSE * np.mean(share)
        index = material.index_below
        return cls(share, mean_albedo(material), index, bool(is_diffuse), thickness)

    @property
    def tint(self) -> list[float] | None:
        """The base colour of what is clear: glTF tints what passes by it. None if the base colour
        is that of diffuse light."""
        if self.is_diffuse or max(self.share) < max(self.reflected):
            return None
        return [round(min(1.0, part / self._entering), 4) for part in self.share]

    @property
    def _entering(self) -> float:
        """What the dielectric layer does not reflect: reflected light of all channels is its."""
        return max(1.0 - min(self.reflected), 1e-3)

    def extensions(self) -> dict[str, Any]:
        """The extensions of a material in glTF."""
        most = max(self.share)
        if most <= 0:
            return {}
        if self.is_diffuse:
            colour = [round(part / most, 4) for part in self.share]
            factor = round(min(1.0, most), 4)
            given = {"diffuseTransmissionFactor": factor, "diffuseTransmissionColorFactor": colour}
            return {"KHR_materials_diffuse_transmission": given}
        factor = 1.0 if self.tint else round(min(1.0, most / self._entering), 4)
        found: dict[str, Any] = {"KHR_materials_transmission": {"transmissionFactor": factor}}
        if self.index != THIN:
            found["KHR_materials_ior"] = {"ior": max(1.0, round(self.index, 4))}
            found["KHR_materials_volume"] = {"thicknessFactor": round(self.thickness, 6)}
        return found
