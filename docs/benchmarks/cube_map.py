"""A cube map of an environment with its mip levels, as an engine's texture unit reads it.

Faces are in the order of Vulkan and Direct3D: +x, -x, +y, -y, +z, -z. A texel of a level is the
mean of four of the level before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

# Of each face: the axes of s, t and the face itself, with their signs.
_FACES = (
    ((2, -1), (1, -1), (0, 1)),
    ((2, 1), (1, -1), (0, -1)),
    ((0, 1), (2, 1), (1, 1)),
    ((0, 1), (2, -1), (1, -1)),
    ((0, 1), (1, -1), (2, 1)),
    ((0, -1), (1, -1), (2, -1)),
)


@dataclass(frozen=True)
class CubeMap:
    """Radiance in mip levels."""

    levels: list[Floats]
    """(6, size, size, 3), the finest first, down to one texel a face."""
    _bordered: list[Floats]
    """The same with a border of the neighbouring faces' texels."""

    @classmethod
    def of(cls, radiance: Callable[[Floats], Floats], size: int, samples: int = 2) -> CubeMap:
        """From a function of unit directions (N, 3); `size` is a power of two."""
        fine = radiance(directions_of_texels(size * samples).reshape(-1, 3))
        level = _halved(np.asarray(fine, float).reshape(6, size * samples, -1, 3), samples)
        levels = [level]
        while len(levels[-1][0]) > 1:
            levels.append(_halved(levels[-1], 2))
        return cls(levels, [_with_border(each) for each in levels])

    @property
    def size(self) -> int:
        return len(self.levels[0][0])

    def level_of(self, solid_angle: Floats) -> Floats:
        """The level whose texels span this solid angle."""
        texel = 4 * np.pi / (6 * self.size**2)
        level = 0.5 * np.log2(np.maximum(solid_angle / texel, 1))
        return np.asarray(np.minimum(level, len(self.levels) - 1))

    def radiance(self, directions: Floats, solid_angle: Floats) -> Floats:
        """(N, 3) around directions (N, 3): trilinear, without seams between faces."""
        level = self.level_of(solid_angle)
        finer = np.floor(level).astype(int)
        part = (level - finer)[:, None]
        result = np.zeros((len(directions), 3))
        face, s, t = place_on_cube(directions)
        for index in np.unique(finer):
            chosen = finer == index
            where = face[chosen], s[chosen], t[chosen]
            fine = _bilinear(self._bordered[index], *where)
            if index + 1 < len(self.levels):
                coarse = _bilinear(self._bordered[index + 1], *where)
                fine = fine + (coarse - fine) * part[chosen]
            result[chosen] = fine
        return result


def directions_of_texels(size: int, border: int = 0) -> Floats:
    """Unit directions (6, size, size, 3) of centres; with texels beyond the edges of each face."""
    at = (2 * np.arange(-border, size + border) + 1) / size - 1
    t, s = np.meshgrid(at, at, indexing="ij")
    result = np.empty((6, len(at), len(at), 3))
    for face, ((along_s, sign_s), (along_t, sign_t), (axis, sign)) in enumerate(_FACES):
        result[face, ..., along_s] = sign_s * s
        result[face, ..., along_t] = sign_t * t
        result[face, ..., axis] = sign
    return np.asarray(result / np.linalg.norm(result, axis=-1, keepdims=True))


def place_on_cube(directions: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Face, and s and t from 0 to 1, of directions (N, 3)."""
    each = np.arange(len(directions))
    axis = np.abs(directions).argmax(1)
    face = 2 * axis + (directions[each, axis] < 0)
    along = np.array([[s[0], t[0]] for s, t, _ in _FACES])[face]
    signs = np.array([[s[1], t[1]] for s, t, _ in _FACES])[face]
    distance = np.abs(directions[each, axis])
    s, t = (signs[:, i] * directions[each, along[:, i]] / distance / 2 + 0.5 for i in range(2))
    return face, s, t


def solid_angles(size: int) -> Floats:
    """Of the texels of a face, (size, size)."""
    edge = np.linspace(-1, 1, size + 1)
    x, y = np.meshgrid(edge, edge)
    corner = np.arctan2(x * y, np.sqrt(x * x + y * y + 1))
    return np.asarray(corner[1:, 1:] - corner[1:, :-1] - corner[:-1, 1:] + corner[:-1, :-1])


def _halved(level: Floats, factor: int) -> Floats:
    size = level.shape[1] // factor
    return np.asarray(level.reshape(6, size, factor, size, factor, 3).mean((2, 4)))


def _with_border(level: Floats) -> Floats:
    size = level.shape[1]
    face, s, t = place_on_cube(directions_of_texels(size, 1).reshape(-1, 3))
    column, row = (np.clip((v * size).astype(int), 0, size - 1) for v in (s, t))
    return np.asarray(level[face, row, column].reshape(6, size + 2, size + 2, 3))


def _bilinear(bordered: Floats, face: NDArray[np.int64], s: Floats, t: Floats) -> Floats:
    size = bordered.shape[1] - 2
    x, y = s * size + 0.5, t * size + 0.5
    left, top = (np.minimum(v.astype(int), size) for v in (x, y))
    across, down = (x - left)[:, None], (y - top)[:, None]
    upper = bordered[face, top, left] * (1 - across) + bordered[face, top, left + 1] * across
    lower = bordered[face, top + 1, left] * (1 - across)
    lower = lower + bordered[face, top + 1, left + 1] * across
    return np.asarray(upper * (1 - down) + lower * down)
