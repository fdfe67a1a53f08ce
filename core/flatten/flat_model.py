"""Flattened textures: their texels, mip levels, and shading with gradients, as in glTF 2.0.

With the stored normal n, h halfway between wi and wo, and alpha = roughness^2, the response is

    (n.wi) ((1 - F) albedo / pi + F D V)

where D is the isotropic GGX distribution, V the height-correlated Smith visibility (shadowing and
masking over 4 (n.wi) (n.wo)), and F = F0 + (1 - F0) (1 - h.wi)^5 Schlick's Fresnel factor. Albedo
and F0 are two colours; glTF derives both from a base colour and a metalness, so this model includes
glTF's. docs/benchmarks/flattened.slang computes the same.

Arrays are channel-first, as in core/network/numpy_mlp.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.directions import dot, into_frame, normalise
from verdigris.core.network.latents.texels import downsample
from verdigris.core.network.spec import LatentLayout

# The channels of a texel, eight bits each. The normal is stored as x and y of a unit vector.
ALBEDO, F0, ROUGHNESS, NORMAL = slice(0, 3), slice(3, 6), 6, slice(7, 9)
CHANNELS = 9
# F0 of a metallic-roughness shader at metalness 0.
DIELECTRIC_F0 = 0.04
LEAST_ROUGHNESS = 0.05
# Largest length of (x, y) of a stored normal, so that z stays above 0.
LARGEST_SLANT = 0.98
# Smallest n.wo; a stored normal can point away from a viewer who sees the surface.
LEAST_VIEW_COSINE = 1e-3


@dataclass
class Tape:
    """Intermediate values for the backward pass; scalars are [N], colours [3, N]."""

    texel: FloatArray
    wi: FloatArray
    wo: FloatArray
    half: FloatArray
    normal: FloatArray
    light: FloatArray
    view: FloatArray
    middle: FloatArray
    fresnel: FloatArray
    grazing: FloatArray
    density: FloatArray
    visibility: FloatArray
    value: FloatArray


def shade(texel: FloatArray, wi: FloatArray, wo: FloatArray) -> Tape:
    """Computes the response (`Tape.value`); texels are [9, N], directions [3, N]."""
    normal = stored_normal(texel[NORMAL])
    half = normalise(wi + wo)
    light, view, middle = into_frame(np.stack([wi, wo, half]), normal)
    light, middle = np.maximum(light, 0), np.maximum(middle, 0)
    view = np.maximum(view, LEAST_VIEW_COSINE)

    squared_alpha = texel[ROUGHNESS] ** 4
    density = squared_alpha / (np.pi * _lobe(middle, squared_alpha) ** 2)
    visibility = 0.5 / (view * _reach(light, squared_alpha) + light * _reach(view, squared_alpha))
    grazing = (1 - np.minimum(dot(half, wi), 1)) ** 5
    fresnel = texel[F0] + (1 - texel[F0]) * grazing
    diffuse = (1 - fresnel) * texel[ALBEDO] / np.pi
    value = light * (diffuse + fresnel * density * visibility)
    return Tape(
        texel, wi, wo, half, normal, light, view, middle, fresnel, grazing, density, visibility,
        value,
    )  # fmt: skip


def shade_backward(tape: Tape, gradient: FloatArray) -> FloatArray:
    """Gradient with respect to the texels [9, N], from the gradient of the response."""
    albedo, squared_alpha = tape.texel[ALBEDO] / np.pi, tape.texel[ROUGHNESS] ** 4
    light, view, middle = tape.light, tape.view, tape.middle
    lobe = tape.density * tape.visibility
    result = np.empty_like(tape.texel)
    result[ALBEDO] = gradient * light * (1 - tape.fresnel) / np.pi
    result[F0] = gradient * light * (lobe - albedo) * (1 - tape.grazing)

    g_light = (gradient * ((1 - tape.fresnel) * albedo + tape.fresnel * lobe)).sum(0)
    g_lobe = (gradient * tape.fresnel).sum(0) * light
    # gradient of the divisor in visibility = 0.5 / divisor
    g_divisor = -2 * g_lobe * tape.density * tape.visibility**2
    reach_i, reach_o = _reach(light, squared_alpha), _reach(view, squared_alpha)
    g_light += g_divisor * (reach_o + view * light * (1 - squared_alpha) / reach_i)
    g_view = g_divisor * (reach_i + light * view * (1 - squared_alpha) / reach_o)
    g_squared = (
        0.5 * g_divisor * (view * (1 - light**2) / reach_i + light * (1 - view**2) / reach_o)
    )
    g_density = g_lobe * tape.visibility * tape.density
    g_width = -2 * g_density / _lobe(middle, squared_alpha)
    g_squared += g_density / squared_alpha + g_width * middle**2
    g_middle = g_width * 2 * middle * (squared_alpha - 1)
    result[ROUGHNESS] = g_squared * 4 * tape.texel[ROUGHNESS] ** 3

    g_light *= light > 0
    g_view *= view > LEAST_VIEW_COSINE
    g_normal = g_light * tape.wi + g_view * tape.wo + g_middle * tape.half
    result[NORMAL] = g_normal[:2] - g_normal[2] * tape.normal[:2] / tape.normal[2]
    return result


def stored_normal(slant: FloatArray) -> FloatArray:
    """The unit normal [3, ...] with these x and y."""
    squared = np.minimum((slant**2).sum(0), LARGEST_SLANT**2)
    return np.stack([*slant, np.sqrt(1 - squared)])


def _lobe(middle: FloatArray, squared_alpha: FloatArray) -> FloatArray:
    result: FloatArray = middle**2 * (squared_alpha - 1) + 1
    return result


def _reach(cosine: FloatArray, squared_alpha: FloatArray) -> FloatArray:
    result: FloatArray = np.sqrt(cosine**2 * (1 - squared_alpha) + squared_alpha)
    return result


@dataclass
class FlatTextures:
    """Texels [texels, 9], laid out like a student's latents."""

    layout: LatentLayout
    texels: FloatArray

    def level(self, level: int) -> FloatArray:
        """A view of a mip level, [height, width, 9]."""
        first, end = self.layout.level_offsets[level : level + 2]
        return self.texels[first:end].reshape(*self.layout.level_size(level), CHANNELS)

    @property
    def byte_size(self) -> int:
        """Size on disk, with one byte for each channel."""
        return self.texels.size


