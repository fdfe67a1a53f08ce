"""Textures of the metallic examples. A recipe maps file names to arrays and how to store them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import patterns as pt
from patterns import Image


@dataclass(frozen=True)
class Texture:
    image: Image
    depth: str = "uint8"
    srgb: bool = False
    quality: int = 92


Recipe = Callable[[int], dict[str, Texture]]


def rgb(red: Image, green: Image, blue: Image) -> Image:
    return np.stack([red, green, blue], axis=-1)


def half_size(image: Image) -> Image:
    return (image[::2, ::2] + image[1::2, ::2] + image[::2, 1::2] + image[1::2, 1::2]) / 4.0


def copper_tray(size: int) -> dict[str, Texture]:
    hammer = pt.cells(size, 21, seed=11, jitter=0.7)
    bowls = np.minimum(hammer.nearest, 0.9) ** 2 * (0.75 + 0.5 * hammer.random(12))
    bowls = pt.normalized(pt.blur(bowls, 0.0026))
    broad = pt.fractal(size, 4, seed=20, octaves=4)
    medium = pt.fractal(size, 12, seed=30, octaves=5, gain=0.6)
    fine = pt.fractal(size, 64, seed=40, octaves=3, gain=0.7)
    marks = pt.scratches(size, 420, seed=50, length=(0.04, 0.45))
    gouges = pt.scratches(size, 22, seed=51, length=(0.1, 0.4), bend=0.8)
    marks = np.clip(marks * 0.7 + pt.blur(gouges, 0.0006) * 2.0, 0.0, 1.0)
    pits = pt.smoothstep(0.30, 0.10, pt.cells(size, 80, seed=60, jitter=1.0).nearest)
    pits *= pt.smoothstep(0.15, 0.6, medium + 0.3 * broad)

    recess = 1.0 - bowls
    spread = 0.62 * broad + 0.34 * medium + 0.15 * fine + 0.85 * (recess - 0.88)
    patina = np.clip(pt.smoothstep(-0.06, 0.16, spread) + 0.7 * pits, 0.0, 1.0)
    stain = pt.smoothstep(-0.26, 0.02, spread) * (1.0 - patina)
    wear = 0.8 * np.roll(broad, size // 3, axis=1) + 0.4 * medium + 0.6 * (bowls - 0.5)
    varnish = pt.smoothstep(0.16, 0.02, wear) * (1.0 - 0.85 * marks)
    crust = np.clip(patina * (0.55 + 0.5 * fine + 0.4 * medium), 0.0, 1.0)
    dust = pt.smoothstep(0.35, 1.1, pt.blur(recess, 0.003) * 0.7 + 0.6 * medium + 0.2 * fine)

    age = np.clip(0.30 + 0.28 * medium + 0.30 * broad + 0.22 * (hammer.random(13) - 0.4), 0, 1)
    metal = pt.ramp(
        age, (0.98, 0.74, 0.59), (0.94, 0.64, 0.48), (0.80, 0.46, 0.34), (0.56, 0.28, 0.26)
    )
    metal = pt.tint(metal, 0.75 * stain, (0.36, 0.19, 0.15))
    metal = pt.tint(metal, 0.5 * marks, (0.99, 0.80, 0.68))
    tone = np.clip(0.40 + 0.34 * medium + 0.30 * fine + 0.35 * (crust - 0.4), 0.0, 1.0)
    verdigris = pt.ramp(
        tone, (0.05, 0.20, 0.20), (0.08, 0.40, 0.39), (0.24, 0.60, 0.57), (0.62, 0.85, 0.78)
    )
    verdigris = pt.tint(verdigris, 0.6 * stain, (0.18, 0.21, 0.14))

    height = 0.0085 * bowls + 0.0009 * crust - 0.0006 * marks - 0.0008 * pits + 0.0004 * medium
    roughness = 0.26 + 0.08 * medium + 0.16 * marks + 0.14 * stain + 0.04 * fine
    relief = half_size(half_size(pt.normalized(height)))
    # Steps of 1/512 are invisible and let the lossless EXR compress.
    roughness = np.round(half_size(roughness) * 512.0) / 512.0
    return {
        "copper_tray_metal.jpg": Texture(metal, srgb=True, quality=85),
        "copper_tray_patina.jpg": Texture(verdigris, srgb=True, quality=82),
        "copper_tray_masks.jpg": Texture(rgb(patina, varnish, dust), quality=78),
        "copper_tray_normal.png": Texture(pt.normal_map(height, 1.0)),
        "copper_tray_height.png": Texture(relief, depth="uint16"),
        "copper_tray_roughness.exr": Texture(roughness, depth="half"),
        "copper_tray_scratches.jpg": Texture(half_size(marks)),
    }


def brushed_steel(size: int) -> dict[str, Texture]:
    rows = np.random.default_rng(5).normal(size=(size, size))
    along = np.fft.rfft2(rows)
    columns = np.fft.rfftfreq(size)[None, :] * size
    streaks = sum(
        w * pt.normalized(np.fft.irfft2(along * np.exp(-((columns * length) ** 2)), s=rows.shape))
        for w, length in ((0.5, 0.25), (0.3, 0.08), (0.2, 0.02))
    )
    streaks = np.clip((streaks - 0.5) * 1.6 + 0.5, 0.0, 1.0)
    broad = pt.fractal(size, 2, seed=70, octaves=4)
    smear = pt.fractal(size, (3, 10), seed=71, octaves=5, gain=0.6)
    wiped = pt.warp(smear, 0.05 * broad, 0.03 * pt.fractal(size, 4, seed=72, octaves=3))
    smudges = pt.smoothstep(0.0, 0.7, wiped + 0.7 * broad)
    u, v = pt.uv_grid(size)
    wander = pt.fractal(size, 10, seed=74, octaves=4)
    contact = pt.smoothstep(-0.5, 0.3, pt.fractal(size, 30, seed=75, octaves=3))
    for x, y, turn in ((0.31, 0.62, 0.5), (0.41, 0.66, 0.3), (0.72, 0.27, -0.6)):
        smudges = np.maximum(smudges, contact * fingerprint(u - x, v - y, turn, 0.05, wander))
    marks = pt.scratches(size, 70, seed=73, length=(0.05, 0.3), angle=(-0.25, 0.25), bend=0.2)
    return {"brushed_steel_masks.png": Texture(rgb(streaks, smudges, marks))}


def fingerprint(x: Image, y: Image, turn: float, radius: float, wander: Image) -> Image:
    x, y = x - np.round(x), y - np.round(y)
    c, s = np.cos(turn), np.sin(turn)
    a, b = (c * x + s * y) / radius, (c * y - s * x) / (1.35 * radius)
    loop = np.hypot(a, b - 0.15) if turn > 0.4 else b + 1.1 * a * a * np.sign(0.35 - b)
    ridges = pt.smoothstep(-0.5, 0.5, np.cos(2.0 * np.pi * (6.0 * loop + 0.8 * wander)))
    return 0.9 * ridges * pt.smoothstep(1.0, 0.7, np.hypot(a, b) + 0.25 * wander)


def worn_chrome(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    broad = pt.fractal(size, 3, seed=110, octaves=5, gain=0.55)
    fine = pt.fractal(size, 40, seed=111, octaves=3)
    worn = pt.smoothstep(0.30, 0.46, broad + 0.12 * fine)
    pits = pt.smoothstep(0.22, 0.12, pt.cells(size, 46, seed=112, jitter=1.0).nearest)
    worn = np.maximum(worn, pits * pt.smoothstep(0.05, 0.3, broad))
    wiped = pt.fractal(size, (2, 9), seed=113, octaves=4, gain=0.6)
    film = 0.5 * pt.smoothstep(0.0, 0.8, pt.warp(wiped, 0.05 * broad, 0.02 * fine))
    wander = pt.fractal(size, 10, seed=114, octaves=4)
    contact = pt.smoothstep(-0.6, 0.2, pt.fractal(size, 30, seed=115, octaves=3))
    touched = ((0.2, 0.3, 0.6), (0.3, 0.25, 0.4), (0.62, 0.71, -0.5), (0.74, 0.66, -0.3))
    for x, y, turn in (*touched, (0.85, 0.2, 0.1)):
        film = np.maximum(film, contact * fingerprint(u - x, v - y, turn, 0.06, wander))
    marks = pt.scratches(size, 160, seed=116, length=(0.02, 0.25), bend=0.3)
    return {"worn_chrome_masks.png": Texture(rgb(worn, film, marks))}


def car_paint(size: int) -> dict[str, Texture]:
    flakes = pt.cells(size, size // 3, seed=80, jitter=1.0)
    angle = 2.0 * np.pi * flakes.random(81)
    lean = 0.22 * np.sqrt(flakes.random(82)) * (flakes.nearest < 0.62)
    normal = rgb(lean * np.cos(angle), lean * np.sin(angle), np.sqrt(1.0 - lean**2))
    shine = flakes.random(83) * pt.smoothstep(0.62, 0.5, flakes.nearest)
    return {
        "car_paint_flake_normal.png": Texture(normal * 0.5 + 0.5),
        "car_paint_flakes.jpg": Texture(shine, quality=78),
    }


def enamel_badge(size: int) -> dict[str, Texture]:
    u, v = pt.uv_grid(size)
    badge, wire, field, tone = (np.zeros((size, size)) for _ in range(4))
    dome = np.zeros_like(badge)
    soft = 1.5 / size
    for x0, y0 in ((0.25, 0.25), (0.75, 0.75)):
        x, y = u - x0, v - y0
        x, y = x - np.round(x), y - np.round(y)
        radius = np.hypot(x, y)
        angle = np.arctan2(y, x) - np.pi / 2
        disc = pt.smoothstep(soft, -soft, radius - 0.31)
        ring = pt.smoothstep(soft, -soft, np.abs(radius - 0.292) - 0.018)
        inner = pt.smoothstep(soft, -soft, np.abs(radius - 0.225) - 0.006)
        sector = np.abs((angle / (np.pi / 8)) % 2.0 - 1.0)
        rays = pt.smoothstep(soft, -soft, (1.0 - sector) * (np.pi / 8) * radius - 0.0055)
        rays *= pt.smoothstep(0.225, 0.22, radius)
        star = radius - 0.155 / (1.0 + 0.85 * np.abs(((angle / (np.pi / 5)) % 2.0) - 1.0) * 1.6)
        star_line = pt.smoothstep(soft, -soft, np.abs(star) - 0.006)
        star_fill = pt.smoothstep(soft, -soft, star)
        rays *= 1.0 - star_fill
        metal = np.clip(ring + inner + rays + star_line, 0.0, 1.0) * disc
        badge, wire = badge + disc, wire + np.maximum(metal, star_fill * disc)
        field = field + disc * (1.0 - metal) * (1.0 - star_fill)
        tone = tone + disc * (radius < 0.225) * (0.5 + 0.5 * np.cos(8.0 * angle))
        dome = dome + disc * (np.clip(0.31 - radius, 0.0, 0.05) * 0.35 - 0.006 * (1.0 - metal))
        dome = dome + disc * star_fill * 0.02 * pt.smoothstep(0.0, -0.08, star)
    rubber = pt.cells(size, 40, seed=90, jitter=0.5)
    pebble = (1.0 - np.minimum(rubber.nearest, 1.0) ** 2) * (1.0 - badge)
    height = pt.blur(dome, 0.0018) + 0.0030 * pebble
    wear = pt.scratches(size, 130, seed=91, length=(0.03, 0.2))
    return {
        "enamel_badge_regions.png": Texture(rgb(np.clip(wire, 0, 1), np.clip(field, 0, 1), tone)),
        "enamel_badge_normal.png": Texture(pt.normal_map(height, 1.0)),
        "enamel_badge_wear.jpg": Texture(
            np.clip(wear * 0.8 + 0.25 * pt.fractal(size, 6, seed=92) + 0.2, 0.0, 1.0)
        ),
    }
