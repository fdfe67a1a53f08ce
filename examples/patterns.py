"""Seamless patterns: every function here returns an array that tiles when it is repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.float64]


def smoothstep(low: float, high: float, x: Image) -> Image:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def lerp(a: Image | float, b: Image | float, t: Image) -> Image:
    return a + (b - a) * t


def ramp(t: Image, *colors: tuple[float, float, float]) -> Image:
    """Piecewise linear colour ramp over t in [0, 1]."""
    stops = np.linspace(0.0, 1.0, len(colors))
    return np.stack([np.interp(t, stops, [c[i] for c in colors]) for i in range(3)], axis=-1)


def tint(image: Image, mask: Image, color: Image | tuple[float, float, float]) -> Image:
    """Blend a colour over a three-channel image where the mask is 1."""
    return lerp(image, np.asarray(color, dtype=np.float64), mask[..., None])


def normalized(x: Image) -> Image:
    return (x - x.min()) / max(float(np.ptp(x)), 1e-12)


def uv_grid(size: int) -> tuple[Image, Image]:
    """Texel centres; row 0 is the top of the image, which is v = 1."""
    t = (np.arange(size) + 0.5) / size
    return np.meshgrid(t, 1.0 - t)


def blur(image: Image, sigma: float) -> Image:
    """Gaussian with wrap-around, sigma as a fraction of the tile."""
    rows, columns = image.shape
    y = np.fft.fftfreq(rows)[:, None] * rows
    x = np.fft.rfftfreq(columns)[None, :] * columns
    kernel = np.exp(-2.0 * (np.pi * sigma) ** 2 * (x * x + y * y))
    return np.fft.irfft2(np.fft.rfft2(image) * kernel, s=image.shape)


def perlin(size: int, period: int | tuple[int, int], seed: int) -> Image:
    """Gradient noise, about [-1, 1], with `period` cells across the tile (u, v)."""
    columns, rows = period if isinstance(period, tuple) else (period, period)
    angle = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, (rows, columns))
    u, v = uv_grid(size)
    x, y = u * columns, v * rows
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0
    sx = fx * fx * fx * (fx * (fx * 6.0 - 15.0) + 10.0)
    sy = fy * fy * fy * (fy * (fy * 6.0 - 15.0) + 10.0)

    def corner(dx: int, dy: int) -> Image:
        a = angle[(y0 + dy) % rows, (x0 + dx) % columns]
        return np.cos(a) * (fx - dx) + np.sin(a) * (fy - dy)

    low = lerp(corner(0, 0), corner(1, 0), sx)
    high = lerp(corner(0, 1), corner(1, 1), sx)
    return 1.5 * lerp(low, high, sy)


def fractal(
    size: int, period: int | tuple[int, int], seed: int, octaves: int = 5, gain: float = 0.5
) -> Image:
    """Sum of Perlin octaves, scaled to about [-1, 1]."""
    columns, rows = period if isinstance(period, tuple) else (period, period)
    total, weight, amplitude = np.zeros((size, size)), 0.0, 1.0
    for octave in range(octaves):
        if max(columns, rows) << octave > size:
            break
        total += amplitude * perlin(size, (columns << octave, rows << octave), seed + 101 * octave)
        weight += amplitude
        amplitude *= gain
    return 1.6 * total / weight


def white(size: int, seed: int) -> Image:
    return np.random.default_rng(seed).random((size, size))


def warp(image: Image, du: Image, dv: Image) -> Image:
    """Read the image at uv + (du, dv), bilinear, wrapped."""
    size = image.shape[0]
    rows, columns = np.indices(image.shape, dtype=np.float64)
    x, y = columns + du * size, rows - dv * size
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = x - x0, y - y0
    x0, x1, y0, y1 = x0 % size, (x0 + 1) % size, y0 % size, (y0 + 1) % size
    return lerp(lerp(image[y0, x0], image[y0, x1], fx), lerp(image[y1, x0], image[y1, x1], fx), fy)


@dataclass(frozen=True)
class Cells:
    """Voronoi cells: distances in units of one cell."""

    nearest: Image
    """Distance to the nearest seed point."""
    edge: Image
    """Distance to the nearest cell border."""
    identity: NDArray[np.int64]
    """Index of the cell that owns the texel."""
    count: int

    def random(self, seed: int, channels: int = 1) -> Image:
        values = np.random.default_rng(seed).random((self.count, channels))[self.identity]
        return values[..., 0] if channels == 1 else values


def cells(size: int, period: int, seed: int, jitter: float = 0.8) -> Cells:
    offset = np.random.default_rng(seed).uniform(-0.5, 0.5, (period, period, 2)) * jitter + 0.5
    u, v = uv_grid(size)
    x, y = u * period, v * period
    cx, cy = np.floor(x).astype(int), np.floor(y).astype(int)
    first = np.full((size, size), np.inf)
    owner = np.zeros((size, size), dtype=np.int64)
    owner_x, owner_y = np.zeros_like(first), np.zeros_like(first)
    neighbours = [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)]

    def to_seed(dx: int, dy: int) -> tuple[Image, Image, NDArray[np.int64]]:
        row, column = (cy + dy) % period, (cx + dx) % period
        point = offset[row, column]
        return cx + dx + point[..., 0] - x, cy + dy + point[..., 1] - y, row * period + column

    for dx, dy in neighbours:
        px, py, index = to_seed(dx, dy)
        distance = px * px + py * py
        closer = distance < first
        first = np.where(closer, distance, first)
        owner = np.where(closer, index, owner)
        owner_x, owner_y = np.where(closer, px, owner_x), np.where(closer, py, owner_y)

    edge = np.full_like(first, np.inf)
    for dx, dy in neighbours:
        px, py, index = to_seed(dx, dy)
        gap_x, gap_y = px - owner_x, py - owner_y
        length = np.sqrt(gap_x * gap_x + gap_y * gap_y)
        middle = 0.5 * ((px + owner_x) * gap_x + (py + owner_y) * gap_y)
        border = middle / np.maximum(length, 1e-6)
        edge = np.where(index == owner, edge, np.minimum(edge, border))
    return Cells(np.sqrt(first), edge, owner, period * period)


def scratches(
    size: int,
    count: int,
    seed: int,
    length: tuple[float, float] = (0.1, 0.4),
    angle: tuple[float, float] = (0.0, 2.0 * np.pi),
    bend: float = 0.4,
) -> Image:
    """Thin curved strokes with tapered ends, about 1 at their centre line."""
    rng = np.random.default_rng(seed)
    canvas = np.zeros((size, size))
    for _ in range(count):
        span = rng.uniform(*length)
        t = np.linspace(0.0, 1.0, int(span * size * 1.5) + 2)
        direction = rng.uniform(*angle) + bend * rng.normal() * (t - 0.5)
        step = span / len(t)
        x = (rng.random() + np.cumsum(np.cos(direction)) * step) * size
        y = (rng.random() + np.cumsum(np.sin(direction)) * step) * size
        value = rng.uniform(0.25, 1.0) * np.sin(np.pi * t) ** 0.5 / 1.5
        x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
        fx, fy = x - x0, y - y0
        for dx, wx in ((0, 1.0 - fx), (1, fx)):
            for dy, wy in ((0, 1.0 - fy), (1, fy)):
                np.add.at(canvas, ((y0 + dy) % size, (x0 + dx) % size), value * wx * wy)
    return np.clip(canvas, 0.0, 1.0)


def normal_map(height: Image, strength: float) -> Image:
    """Tangent-space normals in [0, 1], +x along u and +y along v; height in units of the tile."""
    size = height.shape[0]
    scale = 0.5 * size * strength
    du = (np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)) * scale
    dv = (np.roll(height, 1, axis=0) - np.roll(height, -1, axis=0)) * scale
    normal = np.stack([-du, -dv, np.ones_like(du)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return normal * 0.5 + 0.5