def start_textures(width: int, height: int) -> FlatTextures:
    """Initial textures with one mip level: grey, roughness 0.4, normal up."""
    layout = LatentLayout(width, height)
    texels = np.zeros((layout.texel_count, CHANNELS), np.float32)
    texels[:, : F0.start] = 0.5
    texels[:, F0] = 0.1
    texels[:, ROUGHNESS] = 0.4
    return FlatTextures(layout, texels)


def keep_in_range(texels: FloatArray) -> None:
    """Clamps texels to the range that can be stored."""
    np.clip(texels[:, : F0.stop], 0, 1, out=texels[:, : F0.stop])
    np.clip(texels[:, ROUGHNESS], LEAST_ROUGHNESS, 1, out=texels[:, ROUGHNESS])
    slant = texels[:, NORMAL]
    length = np.sqrt((slant**2).sum(1, keepdims=True))
    slant *= np.minimum(1, LARGEST_SLANT / np.maximum(length, LARGEST_SLANT))


def with_mips(finest: FlatTextures) -> FlatTextures:
    """Adds all mip levels: means of 2 x 2 texels, with normalised normals."""
    height, width = finest.layout.level_size(0)
    levels = max(height, width).bit_length()
    layout = LatentLayout(width, height, levels)
    result = FlatTextures(layout, np.empty((layout.texel_count, CHANNELS), finest.texels.dtype))
    result.level(0)[:] = finest.level(0)
    for level in range(1, levels):
        result.level(level)[:] = _halved(result.level(level - 1))
    return result


def _halved(texels: FloatArray) -> FloatArray:
    normals = np.moveaxis(stored_normal(np.moveaxis(texels[..., NORMAL], -1, 0)), 0, -1)
    means = downsample(np.concatenate([texels[..., : NORMAL.start], normals], -1))
    normals = means[..., NORMAL.start :]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return means[..., :CHANNELS]
