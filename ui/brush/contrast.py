"""Colours of paint that differ from the material below it, and from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.colour import linear_from_srgb

Floats = NDArray[np.float64]

# The share of the material's pixels that may be nearer to a colour: a few specks do not matter.
_NEAREST = 10
_MOST_SAMPLES = 4096
# Linear RGB to the cone responses of Oklab, and those to lightness and two opponent colours.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OPPONENT = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@dataclass(frozen=True)
class Ink:
    """A colour with its name for the legend."""

    name: str
    rgb: tuple[int, int, int]


INKS = (
    Ink("magenta", (255, 60, 200)),
    Ink("cyan", (40, 220, 255)),
    Ink("yellow", (255, 230, 60)),
    Ink("green", (70, 235, 90)),
    Ink("orange", (255, 130, 20)),
    Ink("blue", (80, 110, 255)),
)


def choose_inks(material: NDArray[np.uint8] | None) -> tuple[Ink, Ink]:
    """The inks for more and for less weight, for the pixels (…, 3) of a material."""
    inks = np.array([_oklab(np.array(ink.rgb)) for ink in INKS])
    apart = np.linalg.norm(inks[:, None] - inks, axis=-1)
    if material is None or not material.size:
        away = np.ones(len(INKS))
    else:
        pixels = material.reshape(-1, material.shape[-1])[:, :3]
        pixels = pixels[:: max(1, len(pixels) // _MOST_SAMPLES)]
        distance = np.linalg.norm(_oklab(pixels)[:, None] - inks, axis=-1)
        away = np.percentile(distance, _NEAREST, axis=0)
    more = int(away.argmax())
    less = int(np.where(np.arange(len(INKS)) == more, -1.0, np.minimum(away, apart[more])).argmax())
    return INKS[more], INKS[less]


def _oklab(rgb: NDArray[np.integer]) -> Floats:
    """Lightness and two opponent colours of sRGB bytes, in which distances are those of the eye
    (Ottosson 2020)."""
    share = rgb / 255.0
    linear = linear_from_srgb(share)
    return np.asarray(np.cbrt(linear @ _CONES.T) @ _OPPONENT.T)
