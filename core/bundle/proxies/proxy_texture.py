"""The proxies of a bundle as stored: five layers of sRGB texels with mip levels, and their use.

docs/WRITING.md, "Proxies", defines every layer. Curves give the albedo of any view between the four
albedos that are stored. Four functions suffice for a material, but not the same ones for all:
Fresnel's curve rises at grazing views, sheen from steep ones on, and interference goes up and down,
in each channel differently. So they are those in which the material's own albedos vary most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Doubles, FloatArray

# Cosines of the view whose albedos are stored. Flatter views count as the flattest one.
COSINES = (1.0, 0.45, 0.15, 0.03)
# Cosines of the views that curves are fitted to and tabulated for, in equal steps.
VIEW_COSINES = np.linspace(COSINES[-1], 1, 32)
# Powers of 1 - cosine: Fresnel's curve and the like. They count as albedos with this multiple of
# the noise, so that noise does not choose functions.
_POWERS, _OVER_NOISE = (0, 2, 5, 10), 8.0
# The least noise, which bytes have.
_LEAST_NOISE = 1e-3
_DIGITS = 5
_FLOOR = 0.01
LAYERS = 1 + len(COSINES)
# Layers whose alpha channel holds roughness, and x and y of the normal.
_ROUGHNESS, _NORMAL_X, _NORMAL_Y = 0, 1, 2
_BYTE = 255
OPAQUE = 255
# The sRGB transfer function of IEC 61966-2-1.
_TOE, _TOE_SLOPE, _OFFSET, _GAMMA = 0.0031308, 12.92, 0.055, 2.4


@dataclass(frozen=True)
class ProxyValues:
    """What the proxies hold of N places."""

    diffuse: FloatArray
    """Albedo of the diffuse part [N, 3], the same for every view."""
    albedos: FloatArray
    """Albedo of all reflected light [N, 4, 3], seen under COSINES."""
    normal: FloatArray
    """Mean normal [N, 3]."""
    roughness: FloatArray
    """Mean roughness [N]: the square root of a GGX lobe's alpha."""
    curves: AlbedoCurves
    """Curves between the stored albedos."""

    def albedo(self, cosine: FloatArray) -> Doubles:
        """Directional albedo [N, 3]: the part of the light of a white sky that reaches a viewer
        under this cosine."""
        return self.curves.albedo(np.asarray(self.albedos, np.float64), cosine)

    def specular(self, cosine: FloatArray) -> Doubles:
        """Directional albedo [N, 3] without the diffuse part."""
        return np.asarray(np.maximum(self.albedo(cosine) - self.diffuse, 0), np.float64)

    def mean_albedo(self) -> Doubles:
        """Mean albedo [N, 3]: the part of a white sky's light that is reflected anywhere."""
        return self.curves.mean_albedo(np.asarray(self.albedos, np.float64))


@dataclass(frozen=True)
class Proxies:
    """The texture with the proxies of a bundle."""

    levels: Sequence[NDArray[np.uint8]]
    """Finest first, each [5, height, width, 4]."""
    texels_a_proxy: int
    """Width of the latents divided by that of the texture."""
    curves: AlbedoCurves
    """Curves between the stored albedos."""

    def at(self, uv: FloatArray, lod: FloatArray) -> ProxyValues:
        """Trilinear values. `lod` is log2 of the footprint's width in texels of the latents."""
        level = np.asarray(lod, np.float64) - np.log2(self.texels_a_proxy)
        texels = trilinear([linear_texels(each) for each in self.levels], uv, level)
        return values_of(texels, self.curves)


@dataclass(frozen=True)
class TransmittedAlbedo:
    """The texture of the mean share of light from below that passes."""

    levels: Sequence[NDArray[np.uint8]]
    """Finest first, each [height, width, 4]."""
    texels_a_proxy: int
    """Width of the latents divided by that of the texture."""

    def at(self, uv: FloatArray, lod: FloatArray) -> Doubles:
        """Trilinear values [N, 3]. `lod` is log2 of the footprint's width in texels of the
        latents."""
        level = np.asarray(lod, np.float64) - np.log2(self.texels_a_proxy)
        return trilinear([decode_srgb(each[..., :3]) for each in self.levels], uv, level)


