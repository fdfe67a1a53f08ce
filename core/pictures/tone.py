"""Tone mappings: from exposed light to what a screen shows, 0 to 1, in linear values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Bytes, Floats

    Mapped = Callable[[Floats], Floats]

FILM, CLIP, ACES, NEUTRAL = TONES = ("film", "clip", "aces", "neutral")
"""Names of tone mappings."""
_SHOULDER = 0.7
# Brighter light is white in each of them, and might overflow.
_BRIGHTEST = 1e4
# The names of the specification: F90, Ks, and Kd.
_F90 = 0.04
_COMPRESSED_FROM, _DESATURATION = 0.8 - _F90, 0.15
# Entries of tables, and the brightest light in them.
_LEVELS = 1 << 15
_MOST = 64.0


def clip(linear: Floats) -> Floats:
    """Cuts highlights off."""
    return np.asarray(np.clip(linear, 0, 1), np.float32)


def film(linear: Floats) -> Floats:
    """Compresses highlights smoothly below 1, as film does. Light up to the start of the shoulder
    is unchanged."""
    above = np.maximum(linear - _SHOULDER, 0) / (1 - _SHOULDER)
    rolled = _SHOULDER + (1 - _SHOULDER) * above / (1 + above)
    return np.where(linear > _SHOULDER, rolled, linear).astype(np.float32)


def aces(linear: Floats) -> Floats:
    """The fit of ACES' curve by Narkowicz ("ACES Filmic Tone Mapping Curve", 2016), with its
    exposure."""
    x = np.clip(linear, 0, _BRIGHTEST)
    return np.minimum(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 1).astype(np.float32)


def neutral(linear: Floats) -> Floats:
    """Khronos PBR Neutral, by its specification (github.com/KhronosGroup/ToneMapping): base colours
    keep their hue and saturation, and only highlights are compressed."""
    colour = np.clip(linear, 0, _BRIGHTEST)
    least = colour.min(-1, keepdims=True)
    offset = np.where(least <= 2 * _F90, least - least * least / (4 * _F90), _F90)
    colour = colour - offset
    peak = colour.max(-1, keepdims=True)
    room = 1 - _COMPRESSED_FROM
    # below the start of the compression, the value is not used
    above = np.maximum(peak, _COMPRESSED_FROM)
    shown = 1 - room * room / (above + room - _COMPRESSED_FROM)
    share = 1 / (_DESATURATION * (above - shown) + 1)
    bright = colour * (shown / above * share) + shown * (1 - share)
    return np.where(peak > _COMPRESSED_FROM, bright, colour).astype(np.float32)


MAPPINGS: Mapping[str, Mapped] = {FILM: film, CLIP: clip, ACES: aces, NEUTRAL: neutral}
_MIXES_CHANNELS = (NEUTRAL,)


@dataclass(frozen=True)
class Tone:
    """From light to the screen."""

    exposure: float = 0.0
    """Exposure in stops."""
    mapping: str = CLIP

    def linear(self, light: Floats) -> Floats:
        """What a screen shows of light, (..., 3)."""
        return MAPPINGS[self.mapping](light * np.float32(2.0**self.exposure))

    def bytes(self, light: Floats) -> Bytes:
        if self.mapping in _MIXES_CHANNELS:
            return _looked_up(self.linear(light), CLIP)
        return _looked_up(light * np.float32(2.0**self.exposure), self.mapping)


def _looked_up(light: Floats, mapping: str) -> Bytes:
    most = _most(mapping)
    scaled = np.sqrt(np.clip(light, 0, most) / most)
    return np.asarray(_table(mapping)[(scaled * (_LEVELS - 1) + 0.5).astype(np.uint16)])


def _most(mapping: str) -> float:
    return 1.0 if mapping == CLIP else _MOST


@cache
def _table(mapping: str) -> Bytes:
    """Bytes of the screen, by the square root of light: computing powers for all pixels would take
    long."""
    light = np.linspace(0, 1, _LEVELS, dtype=np.float32) ** 2 * _most(mapping)
    return np.asarray((srgb_from_linear(MAPPINGS[mapping](light)) * 255 + 0.5).astype(np.uint8))
