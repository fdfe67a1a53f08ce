"""Textures that stay on a device for the next materials: those of a scene share many images."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from verdigris.core.base.device import Device

# Bytes that stay, beside those of the open materials.
MOST_KEPT_BYTES = 1 << 30


@dataclass
class _Kept:
    texture: Any
    size: int
    non_finite: Mapping[Path, int]


@dataclass
class KeptTextures:
    """The textures of a device that were used last."""

    most: int = MOST_KEPT_BYTES
    _kept: dict[Any, _Kept] = field(default_factory=dict)

    @classmethod
    def on(cls, device: Device) -> KeptTextures:
        """Those of this device. A processor keeps none: they would take a machine's memory."""
        found = device.memo.get(cls)
        if found is None:
            found = device.memo[cls] = cls(0 if device.is_software else MOST_KEPT_BYTES)
        assert isinstance(found, KeptTextures)
        return found

    def find(self, key: Any) -> tuple[Any, Mapping[Path, int]] | None:
        """The texture, and its numbers of texels that are not finite."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        # used last
        self._kept[key] = found
        return found.texture, found.non_finite

    def keep(self, key: Any, texture: Any, size: int, non_finite: Mapping[Path, int]) -> None:
        """Keeps a texture of this size, and releases those that were used before all others."""
        self._kept[key] = _Kept(texture, size, non_finite)
        total = sum(each.size for each in self._kept.values())
        while total > self.most:
            total -= self._kept.pop(next(iter(self._kept))).size
