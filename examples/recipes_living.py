"""Textures of the examples that age or grow: wet stone, rusting paint, faded cloth, a leaf."""

from __future__ import annotations

import numpy as np
import patterns as pt
from recipes_metal import Texture, rgb


def street_stone(size: int) -> dict[str, Texture]:
    setts = pt.cells(size, 7, seed=700, jitter=0.42)
    worn = pt.fractal(size, 6, seed=701, octaves=5)
    grain = pt.fractal(size, 72, seed=702, octaves=4, gain=0.8)
    edge = setts.edge + 0.025 * pt.fractal(size, 20, seed=703, octaves=3)
    stone = pt.smoothstep(0.045, 0.13, edge)
    dome = np.minimum(setts.edge, 0.34) / 0.34
    top = 0.42 + 0.38 * dome**0.6 + 0.2 * (setts.random(704) - 0.5)
    ground = 0.16 + 0.07 * worn + 0.05 * grain
    height = np.clip(pt.lerp(ground, top + 0.06 * worn + 0.03 * grain, stone), 0.0, 1.0)

    tone = np.clip(0.5 + 0.5 * (setts.random(705) - 0.5) + 0.2 * worn + 0.3 * grain, 0.0, 1.0)
    color = pt.ramp(tone, (0.34, 0.32, 0.31), (0.52, 0.49, 0.46), (0.70, 0.66, 0.61))
    sand = np.clip(0.5 + 0.45 * grain + 0.25 * worn, 0.0, 1.0)
    color = pt.tint(color, 1.0 - stone, pt.ramp(sand, (0.42, 0.37, 0.31), (0.62, 0.56, 0.47)))
    porous = np.clip(0.55 + 0.3 * worn + 0.25 * grain + 0.3 * (1.0 - stone), 0.0, 1.0)
    return {
        "street_stone_color.jpg": Texture(color, srgb=True),
        "street_stone_masks.jpg": Texture(rgb(height, porous, stone)),
        "street_stone_normal.png": Texture(pt.normal_map(pt.blur(height, 0.0008), 0.05)),
    }


def rusting_paint(size: int) -> dict[str, Texture]:
    broad = pt.fractal(size, 4, seed=720, octaves=5)
    fine = pt.fractal(size, 40, seed=721, octaves=4, gain=0.7)
    scratches = pt.blur(pt.scratches(size, 40, seed=722, length=(0.1, 0.5)), 0.0012)
    drops = pt.cells(size, 17, seed=723, jitter=1.0)
    pits = pt.smoothstep(0.34, 0.05, drops.nearest) * pt.smoothstep(0.55, 0.9, drops.random(724))
    # where it is lowest, rust begins; from 0 to 1, so that an age passes all of it
    start = 0.55 - 0.3 * broad - 0.1 * fine - 0.5 * np.clip(2.5 * scratches, 0, 1) - 0.45 * pits
    start = pt.normalized(start)
    ranks = np.empty(start.size)
    ranks[start.ravel().argsort()] = np.linspace(0.0, 1.0, start.size)
    start = 0.5 * start + 0.5 * ranks.reshape(start.shape)
    tone = np.clip(0.5 + 0.3 * broad + 0.45 * fine, 0.0, 1.0)
    rust = pt.ramp(tone, (0.22, 0.09, 0.05), (0.42, 0.19, 0.08), (0.62, 0.33, 0.14))
    bumps = pt.fractal(size, 56, seed=725, octaves=4, gain=0.8)
    peel = pt.fractal(size, 34, seed=726, octaves=2)
    return {
        "rusting_paint_masks.jpg": Texture(rgb(start, tone, np.clip(0.5 + 0.4 * peel, 0, 1))),
        "rusting_paint_rust.jpg": Texture(rust, srgb=True),
        "rusting_paint_normal.png": Texture(pt.normal_map(0.004 * bumps, 1.0)),
    }


def faded_cloth(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    threads = 48
    row, column = np.floor(v * threads).astype(int), np.floor(u * threads).astype(int)
    over = (row + column) % 4 < 2
    across, along = v * threads % 1.0 - 0.5, u * threads % 1.0 - 0.5
    weft, warp = np.sqrt(np.clip(1 - 4 * across**2, 0, 1)), np.sqrt(np.clip(1 - 4 * along**2, 0, 1))
    height = np.where(over, 0.35 + 0.65 * weft, 0.35 + 0.65 * warp)
    slub = np.clip(0.5 + 0.3 * pt.fractal(size, (6, 48), seed=740, octaves=3), 0.0, 1.0)
    folds = np.clip(0.5 + 0.75 * pt.fractal(size, 3, seed=741, octaves=4), 0.0, 1.0)
    stripe = pt.smoothstep(0.32, 0.34, np.abs((u * 3) % 1.0 - 0.5))
    exposed = np.clip(0.35 + 0.55 * folds + 0.2 * (height - 0.6), 0.0, 1.0)
    return {
        "faded_cloth_masks.jpg": Texture(rgb(exposed, stripe, slub)),
        "faded_cloth_normal.png": Texture(pt.normal_map(pt.blur(height, 0.0012), 0.006)),
    }


def leaf(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    wander = pt.fractal(size, 4, seed=760, octaves=4)
    across = np.abs(u - 0.5 + 0.006 * wander)
    middle = pt.smoothstep(0.022, 0.006, across)
    # side veins leave the midrib upwards, in turns on both sides
    offset = np.where(u > 0.5, 0.5, 0.0)
    climb = 6 * (v - 0.9 * across - 0.5 * across**2 + 0.012 * wander) + offset
    beside = np.abs(climb % 1.0 - 0.5)
    side = pt.smoothstep(0.075, 0.015, beside + 0.08 * across)
    net = pt.cells(size, 46, seed=761, jitter=0.9)
    fine = 0.55 * pt.smoothstep(0.1, 0.02, net.edge)
    wide = pt.cells(size, 15, seed=762, jitter=0.9)
    fine = np.maximum(fine, 0.75 * pt.smoothstep(0.06, 0.015, wide.edge))
    veins = np.maximum(np.maximum(middle, 0.9 * side), fine)
    tone = np.clip(0.5 + 0.28 * wander + 0.25 * (net.random(763) - 0.5), 0.0, 1.0)
    spots = pt.cells(size, 9, seed=764, jitter=1.0)
    brown = pt.smoothstep(0.16, 0.06, spots.nearest) * pt.smoothstep(0.72, 0.8, spots.random(765))
    return {"leaf_masks.jpg": Texture(rgb(tone, veins, brown), quality=58)}
