"""Examples with a small region that looks like nothing else of them, and what an artist paints."""

from __future__ import annotations

import numpy as np
import patterns as pt
from patterns import Image
from recipes_metal import Texture, rgb

PAINTED_WEIGHT = 8.0
_SOFT = 0.004


def foil_stamp(size: int) -> dict[str, Texture]:
    """Pebbled leather with a stamp of brushed foil."""
    size //= 2
    grain = pt.cells(size, 34, seed=200, jitter=0.9)
    pebble = 1.0 - np.minimum(grain.nearest, 1.0) ** 2
    crease = pt.smoothstep(0.02, 0.16, grain.edge)
    broad = pt.fractal(size, 4, seed=201, octaves=4)
    stamp = stamp_shape(size)
    worn = stamp * pt.smoothstep(-0.75, -0.45, pt.fractal(size, 22, seed=202) + 0.25 * crease)
    rows = np.random.default_rng(203).normal(size=(size, size))
    brush = pt.normalized(pt.blur(np.repeat(rows[:, :1], size, 1) + 0.2 * rows, 0.0012))
    height = 0.0042 * pebble * crease * (1.0 - 0.85 * stamp) - 0.0035 * pt.blur(stamp, 0.003)
    tone = np.clip(0.5 + 0.3 * broad + 0.35 * (grain.random(204) - 0.5) - 0.3 * (1 - crease), 0, 1)
    return {
        "foil_stamp_masks.png": Texture(rgb(worn, tone, brush * stamp)),
        "foil_stamp_normal.png": Texture(pt.normal_map(pt.blur(height, 0.0015), 1.0)),
    }


def pearl_inlay(size: int) -> dict[str, Texture]:
    """Black lacquer with petals of mother-of-pearl."""
    size //= 2
    petal, identity = inlay_shape(size)
    flow = pt.fractal(size, 9, seed=210, octaves=4, gain=0.6)
    bands = 0.5 + 0.5 * np.sin(11.0 * flow + 2.4 * identity)
    film = np.clip(0.15 + 0.7 * bands, 0.0, 1.0) * petal
    haze = np.clip(0.4 + 0.5 * pt.fractal(size, 6, seed=211, octaves=5), 0.0, 1.0)
    lean = 0.12 * petal * np.stack([np.cos(identity), np.sin(identity)])
    ripple = 0.0008 * pt.fractal(size, 24, seed=212, octaves=3) * petal
    normal = pt.normal_map(ripple, 1.0) * 2.0 - 1.0
    normal[..., 0] += lean[0] - lean[0].mean()
    normal[..., 1] += lean[1] - lean[1].mean()
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    return {
        "pearl_inlay_masks.png": Texture(rgb(petal, film, haze)),
        "pearl_inlay_normal.png": Texture(normal * 0.5 + 0.5),
    }


def stamp_shape(size: int) -> Image:
    """A ring around a star with eight points, 1 inside."""
    u, v = pt.uv_grid(size)
    x, y = u - 0.5, v - 0.5
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    ring = pt.smoothstep(_SOFT, -_SOFT, np.abs(radius - 0.155) - 0.013)
    point = np.abs(((angle / (np.pi / 4)) % 2.0) - 1.0)
    star = pt.smoothstep(_SOFT, -_SOFT, radius - 0.115 / (1.0 + 1.9 * (1.0 - point)))
    return np.maximum(ring, star)


def inlay_shape(size: int) -> tuple[Image, Image]:
    """Two flowers of six petals, 1 inside, and a number for each petal."""
    u, v = pt.uv_grid(size)
    petals, identity = np.zeros((size, size)), np.zeros((size, size))
    for x0, y0, scale, turn in ((0.36, 0.42, 1.0, 0.2), (0.66, 0.66, 0.7, 0.7)):
        x, y = (u - x0) / scale, (v - y0) / scale
        for number in range(6):
            angle = turn + number * np.pi / 3
            along = np.cos(angle) * x + np.sin(angle) * y
            across = np.cos(angle) * y - np.sin(angle) * x
            size_of = 1.0 - ((along - 0.085) / 0.06) ** 2 - (across / 0.030) ** 2
            one = pt.smoothstep(-0.12, 0.12, size_of)
            identity = np.where(size_of > -0.5, number + 10.0 * scale, identity)
            petals = np.maximum(petals, one)
    return petals, identity


def _paint(region: Image) -> Image:
    """A stroke a little wider than the region, soft at its edge, as an artist leaves it."""
    size = region.shape[0]
    wide = pt.smoothstep(0.02, 0.25, pt.blur(region, 2.0 / size))
    return 1.0 + (PAINTED_WEIGHT - 1.0) * np.round(wide * 64.0) / 64.0


def paint(size: int) -> dict[str, Texture]:
    """Importance maps: of `copper_tray` the middle of the tray's upper side."""
    size //= 2
    u, v = pt.uv_grid(size)
    boss = pt.smoothstep(0.165, 0.155, np.hypot(u - 0.357, v - 0.357))
    regions = {
        "copper_tray": boss,
        "foil_stamp": stamp_shape(size),
        "pearl_inlay": inlay_shape(size)[0],
    }
    return {
        f"{name}.exr": Texture(_paint(region)[..., None], depth="half")
        for name, region in regions.items()
    }
