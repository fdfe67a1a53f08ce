"""Textures of the ceramic, brick, cloth, wood and panel examples."""

from __future__ import annotations

import numpy as np
import patterns as pt
from patterns import Image
from recipes_metal import Texture, rgb


def glazed_tile(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    columns, rows = 4, 8
    y = v * rows
    row = np.floor(y).astype(int)
    x = u * columns + 0.5 * (row % 2)
    column = np.floor(x).astype(int) % columns
    fx, fy = x % 1.0, y % 1.0
    wobble = 0.006 * pt.fractal(size, 16, seed=100, octaves=3)
    inset_x = 0.5 - np.abs(fx - 0.5) + 0.5 * wobble
    inset_y = 0.5 * (0.5 - np.abs(fy - 0.5)) + wobble
    corner = 0.055
    qx, qy = np.maximum(corner - inset_x + 0.018, 0.0), np.maximum(corner - inset_y + 0.018, 0.0)
    inside = corner - np.hypot(qx, qy)
    tile = pt.smoothstep(-0.004, 0.006, inside)
    grout = 1.0 - tile
    random = np.random.default_rng(101).random((rows, columns, 3))[row, column]

    drift = pt.fractal(size, 5, seed=102, octaves=4)
    net = pt.cells(size, 26, seed=103, jitter=0.95)
    shifted = pt.warp(net.edge, 0.006 * pt.fractal(size, 20, seed=104), 0.006 * drift)
    crackle = pt.smoothstep(0.035, 0.008, shifted) * pt.smoothstep(-0.35, 0.25, drift) * tile
    pool = pt.smoothstep(0.045, 0.0, inside) * tile
    tone = np.clip(0.45 + 0.34 * (random[..., 0] - 0.5) * 2.0 + 0.16 * drift - 0.3 * pool, 0, 1)
    glaze = pt.ramp(tone, (0.03, 0.15, 0.24), (0.05, 0.33, 0.42), (0.15, 0.50, 0.54))
    glaze = pt.tint(glaze, pt.smoothstep(0.78, 0.8, random[..., 1]), (0.86, 0.80, 0.68))
    glaze = pt.tint(glaze, 0.45 * pool, (0.02, 0.09, 0.14))
    glaze = pt.tint(glaze, 0.8 * crackle, (0.10, 0.08, 0.06))
    sand = pt.fractal(size, 64, seed=105, octaves=4, gain=0.8)
    joint = pt.ramp(
        np.clip(0.5 + 0.4 * sand + 0.2 * drift, 0, 1), (0.42, 0.40, 0.37), (0.7, 0.68, 0.63)
    )

    lean = ((random[..., 1] - 0.5) * (fx - 0.5) + (random[..., 2] - 0.5) * (fy - 0.5)) * 0.012
    profile = 0.016 * pt.smoothstep(-0.01, 0.055, inside)
    height = (profile + lean * tile + 0.0016 * drift * tile) * 0.5
    height += -0.0004 * pt.blur(crackle, 0.0008) + 0.0009 * sand * grout
    return {
        "glazed_tile_color.jpg": Texture(pt.tint(glaze, grout, joint), srgb=True),
        "glazed_tile_masks.png": Texture(rgb(grout, crackle, random[..., 0] * tile)),
        "glazed_tile_normal.png": Texture(pt.normal_map(height, 1.0)),
    }


def brick_wall(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    rows = 8
    row = np.floor(v * rows).astype(int)
    # English bond: a row of stretchers, a row of headers, which are half as long
    columns = np.where(row % 2 == 0, 4, 8)
    x = u * columns + np.where(row % 2 == 0, 0.0, 0.5)
    column = np.floor(x).astype(int) % columns
    random = np.random.default_rng(120).random((rows, 8, 5))[row, column]
    drift = pt.fractal(size, 4, seed=121, octaves=4)
    worn = pt.fractal(size, 14, seed=122, octaves=4, gain=0.6)
    grain = pt.fractal(size, 56, seed=123, octaves=3, gain=0.7)

    # in units of the height of a row
    along, across = (x % 1.0 - 0.5) * rows / columns, v * rows % 1.0 - 0.5
    tilt = 0.05 * (random[..., 0] - 0.5)
    qx = np.abs(along + tilt * across) - 0.5 * rows / columns
    qy = np.abs(across - tilt * along) - 0.5
    joint, corner = 0.075, 0.11
    rounded = np.hypot(np.maximum(qx + joint + corner, 0), np.maximum(qy + joint + corner, 0))
    inside = corner - rounded + 0.035 * worn + 0.012 * grain
    chips = pt.cells(size, 13, seed=124, jitter=1.0)
    broken = pt.smoothstep(0.34, 0.12, chips.nearest + 0.15 * worn)
    edge = pt.smoothstep(-0.3, -0.1, np.maximum(qx, qy))
    inside -= 0.16 * edge * broken * pt.smoothstep(0.62, 0.66, chips.random(125))
    brick = pt.smoothstep(-0.01, 0.035, inside)

    lean = (random[..., 1] - 0.5) * along * columns / rows + (random[..., 2] - 0.5) * across
    top = 0.72 + 0.3 * (random[..., 3] - 0.5) + 0.2 * lean + 0.05 * worn + 0.018 * grain
    top -= 0.32 * pt.smoothstep(0.1, 0.0, inside)
    mortar = 0.16 + 0.09 * worn + 0.04 * drift + 0.02 * grain
    height = pt.blur(np.clip(pt.lerp(mortar, top, brick), 0.0, 1.0), 0.0012)
    # 11 bits: as smooth to an eye as 16, in a smaller file
    height = np.round(height * 2047) / 2047

    burnt = pt.smoothstep(0.8, 0.86, random[..., 4])
    tone = np.clip(0.5 + 0.75 * (random[..., 3] - 0.5) + 0.16 * worn + 0.14 * grain, 0.0, 1.0)
    clay = pt.ramp(tone, (0.36, 0.16, 0.12), (0.55, 0.25, 0.17), (0.70, 0.40, 0.27))
    clay = pt.tint(clay, 0.75 * burnt, (0.23, 0.17, 0.17))
    lime = pt.smoothstep(0.12, 0.5, drift + 0.35 * worn + 0.15 * grain)
    clay = pt.tint(clay, 0.45 * lime, (0.80, 0.75, 0.69))
    sand = np.clip(0.5 + 0.35 * grain + 0.3 * worn, 0.0, 1.0)
    color = pt.tint(clay, 1.0 - brick, pt.ramp(sand, (0.50, 0.46, 0.41), (0.73, 0.69, 0.62)))
    moss = pt.smoothstep(0.1, 0.45, -drift + 0.3 * worn) * pt.smoothstep(0.5, 0.25, height)
    color = pt.tint(color, 0.7 * moss, (0.24, 0.28, 0.12))
    return {
        "brick_wall_color.jpg": Texture(color, srgb=True, quality=86),
        "brick_wall_height.png": Texture(height, depth="uint16"),
    }


def leaf(x: Image, y: Image, angle: float, length: float, width: float, base: float) -> Image:
    """Signed size of a pointed petal that leaves the origin at an angle; positive inside."""
    c, s = np.cos(angle), np.sin(angle)
    along, across = (c * x + s * y - base) / length, c * y - s * x
    bounded = np.clip(along, 0.0, 1.0)
    half = width * np.sin(np.pi * bounded**0.8) ** 1.2
    return np.where(along == bounded, half - np.abs(across), -1.0)


def damask(u: Image, v: Image) -> Image:
    """Positive inside the pattern: palmettes in an ogee lattice, repeated in half drop."""
    pattern = np.full(u.shape, -1.0)
    for x0, y0 in ((0.5, 0.5), (0.0, 0.0)):
        x, y = u - x0, v - y0
        x, y = np.abs(x - np.round(x)), y - np.round(y)
        for angle, length, width in (
            (1.5708, 0.27, 0.040),
            (1.15, 0.235, 0.032),
            (0.72, 0.19, 0.028),
            (0.25, 0.15, 0.024),
            (-0.35, 0.13, 0.022),
            (-1.0, 0.15, 0.026),
            (-1.5708, 0.22, 0.030),
        ):
            petal = leaf(x, y, angle, length, width, 0.035)
            vein = np.abs(leaf(x, y, angle, length, width * 0.28, 0.06)) - 0.0015
            pattern = np.maximum(pattern, np.minimum(petal, vein))
        pattern = np.maximum(pattern, 0.027 - np.hypot(x, y))
        arch = np.hypot(x / 0.175, (y - 0.045) / 0.30 + 0.25 * (x / 0.175) ** 2) - 1.0
        pattern = np.maximum(pattern, (0.045 - np.abs(arch)) * 0.15)
        beads = np.hypot(x - 0.205, np.abs(np.abs(y) - 0.05) - 0.028) - 0.009
        pattern = np.maximum(pattern, -beads)
        pattern = np.maximum(pattern, 0.014 - np.hypot(x - 0.085, y - 0.245))
        pattern = np.maximum(pattern, 0.011 - np.hypot(x - 0.135, y + 0.16))
    swing = 0.25 + 0.19 * np.cos(2.0 * np.pi * v) - 0.02 * np.cos(6.0 * np.pi * v)
    for rail in (swing, 0.5 + swing, 0.5 - swing, 1.0 - swing):
        gap = np.abs((u - rail) - np.round(u - rail))
        pattern = np.maximum(pattern, 0.0115 - gap)
        pattern = np.maximum(pattern, 0.0035 - np.abs(gap - 0.021))
    return pattern


def two_tone_velvet(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    bend = 0.004 * pt.fractal(size, 12, seed=110, octaves=3)
    motif = damask((2.0 * u + bend) % 1.0, (2.0 * v + bend) % 1.0)
    pile_mask = 1.0 - pt.smoothstep(-0.004, 0.004, motif)
    threads = 64
    over = np.sin(2 * np.pi * threads * u) * np.sin(2 * np.pi * threads * v)
    pile = pt.fractal(size, 40, seed=111, octaves=4, gain=0.8)
    crushed = pt.fractal(size, 3, seed=112, octaves=4)
    cut = pt.blur(pile_mask, 0.003)
    height = 0.0040 * cut + 0.0004 * over * (1.0 - pile_mask) + 0.0003 * pile * pile_mask
    height += 0.0025 * crushed
    lay = np.clip(0.5 + 0.35 * crushed + 0.25 * pile, 0.0, 1.0)
    weave = np.clip(0.5 + 0.3 * over + 0.25 * pile, 0.0, 1.0)
    return {
        "two_tone_velvet_masks.jpg": Texture(rgb(pile_mask, lay, weave), quality=84),
        "two_tone_velvet_normal.png": Texture(pt.normal_map(height, 1.0)),
    }


def painted_wood(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    boards = 4
    # Half a board to the side, so that no joint lies on the border of the texture.
    u = (u + 0.5 / boards) % 1.0
    board = np.floor(u * boards).astype(int)
    fx = u * boards - board
    rng = np.random.default_rng(120)
    shift = rng.random(boards)[board]
    sway = pt.fractal(size, (6, 2), seed=121, octaves=3, gain=0.4)
    across = fx + 0.22 * sway + 3.7 * shift
    knot = np.zeros_like(u)
    for index in range(5):
        kx, ky = (rng.integers(boards) + rng.uniform(0.3, 0.7)) / boards, rng.random()
        x, y = u - kx, v - ky
        x, y = (x - np.round(x)) * boards, (y - np.round(y)) * 2.2
        fall = np.exp(-(x * x + y * y) / (0.02 + 0.006 * index))
        across, knot = across + 0.55 * fall, np.maximum(knot, fall)
    rings = 0.5 + 0.5 * np.sin(2.0 * np.pi * 6.0 * across)
    fibre = pt.fractal(size, (128, 4), seed=122, octaves=3, gain=0.7)
    grain = np.clip(0.25 + 0.6 * rings**2 + 0.30 * fibre, 0.0, 1.0)
    gap = pt.smoothstep(0.022, 0.008, 0.5 - np.abs(fx - 0.5))
    wood = pt.ramp(
        np.clip(grain * 0.75 + 0.2 * shift + 0.15 * sway, 0, 1),
        (0.72, 0.56, 0.40), (0.56, 0.39, 0.25), (0.34, 0.21, 0.13),
    )  # fmt: skip
    wood = pt.tint(wood, 0.8 * pt.smoothstep(0.25, 0.9, knot), (0.20, 0.11, 0.07))
    wood = pt.tint(wood, 0.25 * pt.smoothstep(0.0, 0.6, sway), (0.50, 0.48, 0.45))

    broad = pt.fractal(size, 3, seed=123, octaves=5, gain=0.55)
    chips = pt.fractal(size, (20, 8), seed=124, octaves=5, gain=0.65)
    at_edge = pt.smoothstep(0.16, 0.02, 0.5 - np.abs(fx - 0.5))
    worn = 0.18 + 0.55 * broad + 0.48 * chips + 0.62 * at_edge - 0.18 * grain + 0.25 * knot
    paint = pt.smoothstep(0.46, 0.40, worn)
    edge = pt.smoothstep(0.20, 0.42, worn) * paint
    primer = pt.smoothstep(0.395, 0.43, worn) * pt.smoothstep(0.47, 0.44, worn)
    age = np.clip(0.45 + 0.35 * broad + 0.12 * fibre, 0.0, 1.0)
    coat = pt.ramp(age, (0.66, 0.70, 0.60), (0.47, 0.58, 0.50), (0.34, 0.46, 0.41))
    coat = pt.tint(coat, 0.45 * edge, (0.22, 0.30, 0.29))
    coat = pt.tint(coat, 0.9 * primer, (0.80, 0.77, 0.68))
    coat = pt.tint(coat, 0.85 * gap, (0.10, 0.12, 0.11))
    wood = pt.tint(wood, 0.9 * gap, (0.10, 0.07, 0.05))

    film = pt.blur(paint, 0.0012)
    brush = pt.fractal(size, (90, 5), seed=125, octaves=2)
    height = 0.0030 * film - 0.010 * pt.blur(gap, 0.002) + 0.0007 * brush * paint
    height += (0.0012 * (0.5 - grain) + 0.0010 * fibre) * (1.0 - 0.7 * film)
    return {
        "painted_wood_wood.jpg": Texture(wood, srgb=True),
        "painted_wood_paint.jpg": Texture(coat, srgb=True),
        "painted_wood_masks.png": Texture(rgb(paint, edge, gap)),
        "painted_wood_normal.png": Texture(pt.normal_map(height, 1.0)),
    }


def glowing_panel(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    period = 4
    x, y = (u * period) % 1.0 - 0.5, (v * period) % 1.0 - 0.5
    qx, qy = np.maximum(np.abs(x) - 0.36, 0.0), np.maximum(np.abs(y) - 0.36, 0.0)
    plate = 0.08 - np.hypot(qx, qy)
    column, row = np.floor(u * period).astype(int), np.floor(v * period).astype(int)
    vent = (column + row) % 2 == 0
    slot_y = ((y + 0.5) * 6.0) % 1.0 - 0.5
    slot = 0.17 - np.hypot(np.maximum(np.abs(x) - 0.24, 0.0) * 6.0, slot_y)
    soft = 4.0 / size
    hole = pt.smoothstep(-6.0 * soft, 6.0 * soft, slot) * vent * (np.abs(y) < 0.34)
    trench = pt.smoothstep(soft, -soft, plate)
    radius = np.hypot(x, y)
    dial = np.where(vent, -1.0, 0.016 - np.abs(radius - 0.26))
    ticks = np.cos(24.0 * np.arctan2(y, x))
    bars = np.where(vent, -1.0, np.minimum(0.03 - np.abs(radius - 0.19), ticks * 0.02))
    light = np.maximum(pt.smoothstep(-soft, soft, dial), pt.smoothstep(-soft, soft, bars) * 0.8)
    line = pt.smoothstep(soft, -soft, np.abs(plate + 0.014) - 0.008)
    glow = np.clip(light + line, 0.0, 1.0)
    halo = 0.55 * pt.blur(glow, 0.012)
    emission = glow[..., None] * pt.ramp(
        np.where(line > 0.1, 0.0, 1.0), (0.10, 0.75, 1.0), (1.0, 0.48, 0.10)
    ) + halo[..., None] * np.array((0.05, 0.22, 0.30))
    noise = pt.fractal(size, 24, seed=130, octaves=5, gain=0.7)
    marks = pt.scratches(size, 160, seed=131, length=(0.03, 0.2))
    rough = np.clip(0.42 + 0.14 * noise - 0.2 * marks, 0.05, 1.0)
    height = 0.006 * pt.smoothstep(-0.01, 0.04, plate) - 0.004 * pt.blur(hole, 0.002)
    height += 0.0002 * noise - 0.0004 * light
    return {
        "glowing_panel_emission.jpg": Texture(np.clip(emission, 0, 1), srgb=True),
        "glowing_panel_masks.png": Texture(rgb(1.0 - hole, rough, trench)),
        "glowing_panel_normal.png": Texture(pt.normal_map(height, 1.0)),
    }
