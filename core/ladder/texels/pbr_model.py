"""The metallic-roughness material of glTF 2.0 with coat, anisotropy and sheen: what a texel stores.

`evaluate` computes the same as shaders/ladder/texels/pbr_model.slang, which is differentiated for
the fit; tests compare both. core/flatten/flat_model.py has the isotropic layer. Its albedo and F0
come from a base colour and a metalness. With its response f and fr = .04 + .96 (1 - n.wo)^5:

    (1 - coat fr) ((1 - .157 max(sheen)) f + sheen (n.wi) D V) + coat fr (n.wi) D V

The coat (KHR_materials_clearcoat) has the normal of the surface. Anisotropy
(KHR_materials_anisotropy) is stored as strength^2 times the cosine and sine of twice the angle: a
direction and its opposite are the same, and the mean of two texels is between them. Sheen
(KHR_materials_sheen) has the distribution of Estevez and Kulla (2017), and what engines take for
its visibility and its loss of light: Neubelt and Pettineo's, and .157 of the strongest channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.device import Device
from verdigris.core.base.kernels import Source, constants_module
from verdigris.core.flatten.flat_model import (
    DIELECTRIC_F0,
    LARGEST_SLANT,
    LEAST_ROUGHNESS,
    LEAST_VIEW_COSINE,
    stored_normal,
)
from verdigris.core.ladder.texels.grid import layout_uniform
from verdigris.core.ladder.texels.images import RungImage
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.sides import THIN

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.texels.grid import Grid


_SHADER, _PASSING = Source("ladder/texels/pbr_textures"), Source("ladder/texels/pbr_passing")

# The uses of glTF's images.
BASE_COLOUR, ORM, NORMAL_MAP, EMISSIVE = "base_color", "orm", "normal", "emissive"
COAT_MAP, ANISOTROPY_MAP, SHEEN_MAP = "coat", "anisotropy", "sheen"
# Bytes of a texel: base colour; occlusion, roughness and metalness; normal; emission.
_BYTES, _EMISSION_BYTES = 3 + 3 + 2, 3
_LAYER_BYTES = {"coat": 2, "anisotropy": 3, "sheen": 4}
# Channels of a stored texel. Colours are stored in sRGB, signed numbers as (1 + x) / 2.
BASE, ROUGHNESS, METALNESS, NORMAL = slice(0, 3), 3, 4, slice(5, 7)
COAT, COAT_ROUGHNESS, STRETCH, SHEEN, SHEEN_ROUGHNESS = 7, 8, slice(9, 11), slice(11, 14), 14
CHANNELS = 15
# On the device, emission follows, and a texel has whole quads.
EMISSION = slice(15, 18)
DEVICE_CHANNELS = 20
START = (0.6, 0.6, 0.6, 0.5, 0.3, 0.5, 0.5, 0, 0.2, 0.5, 0.5, 0, 0, 0, 0.5)


def _channels(part: slice) -> tuple[int, ...]:
    return tuple(range(part.start, part.stop))


# Layers that a fit may leave out: their channels and first values.
LAYERS = {
    "coat": ((COAT, COAT_ROUGHNESS), (0.1, 0.2)),
    "anisotropy": (_channels(STRETCH), (0.5, 0.5)),
    "sheen": ((*_channels(SHEEN), SHEEN_ROUGHNESS), (0.2, 0.2, 0.2, 0.5)),
}
_LARGEST_STRETCH = 0.9
LEAST_SHEEN_ROUGHNESS = 0.15
_SHEEN_LOSS = 0.157
CONSTANTS = (
    constants_module("network_constants", {"kLatentChannels": DEVICE_CHANNELS}),
    constants_module(
        "pbr_constants",
        {
            "kFittedChannels": CHANNELS,
            "kBase": BASE.start,
            "kRoughness": ROUGHNESS,
            "kMetalness": METALNESS,
            "kNormal": NORMAL.start,
            "kCoat": COAT,
            "kCoatRoughness": COAT_ROUGHNESS,
            "kStretch": STRETCH.start,
            "kSheen": SHEEN.start,
            "kSheenRoughness": SHEEN_ROUGHNESS,
            "kEmission": EMISSION.start,
            "kLargestSlant": LARGEST_SLANT,
            "kLargestStretch": _LARGEST_STRETCH,
            "kLeastViewCosine": LEAST_VIEW_COSINE,
            "kLeastRoughness": LEAST_ROUGHNESS,
            "kLeastSheenRoughness": LEAST_SHEEN_ROUGHNESS,
            "kDielectricF0": DIELECTRIC_F0,
            "kSheenLoss": _SHEEN_LOSS,
        },
    ),
)


def decode(stored: FloatArray) -> FloatArray:
    """Texels (texels, 15) as a shader filters them, with linear colours and with signed numbers
    around 0."""
    texels = stored.copy()
    for colour in (BASE, SHEEN):
        texels[:, colour] = linear_from_srgb(stored[:, colour])
    for signed in (NORMAL, STRETCH):
        texels[:, signed] = 2 * stored[:, signed] - 1
    return texels


def keep_in_range(stored: FloatArray) -> None:
    """Clamps stored texels to the ranges that all engines accept, as a fit does."""
    np.clip(stored, 0, 1, out=stored)
    for channel, least in (
        (ROUGHNESS, LEAST_ROUGHNESS),
        (COAT_ROUGHNESS, LEAST_ROUGHNESS),
        (SHEEN_ROUGHNESS, LEAST_SHEEN_ROUGHNESS),
    ):
        np.maximum(stored[:, channel], least, out=stored[:, channel])
    for signed, longest in ((NORMAL, LARGEST_SLANT), (STRETCH, _LARGEST_STRETCH)):
        plane = 2 * stored[:, signed] - 1
        length = np.sqrt((plane**2).sum(1, keepdims=True))
        stored[:, signed] = 0.5 + 0.5 * plane * np.minimum(1, longest / np.maximum(length, longest))


def evaluate(texel: FloatArray, wi: FloatArray, wo: FloatArray) -> FloatArray:
    """The response (3, N) of decoded and filtered texels (15, N). Directions are (3, N)."""
    base, metal = texel[BASE], texel[METALNESS]
    f0 = DIELECTRIC_F0 * (1 - metal) + base * metal
    half = wi + wo
    half = half / np.sqrt((half**2).sum(0))
    normal = stored_normal(texel[NORMAL])
    tangent = np.stack([normal[2], 0 * normal[2], -normal[0]])
    tangent = tangent / np.sqrt((tangent**2).sum(0))
    frame = np.stack([tangent, np.cross(normal, tangent, axis=0), normal])
    light, view, middle = (np.einsum("ijn,jn->in", frame, each) for each in (wi, wo, half))

    fresnel = f0 + (1 - f0) * (1 - (half * wi).sum(0)) ** 5
    lit, seen = np.maximum(light[2], 0), np.maximum(view[2], LEAST_VIEW_COSINE)
    alpha = np.maximum(texel[ROUGHNESS], LEAST_ROUGHNESS) ** 2
    lobe = _lobe(light, view, middle, alpha, texel[STRETCH])
    core = (1 - fresnel) * base * (1 - metal) * lit / np.pi + fresnel * lobe

    sharpness = 1 / np.maximum(texel[SHEEN_ROUGHNESS], LEAST_SHEEN_ROUGHNESS) ** 2
    sine = np.sqrt(1 - np.clip(middle[2], 0, 1) ** 2)
    fuzz = lit * (2 + sharpness) * sine**sharpness / (2 * np.pi) / 4 / (lit + seen - lit * seen)
    below = (1 - _SHEEN_LOSS * texel[SHEEN].max(0)) * core + texel[SHEEN] * fuzz

    outer = np.maximum(wo[2], LEAST_VIEW_COSINE)
    coat = texel[COAT] * (DIELECTRIC_F0 + (1 - DIELECTRIC_F0) * (1 - np.minimum(outer, 1)) ** 5)
    alpha = np.maximum(texel[COAT_ROUGHNESS], LEAST_ROUGHNESS) ** 2
    return np.asarray((1 - coat) * below + coat * _lobe(wi, wo, half, alpha, 0 * texel[STRETCH]))


def _lobe(
    wi: FloatArray, wo: FloatArray, half: FloatArray, alpha: FloatArray, stretch: FloatArray
) -> FloatArray:
    """(n.wi) D V with an explicit direction of the stretch, as in KHR_materials_anisotropy."""
    strength = np.sqrt((stretch**2).sum(0))
    angle = 0.5 * np.arctan2(stretch[1], stretch[0])
    along, across = alpha + (1 - alpha) * strength, alpha

    def flat(direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        x, y = direction[:2]
        return np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x

    def reach(direction: FloatArray, cosine: FloatArray) -> FloatArray:
        x, y = flat(direction)
        return np.asarray(np.sqrt((along * x) ** 2 + (across * y) ** 2 + cosine**2))

    light, view = np.maximum(wi[2], 0), np.maximum(wo[2], LEAST_VIEW_COSINE)
    x, y = flat(half)
    width = (x / along) ** 2 + (y / across) ** 2 + np.maximum(half[2], 0) ** 2
    density = 1 / (np.pi * along * across * width**2)
    return np.asarray(light * density * 0.5 / (view * reach(wi, light) + light * reach(wo, view)))


@dataclass
class PbrTextures:
    """Textures with one size, in steps of a byte."""

    grid: Grid
    """Stored texels, whose channels are listed above."""
    layers: tuple[str, ...]
    """The `LAYERS` that the texels use."""
    emission: Grid | None = None
    """Emission in sRGB."""
    strength: float = 1.0
    """A factor of the emission."""
    occlusion: Grid | None = None

    @property
    def texel_bytes(self) -> int:
        """Bytes of a texel of all textures."""
        emission = 0 if self.emission is None else _EMISSION_BYTES
        return _BYTES + sum(_LAYER_BYTES[each] for each in self.layers) + emission

    @property
    def linear_emission(self) -> FloatArray | None:
        """Emission (texels, 3) as linear light; None if there is none."""
        if self.emission is None:
            return None
        return np.asarray(linear_from_srgb(self.emission.values) * self.strength)

    def images(self, opacity: FloatArray | None = None) -> dict[str, RungImage]:
        """The textures as glTF has them, by their use; opacity is the alpha of colours."""
        image = self.grid.image
        slant = 2 * image[..., NORMAL] - 1
        up = np.sqrt(1 - np.minimum((slant**2).sum(-1), LARGEST_SLANT**2))
        normal = np.concatenate([image[..., NORMAL], 0.5 + 0.5 * up[..., None]], -1)
        white = np.ones_like(image[..., :1])
        open_part = white if self.occlusion is None else self.occlusion.image
        base = image[..., BASE]
        if opacity is not None:
            base = np.concatenate([base, opacity], -1)
        found = {
            BASE_COLOUR: RungImage(base, is_srgb=True),
            ORM: RungImage(np.concatenate([open_part, image[..., [ROUGHNESS, METALNESS]]], -1)),
            NORMAL_MAP: RungImage(normal, has_two=True),
        }
        if "coat" in self.layers:
            coat = np.concatenate([image[..., [COAT, COAT_ROUGHNESS]], 0 * white], -1)
            found[COAT_MAP] = RungImage(coat, has_two=True)
        if "anisotropy" in self.layers:
            found[ANISOTROPY_MAP] = RungImage(_anisotropy_texture(image[..., STRETCH]))
        if "sheen" in self.layers:
            sheen = np.concatenate([image[..., SHEEN], image[..., SHEEN_ROUGHNESS, None]], -1)
            found[SHEEN_MAP] = RungImage(sheen, is_srgb=True)
        if self.emission is not None:
            found[EMISSIVE] = RungImage(self.emission.image, is_srgb=True)
        return found

    def replace(self, images: Mapping[str, FloatArray]) -> None:
        """Takes these images as its texels."""
        image = self.grid.image
        image[..., BASE] = images[BASE_COLOUR][..., :3]
        image[..., ROUGHNESS] = images[ORM][..., 1]
        image[..., METALNESS] = images[ORM][..., 2]
        image[..., NORMAL] = images[NORMAL_MAP][..., :2]
        if self.occlusion is not None:
            self.occlusion.image[:] = images[ORM][..., :1]
        if COAT_MAP in images:
            image[..., [COAT, COAT_ROUGHNESS]] = images[COAT_MAP][..., :2]
        if ANISOTROPY_MAP in images:
            image[..., STRETCH] = _stretch_of(images[ANISOTROPY_MAP])
        if SHEEN_MAP in images:
            image[..., SHEEN] = images[SHEEN_MAP][..., :3]
            image[..., SHEEN_ROUGHNESS] = images[SHEEN_MAP][..., 3]
        keep_in_range(self.grid.values)
        if self.emission is not None:
            self.emission.image[:] = images[EMISSIVE][..., :3]


def _anisotropy_texture(stored: FloatArray) -> FloatArray:
    """The texture of KHR_materials_anisotropy: the direction in two channels, and the strength."""
    stretch = 2 * stored - 1
    angle = 0.5 * np.arctan2(stretch[..., 1], stretch[..., 0])
    strength = np.sqrt(np.sqrt((stretch**2).sum(-1)))
    direction = 0.5 + 0.5 * np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.concatenate([direction, strength[..., None]], -1)


def _stretch_of(texture: FloatArray) -> FloatArray:
    """The stored stretch of a texture of KHR_materials_anisotropy."""
    x, y = np.moveaxis(2 * texture[..., :2] - 1, -1, 0)
    angle, strength = np.arctan2(y, x), texture[..., 2] ** 2
    turn = np.stack([np.cos(2 * angle), np.sin(2 * angle)], -1)
    return np.asarray(0.5 + 0.5 * strength[..., None] * turn)


@dataclass(frozen=True)
class Passing:
    """Light that textures let pass."""

    tint: FloatArray
    """(texels, 3): the share of light that passes below the surface."""
    index: float
    """The index of a solid; 1 for a thin wall."""
    is_diffuse: bool


class PbrMaterial(DeviceMaterial):
    """The textures of a fit on a device, drawn as in an engine. Emission (texels, 3) is linear."""

    def __init__(
        self, grid: Grid, device: Device, emission: FloatArray | None = None,
        passing: Passing | None = None,
    ) -> None:  # fmt: skip
        self.device = device
        self._kernels = device.shared_kernels({}, CONSTANTS, is_hasty=True)
        self.show(grid, emission, passing)

    def show(self, grid: Grid, emission: FloatArray | None, passing: Passing | None = None) -> None:
        """Draws these textures from now on."""
        self.is_dark_and_opaque = emission is None
        self._bound: dict[str, Any] = {}
        self._source = _SHADER
        uniforms: dict[str, Any] = {"layout": layout_uniform(grid.layout)}
        if passing is not None:
            self._source = _PASSING
            self.index_below = THIN if passing.is_diffuse else passing.index
            uniforms |= {"index": passing.index, "isDiffuse": int(passing.is_diffuse)}
            tint = np.zeros((len(passing.tint), 4), np.float32)
            tint[:, :3] = passing.tint
            self._bound["gPassing"] = self.device.new_buffer(tint, 16)
        texels = np.zeros((len(grid.values), DEVICE_CHANNELS), np.float32)
        texels[:, :CHANNELS] = decode(grid.values)
        if emission is not None:
            texels[:, EMISSION] = emission
        self._bound |= {"gPbr": uniforms, "gTexels": self.device.new_buffer(texels, 16)}

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get((source, self._source), entry)

    def bindings(self) -> dict[str, Any]:
        return dict(self._bound)