def linear_texels(level: NDArray[np.uint8]) -> Doubles:
    """Texels [height, width, 5, 4] of a stored level, as a texture unit returns them."""
    linear = np.concatenate(
        [decode_srgb(level[..., :3]), level[..., 3:].astype(np.float64) / _BYTE], axis=-1
    )
    return np.moveaxis(linear, 0, 2)


def values_of(texels: Doubles, curves: AlbedoCurves) -> ProxyValues:
    """The meaning of linear texels [N, 5, 4]."""
    x, y = (2 * texels[:, layer, 3] - 1 for layer in (_NORMAL_X, _NORMAL_Y))
    z = np.sqrt(np.maximum(1 - x * x - y * y, 0))
    normal = np.stack([x, y, z], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    roughness = texels[:, _ROUGHNESS, 3]
    return ProxyValues(texels[:, 0, :3], texels[:, 1:, :3], normal, roughness, curves)


def store_level(values: ProxyValues, height: int, width: int) -> NDArray[np.uint8]:
    """The stored level [5, height, width, 4] of values in row-major order."""
    colours = np.concatenate([values.diffuse[:, None], values.albedos], axis=1)
    alphas = np.full(colours.shape[:2], OPAQUE, np.uint8)
    for layer, linear in (
        (_ROUGHNESS, values.roughness),
        (_NORMAL_X, values.normal[:, 0] / 2 + 0.5),
        (_NORMAL_Y, values.normal[:, 1] / 2 + 0.5),
    ):
        alphas[:, layer] = np.rint(_BYTE * np.clip(linear, 0, 1))
    texels = np.concatenate([encode_srgb(colours), alphas[..., None]], axis=-1)
    return np.ascontiguousarray(np.moveaxis(texels.reshape(height, width, LAYERS, 4), 2, 0))


def encode_srgb(values: FloatArray) -> NDArray[np.uint8]:
    """Bytes of linear values from 0 to 1."""
    x = np.clip(np.asarray(values, np.float64), 0, 1)
    curved = (1 + _OFFSET) * np.maximum(x, _TOE) ** (1 / _GAMMA) - _OFFSET
    encoded = np.where(x <= _TOE, _TOE_SLOPE * x, curved)
    return np.asarray(np.rint(_BYTE * encoded), np.uint8)


def decode_srgb(stored: NDArray[np.uint8]) -> Doubles:
    x = np.arange(_BYTE + 1) / _BYTE
    table = np.where(
        x <= _TOE * _TOE_SLOPE, x / _TOE_SLOPE, ((x + _OFFSET) / (1 + _OFFSET)) ** _GAMMA
    )
    return np.asarray(table[stored], np.float64)


def trilinear(levels: Sequence[Doubles], uv: NDArray[Any], level: NDArray[Any]) -> Doubles:
    """Values [N, ...] of levels [height, width, ...], finest first, of a texture that wraps.
    Fractional levels are clamped."""
    last = len(levels) - 1
    level = np.clip(np.asarray(level, np.float64), 0, last)
    finer = np.floor(level).astype(int)
    part = level - finer
    result = np.zeros((len(level), *levels[0].shape[2:]))
    for number, texels in enumerate(levels):
        # a place counts on one level, or on two with shares that sum to 1
        share = np.where(finer == number, 1 - part, np.where(finer + 1 == number, part, 0))
        (where,) = np.nonzero(share)
        found = _bilinear(texels, np.asarray(uv, np.float64)[where])
        result[where] += share[where].reshape(-1, *[1] * (found.ndim - 1)) * found
    return result


def _bilinear(texels: Doubles, uv: Doubles) -> Doubles:
    height, width = texels.shape[:2]
    x, y = ((uv - np.floor(uv)) * (width, height) - 0.5).T
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    shape = (-1, *[1] * (texels.ndim - 2))
    fx, fy = (x - i).reshape(shape), (y - j).reshape(shape)

    def at(column: NDArray[Any], row: NDArray[Any]) -> Doubles:
        found: Doubles = texels[row % height, column % width]
        return found

    lower = (1 - fx) * at(i, j) + fx * at(i + 1, j)
    upper = (1 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1)
    return np.asarray((1 - fy) * lower + fy * upper, np.float64)


@dataclass(frozen=True, eq=False)
class AlbedoCurves:
    """Weights of the stored albedos at every cosine."""

    table: Doubles
    """[3, points, 4], by channel, in equal steps from the flattest cosine to 1."""
    powers: tuple[float, ...] = ()
    """In older bundles, `table` [4, 4] has the weights in the coefficient of each power of
    1 - cosine."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlbedoCurves):
            return False
        return self.powers == other.powers and np.array_equal(self.table, other.table)

    def weights(self, cosine: FloatArray) -> Doubles:
        """[N, 3, 4]"""
        if self.powers:
            flat = 1 - np.clip(np.asarray(cosine, np.float64), COSINES[-1], 1)
            found = flat[:, None] ** np.array(self.powers) @ self.table
            return np.asarray(np.repeat(found[:, None], 3, axis=1), np.float64)
        return np.asarray(np.moveaxis(_between(self.table, cosine), 0, 1), np.float64)

    def albedo(self, stored: Doubles, cosine: FloatArray) -> Doubles:
        """Albedo [N, 3] of stored ones [N, 4, 3], at most 1."""
        seen = np.einsum("nck,nkc->nc", self.weights(cosine), stored)
        return np.asarray(np.clip(seen, 0, 1), np.float64)

    def mean_albedo(self, stored: Doubles) -> Doubles:
        """Mean albedo of all views, each weighted by its cosine."""
        cosine = np.linspace(0, 1, 1024)
        mean = np.einsum("v,vck->ck", cosine / cosine.sum(), self.weights(cosine))
        return np.asarray(np.clip(np.einsum("ck,nkc->nc", mean, stored), 0, 1), np.float64)


@dataclass(frozen=True)
class AlbedoBasis:
    """Functions whose sums are a material's albedos."""

    vectors: Doubles
    """Orthonormal vectors [3, views, 4] of shares of the usual light, by channel."""
    usual: Doubles
    """Median of all channels' albedo at VIEW_COSINES."""

    @classmethod
    def of(cls, albedo: Doubles) -> AlbedoBasis:
        """The largest singular vectors of albedos [N, views, 3]."""
        light = np.maximum(albedo.sum(2), _FLOOR)
        usual = np.median(light, axis=0)
        places = np.sqrt(((light / usual) ** 2).sum(1) * len(albedo))
        rows = albedo / usual[:, None] / places[:, None, None]
        powers = (1 - VIEW_COSINES[:, None]) ** _POWERS / usual[:, None]
        known = np.linalg.qr(powers)[0]
        squares = np.einsum("nvc,nwc->cvw", rows, rows)
        # what the largest vectors leave
        noise = np.linalg.eigvalsh(squares)[:, : -len(COSINES)].mean(1)
        noise = np.maximum(noise, _LEAST_NOISE**2)[:, None, None]
        squares += _OVER_NOISE**2 * noise * (known @ known.T)
        return cls(np.linalg.eigh(squares)[1][..., -len(COSINES) :], usual)

    @property
    def functions(self) -> Doubles:
        """[3, views, 4]"""
        return np.asarray(self.vectors * self.usual[:, None], np.float64)

    def fit(self, albedo: Doubles) -> Doubles:
        """Coefficients [N, 3, 4] of the nearest sums. Errors are shares of the usual light: a view
        that has little light by chance must not weigh more."""
        shares = albedo / self.usual[:, None]
        return np.asarray(np.einsum("cvi,nvc->nci", self.vectors, shares), np.float64)

    def at_cosines(self, fitted: Doubles) -> Doubles:
        """Albedos [N, 4, 3] at COSINES."""
        return np.asarray(np.einsum("cki,nci->nkc", self._at_cosines(), fitted), np.float64)

    def curves(self) -> AlbedoCurves:
        """The curves as a manifest has them."""
        table = self.functions @ np.linalg.inv(self._at_cosines())
        return AlbedoCurves(table.round(_DIGITS))

    def _at_cosines(self) -> Doubles:
        return _between(self.functions, np.array(COSINES))


def _between(table: Doubles, cosine: FloatArray) -> Doubles:
    """Values [3, N, 4] of a table [3, points, 4], linear between its points."""
    last = table.shape[1] - 1
    flattest = COSINES[-1]
    place = (np.clip(np.asarray(cosine, np.float64), flattest, 1) - flattest) / (1 - flattest)
    first = np.minimum((place * last).astype(int), last - 1)
    part = (place * last - first)[:, None]
    return np.asarray((1 - part) * table[:, first] + part * table[:, first + 1], np.float64)
