"""The 36 textures of the helmet: each a function of its fields."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import patterns as pt
from fields import FLANGE, Helmet
from recipes_metal import Texture, rgb
from spectral import Field, blur

Recipe = Callable[[Helmet], Texture]


def colours(tone: Field, *stops: tuple[float, float, float]) -> Texture:
    """A ramp over a tone around 0.5; its stops are colours as stored."""
    return Texture(pt.ramp(np.clip(tone, 0.0, 1.0), *stops), srgb=True, quality=88)


def grey(value: Field) -> Texture:
    return Texture(np.clip(value, 0.0, 1.0), quality=88)


def relief(height: Field) -> Texture:
    return Texture(pt.normal_map(height, 1.0))


def fields_of(*channels: Field) -> Texture:
    return Texture(rgb(*(np.clip(each, 0.0, 1.0) for each in channels)))


def copper_color(h: Helmet) -> Texture:
    tone = 0.45 + 0.16 * h.patches + 0.1 * h.broad + 0.12 * (h.dents - 0.4)
    return colours(
        tone, (0.99, 0.77, 0.63), (0.96, 0.66, 0.51), (0.84, 0.50, 0.38), (0.62, 0.33, 0.26)
    )


def brass_color(h: Helmet) -> Texture:
    tone = 0.4 + 0.13 * h.noise(70, 6.0) + 0.08 * h.noise(71, 40.0, 1.2) + 0.35 * h.cavity
    return colours(
        tone, (0.98, 0.86, 0.58), (0.92, 0.76, 0.44), (0.78, 0.58, 0.30), (0.46, 0.31, 0.17)
    )


def solder_color(h: Helmet) -> Texture:
    return colours(
        0.5 + 0.22 * h.noise(72, 18.0, 1.3),
        (0.86, 0.85, 0.82),
        (0.70, 0.69, 0.67),
        (0.50, 0.49, 0.48),
    )


def cuprite_color(h: Helmet) -> Texture:
    tone = 0.5 + 0.2 * h.noise(73, 10.0) + 0.12 * h.noise(74, 50.0, 1.1)
    return colours(
        tone, (0.20, 0.10, 0.07), (0.34, 0.16, 0.10), (0.45, 0.21, 0.13), (0.28, 0.20, 0.13)
    )


def verdigris_color(h: Helmet) -> Texture:
    tone = (
        0.45
        + 0.14 * h.noise(75, 14.0, 1.4)
        + 0.1 * h.noise(76, 70.0, 0.9)
        + 0.25 * (h.verdigris - 0.4)
    )
    return colours(
        tone, (0.12, 0.33, 0.33), (0.21, 0.52, 0.50), (0.36, 0.68, 0.62), (0.66, 0.86, 0.78)
    )


def primer_color(h: Helmet) -> Texture:
    tone = 0.5 + 0.2 * h.noise(77, 12.0) + 0.12 * h.noise(78, 60.0, 1.0)
    return colours(tone, (0.70, 0.24, 0.13), (0.62, 0.20, 0.12), (0.46, 0.16, 0.11))


def cream_color(h: Helmet) -> Texture:
    tone = 0.4 + 0.14 * h.noise(79, 5.0) + 0.06 * h.noise(80, 40.0, 1.1) + 0.4 * h.drips
    return colours(
        tone, (0.89, 0.84, 0.71), (0.82, 0.75, 0.59), (0.66, 0.57, 0.42), (0.46, 0.38, 0.28)
    )


def enamel_color(h: Helmet) -> Texture:
    border = 1.0 - np.abs(h.cover(0.60, 91) - 0.56) / 0.1
    tone = 0.42 + 0.12 * h.noise(81, 3.0, 1.8) + 0.07 * h.noise(82, 26.0, 1.2)
    tone += 0.22 * np.clip(border, 0.0, 1.0) - 0.25 * h.drips
    return colours(
        tone, (0.05, 0.13, 0.17), (0.09, 0.24, 0.30), (0.14, 0.34, 0.40), (0.34, 0.50, 0.52)
    )


def decal_color(h: Helmet) -> Texture:
    tone = 0.4 + 0.2 * h.noise(83, 7.0) + 0.1 * h.noise(84, 60.0, 1.0)
    return colours(tone, (0.94, 0.80, 0.42), (0.88, 0.69, 0.30), (0.70, 0.52, 0.24))


def glass_color(h: Helmet) -> Texture:
    tone = 0.25 + h.radius / 0.224 * 0.6 + 0.1 * h.noise(85, 6.0)
    return colours(
        tone, (0.03, 0.06, 0.06), (0.07, 0.13, 0.12), (0.19, 0.25, 0.21), (0.36, 0.36, 0.28)
    )


def rust_color(h: Helmet) -> Texture:
    tone = 0.5 + 0.18 * h.noise(86, 16.0, 1.3) + 0.14 * h.noise(87, 90.0, 0.8)
    return colours(
        tone, (0.26, 0.11, 0.06), (0.45, 0.20, 0.09), (0.64, 0.33, 0.13), (0.74, 0.46, 0.20)
    )


def salt_color(h: Helmet) -> Texture:
    return colours(
        0.55 + 0.2 * h.noise(88, 30.0, 1.0),
        (0.60, 0.57, 0.50),
        (0.80, 0.79, 0.74),
        (0.93, 0.93, 0.90),
    )


def grime_color(h: Helmet) -> Texture:
    return colours(
        0.5 + 0.2 * h.noise(89, 20.0, 1.2),
        (0.07, 0.06, 0.05),
        (0.13, 0.11, 0.08),
        (0.20, 0.18, 0.12),
    )


def dust_color(h: Helmet) -> Texture:
    return colours(
        0.5 + 0.2 * h.noise(90, 24.0, 1.0),
        (0.48, 0.43, 0.36),
        (0.60, 0.55, 0.47),
        (0.71, 0.66, 0.57),
    )


def copper_roughness(h: Helmet) -> Texture:
    value = 0.3 + 0.05 * h.patches + 0.05 * h.noise(92, 50.0, 1.0) + 0.12 * h.scratches
    # Steps of 1/512 are invisible and let the lossless EXR compress.
    return Texture(np.round(np.clip(value, 0.0, 1.0) * 512.0) / 512.0, depth="half")


def brass_roughness(h: Helmet) -> Texture:
    brushed = h.noise(93, 60.0, 1.0, stretch=(0.08, 1.0))
    return grey(0.3 + 0.06 * h.noise(94, 8.0) + 0.05 * brushed - 0.12 * h.edges + 0.1 * h.scratches)


def verdigris_roughness(h: Helmet) -> Texture:
    return grey(0.62 + 0.1 * h.noise(95, 30.0, 1.0) - 0.1 * h.drips)


def cream_roughness(h: Helmet) -> Texture:
    return grey(0.48 + 0.09 * h.noise(96, 9.0) + 0.05 * h.noise(97, 60.0, 1.0))


def enamel_roughness(h: Helmet) -> Texture:
    rubbed = np.clip(h.noise(98, 6.0, 1.5, stretch=(1.0, 1.8)), -1.5, 2.0)
    return grey(0.3 + 0.07 * rubbed + 0.05 * h.noise(99, 50.0, 1.0) + 0.2 * h.scratches)


def lacquer_roughness(h: Helmet) -> Texture:
    return grey(0.2 + 0.05 * h.noise(100, 5.0) + 0.25 * h.scratches + 0.1 * h.dust)


def glass_roughness(h: Helmet) -> Texture:
    wiped = h.noise(101, 10.0, 1.5, stretch=(1.0, 3.0))
    return grey(0.13 + 0.05 * np.clip(wiped, -1.0, 2.0) + 0.25 * h.prints + 0.2 * h.scratches)


def form_normal(h: Helmet) -> Texture:
    return relief(h.form - 0.004 * blur(h.hollows, 0.004) * (1.0 - h.brass))


def hammer_normal(h: Helmet) -> Texture:
    return relief(0.0042 * h.dents + 0.00004 * h.noise(102, 60.0, 1.2))


def brush_normal(h: Helmet) -> Texture:
    strokes = h.noise(103, 40.0, 1.2, stretch=(1.0, 0.12))
    films = [pt.smoothstep(0.47, 0.53, h.cover(*each)) for each in ((0.60, 91), (0.72, 104))]
    return relief(0.00005 * strokes + 0.0009 * blur(films[0] + films[1], 0.0008))


def crust_normal(h: Helmet) -> Texture:
    grains = h.noise(105, 45.0, 1.2) + 0.6 * h.noise(106, 16.0, 1.4)
    return relief(blur(0.00045 * grains.astype(np.float32), 0.0012))


def lacquer_normal(h: Helmet) -> Texture:
    return relief(0.0003 * h.noise(107, 22.0, 2.0) - 0.0002 * blur(h.scratches, 0.0008))


def parts_mask(h: Helmet) -> Texture:
    return fields_of(h.brass, h.window, h.inside(h.seam, 4.0) * (1.0 - h.inside(h.straps)))


def paint_mask(h: Helmet) -> Texture:
    """Covers of primer, cream and enamel: none on fittings and glass."""
    bare = np.maximum(h.inside(h.straps, 3.0), 0.6 * h.iron)
    covers = (h.cover(0.80, 108), h.cover(0.72, 104), h.cover(0.60, 91))
    return fields_of(*(each * (1.0 - bare) for each in covers))


def patina_mask(h: Helmet) -> Texture:
    heat = np.exp(-(((h.radius - FLANGE - 0.007) / 0.035) ** 2)) * np.clip(
        0.6 + 0.4 * h.patches, 0, 1
    )
    seam = np.exp(-((h.seam / 0.03) ** 2)) * 0.6
    return fields_of(h.tarnish, h.verdigris, np.maximum(heat, seam))


def decal_mask(h: Helmet) -> Texture:
    return grey(h.decal)


def edge_mask(h: Helmet) -> Texture:
    return grey(h.edges * np.clip(0.75 + 0.25 * h.patches, 0.0, 1.0) * (1.0 - h.window))


def scratches(h: Helmet) -> Texture:
    return grey(h.scratches)


def rust_mask(h: Helmet) -> Texture:
    return grey(h.rust * (1.0 - h.window))


def salt_mask(h: Helmet) -> Texture:
    return grey(h.salt)


def dirt_mask(h: Helmet) -> Texture:
    return fields_of(h.dust, h.grime, h.cavity)


def film_mask(h: Helmet) -> Texture:
    """Fingerprints, oil, and the thickness of the interference film of oxide."""
    return fields_of(h.prints, h.oil, 0.5 + 0.2 * h.noise(109, 6.0, 1.8) + 0.12 * h.broad)


TEXTURES: dict[str, Recipe] = {
    "copper_color.jpg": copper_color,
    "brass_color.jpg": brass_color,
    "solder_color.jpg": solder_color,
    "cuprite_color.jpg": cuprite_color,
    "verdigris_color.jpg": verdigris_color,
    "primer_color.jpg": primer_color,
    "cream_color.jpg": cream_color,
    "enamel_color.jpg": enamel_color,
    "decal_color.jpg": decal_color,
    "glass_color.jpg": glass_color,
    "rust_color.jpg": rust_color,
    "salt_color.jpg": salt_color,
    "grime_color.jpg": grime_color,
    "dust_color.jpg": dust_color,
    "copper_roughness.exr": copper_roughness,
    "brass_roughness.jpg": brass_roughness,
    "verdigris_roughness.jpg": verdigris_roughness,
    "cream_roughness.jpg": cream_roughness,
    "enamel_roughness.jpg": enamel_roughness,
    "lacquer_roughness.jpg": lacquer_roughness,
    "glass_roughness.jpg": glass_roughness,
    "form_normal.png": form_normal,
    "hammer_normal.png": hammer_normal,
    "brush_normal.png": brush_normal,
    "crust_normal.png": crust_normal,
    "lacquer_normal.png": lacquer_normal,
    "parts_mask.png": parts_mask,
    "paint_mask.png": paint_mask,
    "patina_mask.png": patina_mask,
    "decal_mask.jpg": decal_mask,
    "edge_mask.jpg": edge_mask,
    "scratches.jpg": scratches,
    "rust_mask.jpg": rust_mask,
    "salt_mask.jpg": salt_mask,
    "dirt_mask.png": dirt_mask,
    "film_mask.png": film_mask,
}
