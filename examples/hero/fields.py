"""Fields of the helmet, from which its textures are made: shapes, heights, wear, stains.

All fields tile.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import patterns as pt
from recipes_metal import fingerprint
from spectral import Field, blur, enlarge, noise, streaks

# Voronoi cells are slow: larger textures enlarge them.
_CELLS = 512

WINDOW, BEZEL, FLANGE = 0.112, 0.128, 0.178
"""Radii of the glass, of the ring that holds it, and of the bolted flange."""
BOLTS, BOLT_CIRCLE, BOLT = 10, 0.154, 0.0125
BANDS = ((0.215, 0.032), (0.805, 0.024))
"""Heights of the brass bands, and half of their widths."""
SEAM = 0.016
"""Half of the width of the brazed seam at the border of the tile."""


class Helmet:
    """The fields, each made when it is first read."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.soft = max(1.0 / size, 0.0008)
        u, v = pt.uv_grid(size)
        self.u, self.v = u.astype(np.float32), v.astype(np.float32)

    def noise(self, seed: int, low: float, slope: float = 1.6, **options: tuple) -> Field:
        return noise(self.size, seed, low, slope, **options)

    def inside(self, distance: Field, soft: float = 1.0) -> Field:
        """1 where a distance is positive, with an edge of about a texel."""
        return np.clip(0.5 + distance / (2.0 * soft * self.soft), 0.0, 1.0)

    # Shapes

    @cached_property
    def radius(self) -> Field:
        return np.hypot(self.u - 0.5, self.v - 0.5)

    @cached_property
    def window(self) -> Field:
        """The glass, without the bars before it."""
        return self.inside(WINDOW - self.radius) * (1.0 - self.inside(self.bars))

    @cached_property
    def bars(self) -> Field:
        """Distance into the guard: two upright bars and one across."""
        x, y = self.u - 0.5, self.v - 0.5
        upright = 0.0065 - np.abs(np.abs(x) - 0.04)
        return np.maximum(upright, 0.0065 - np.abs(y))

    @cached_property
    def bolts(self) -> Field:
        """Distance into the nearest of the hexagonal bolts of the flange."""
        step = 2.0 * np.pi / BOLTS
        angle = np.arctan2(self.v - 0.5, self.u - 0.5)
        nearest = np.round(angle / step) * step
        x = self.u - 0.5 - BOLT_CIRCLE * np.cos(nearest)
        y = self.v - 0.5 - BOLT_CIRCLE * np.sin(nearest)
        hexagon = [np.abs(x * np.cos(a) + y * np.sin(a)) for a in np.pi * np.arange(3) / 3]
        return (BOLT * 0.88 - np.max(hexagon, axis=0)).astype(np.float32)

    @cached_property
    def rivets(self) -> Field:
        """Distance into the nearest rivet of the bands and the seam."""
        distance = np.full_like(self.u, np.inf)
        for height, half in BANDS:
            count, offset = 20, 0.62 * half
            x = ((self.u * count) % 1.0 - 0.5) / count
            for y in (self.v - height - offset, self.v - height + offset):
                distance = np.minimum(distance, np.hypot(x, y))
        y = ((self.v * 18) % 1.0 - 0.5) / 18
        x = (self.u + 0.5) % 1.0 - 0.5
        return 0.0062 - np.minimum(distance, np.hypot(x, y))

    @cached_property
    def straps(self) -> Field:
        """Distance into the brass bands and the flange."""
        bands = np.max([half - np.abs(self.v - height) for height, half in BANDS], axis=0)
        return np.maximum(bands, FLANGE - self.radius)

    @cached_property
    def seam(self) -> Field:
        return SEAM - np.abs((self.u + 0.5) % 1.0 - 0.5) + 0.002 * self.noise(11, 12)

    @cached_property
    def brass(self) -> Field:
        """All fittings of brass."""
        return self.inside(self.straps) * (1.0 - self.window)

    @cached_property
    def iron(self) -> Field:
        """Heads of bolts and rivets."""
        return np.maximum(self.inside(self.bolts), self.inside(self.rivets))

    # Heights, in tiles

    @cached_property
    def form(self) -> Field:
        """Straps, ring, bolts and rivets as they stand on the shell."""
        straps = pt.smoothstep(-0.005, 0.005, self.straps)
        ring = pt.smoothstep(-0.006, 0.006, BEZEL - self.radius)
        ring *= pt.smoothstep(-0.004, 0.01, self.radius - WINDOW)
        sunk = pt.smoothstep(-0.004, 0.008, WINDOW - self.radius)
        bars = sunk * np.sqrt(np.clip(self.bars / 0.0065, 0.0, 1.0))
        bolts = pt.smoothstep(-0.001, 0.0035, self.bolts)
        rivets = np.sqrt(np.clip(self.rivets / 0.0062, 0.0, 1.0))
        seam = pt.smoothstep(-0.004, 0.006, self.seam) * (1.0 - straps)
        height = 0.0045 * straps + 0.0055 * ring - 0.0045 * sunk + 0.0042 * bars
        height += 0.004 * bolts + 0.0028 * rivets + 0.0016 * seam
        return blur(height.astype(np.float32), 0.0018)

    @cached_property
    def dents(self) -> Field:
        """The hammered shell, about 0 to 1."""
        small = pt.cells(min(_CELLS, self.size), 22, seed=20, jitter=0.85)
        bowls = np.minimum(small.nearest, 0.9) ** 2 * (0.6 + 0.8 * small.random(21))
        return enlarge(blur(bowls.astype(np.float32), 0.006), self.size)

    @cached_property
    def hollows(self) -> Field:
        """Large dents of a long working life."""
        return np.clip(self.noise(22, 2.5, 2.4) - 0.9, 0.0, 2.0)

    @cached_property
    def cavity(self) -> Field:
        """Corners beside fittings and between dents, 0 to 1."""
        height = self.form + 0.0012 * self.dents * (1.0 - self.brass)
        near, wide = blur(height, 0.006), blur(height, 0.018)
        return np.clip((near - height) / 0.0022 + (wide - near) / 0.004, 0.0, 1.0)

    @cached_property
    def edges(self) -> Field:
        """Raised edges, which hands and ropes rub, 0 to 1."""
        height = self.form + 0.0006 * self.dents
        return np.clip((height - blur(height, 0.006)) / 0.0022, 0.0, 1.0)

    # Wear and stains, 0 to 1

    @cached_property
    def broad(self) -> Field:
        return self.noise(30, 2.0, 1.9)

    @cached_property
    def patches(self) -> Field:
        return self.noise(31, 7.0, 1.7)

    @cached_property
    def flakes(self) -> Field:
        """Angular noise for the borders of chips."""
        plates = pt.cells(min(_CELLS, self.size), 46, seed=32, jitter=1.0)
        steps = enlarge(blur(plates.random(33).astype(np.float32), 0.0016), self.size)
        return (steps - 0.5) * 2.6 + 0.35 * self.noise(34, 30.0, 1.5)

    @cached_property
    def wear(self) -> Field:
        """How much was rubbed or chipped off the shell; without a unit."""
        beside = blur(np.maximum(self.brass, self.inside(self.seam)), 0.018)
        wear = 0.8 * self.broad + 0.5 * self.patches + 0.3 * self.flakes
        wear += 1.7 * beside + 0.8 * self.edges + 0.9 * np.clip(self.hollows - 0.2, 0.0, 1.0)
        return wear + 0.5 * blur(self.scratches, 0.0012)

    def cover(self, share: float, seed: int) -> Field:
        """Where a paint that stays on a share of the shell still is: 0.5 at its border."""
        field = self.wear + 0.09 * self.noise(seed, 40.0, 1.5)
        border = np.quantile(field[:: max(1, self.size // 256)], share)
        return np.clip(0.5 + 0.32 * (border - field), 0.0, 1.0)

    @cached_property
    def scratches(self) -> Field:
        fine = pt.scratches(self.size, 260, seed=40, length=(0.03, 0.3), bend=0.3)
        deep = pt.scratches(self.size, 26, seed=41, length=(0.1, 0.4), bend=0.6)
        wide = pt.blur(deep, 0.0009) * self.size * 0.0018
        return np.clip(0.6 * fine + 1.6 * wide, 0.0, 1.0).astype(np.float32)

    @cached_property
    def drips(self) -> Field:
        """Water that ran down from fittings."""
        sources = np.clip(self.brass * self.cavity + self.iron, 0.0, 1.0)
        sources *= np.clip(0.5 + 0.9 * self.noise(50, 24.0, 1.0, stretch=(1.0, 0.2)), 0.0, 2.0)
        run = streaks(sources, 0.09) * 5.0
        return np.clip(run * (0.6 + 0.4 * self.patches), 0.0, 1.0)

    @cached_property
    def rust(self) -> Field:
        """On iron heads, and what runs down from them."""
        run = streaks(blur(self.iron, 0.003), 0.05) * 4.0
        run *= np.clip(0.4 + 0.8 * self.noise(51, 18.0, 1.2, stretch=(1.0, 0.3)), 0.0, 1.5)
        heads = self.iron * np.clip(0.55 + 0.45 * self.noise(52, 16.0), 0.0, 1.0)
        return np.clip(np.maximum(heads, run), 0.0, 1.0)

    @cached_property
    def tarnish(self) -> Field:
        field = 0.5 + 0.2 * self.patches + 0.12 * self.noise(53, 30.0, 1.4)
        return np.clip(field + 0.4 * self.cavity + 0.1 * self.broad, 0.0, 1.0)

    @cached_property
    def verdigris(self) -> Field:
        field = 0.12 + 0.17 * self.patches - 0.1 * self.broad + 0.08 * self.noise(54, 44.0, 1.1)
        return np.clip(field + 0.62 * self.cavity + 0.55 * self.drips, 0.0, 1.0)

    @cached_property
    def salt(self) -> Field:
        """A tide line below the middle, and what dried in corners."""
        line = 0.30 + 0.02 * self.noise(55, 3.0)
        tide = np.exp(-(((self.v - line) / 0.03) ** 2)) + np.exp(-(((self.v - 0.09) / 0.06) ** 2))
        grains = 0.5 + 0.55 * self.noise(56, 34.0, 0.9)
        return np.clip((0.75 * tide + 0.35 * self.cavity) * grains, 0.0, 1.0) * self.unwiped

    @cached_property
    def unwiped(self) -> Field:
        """Little dirt stays on the glass, away from its rim."""
        return 1.0 - 0.8 * pt.smoothstep(0.002, 0.03, WINDOW - self.radius).astype(np.float32)

    @cached_property
    def dust(self) -> Field:
        lies = 0.22 + 0.55 * self.cavity + 0.14 * self.patches + 0.2 * (self.v - 0.5)
        return np.clip(lies + 0.05 * self.noise(57, 60.0, 1.0), 0.0, 1.0) * self.unwiped

    @cached_property
    def grime(self) -> Field:
        field = 0.75 * self.cavity + 0.35 * self.drips + 0.12 * self.noise(58, 12.0)
        return np.clip(field - 0.08, 0.0, 1.0) * self.unwiped

    @cached_property
    def prints(self) -> Field:
        """Fingerprints on flange, glass and shell."""
        wander, contact = self.noise(60, 8.0), 0.6 + 0.3 * self.noise(61, 24.0)
        found = np.zeros_like(self.u)
        for x, y, turn in (
            (0.455, 0.455, 0.5), (0.47, 0.545, 0.3), (0.545, 0.46, -0.5), (0.36, 0.58, 0.7),
            (0.635, 0.6, -0.3), (0.27, 0.36, 0.2), (0.69, 0.33, -0.7), (0.52, 0.17, 0.1),
        ):  # fmt: skip
            one = fingerprint(self.u - x, self.v - y, turn, 0.02, 0.35 * wander)
            found = np.maximum(found, np.clip(contact, 0.0, 1.0) * one)
        return found.astype(np.float32)

    @cached_property
    def oil(self) -> Field:
        smears = self.noise(62, 5.0, 1.9, stretch=(1.0, 2.2))
        return np.clip(0.15 + 0.3 * smears + 0.25 * self.broad, 0.0, 1.0) * self.unwiped

    # The stencilled signs

    @cached_property
    def decal(self) -> Field:
        """A compass star left of the window, the number 27 right of it."""
        x, y = self.u - 0.225, self.v - 0.52
        radius, angle = np.hypot(x, y), np.arctan2(y, x)
        point = np.abs(((angle / (np.pi / 4)) % 2.0) - 1.0)
        half_point = np.abs(((angle / (np.pi / 4) + 0.5) % 1.0) - 0.5) * 2.0
        star = (
            np.maximum(0.068 / (1.0 + 3.2 * (1.0 - point)), 0.04 / (1.0 + 2.6 * half_point))
            - radius
        )
        ring = 0.006 - np.abs(radius - 0.078)
        ring = np.minimum(ring, np.abs(np.abs(x) - np.abs(y)) - 0.006)
        sign = np.maximum(star, ring)
        sign = np.minimum(sign, np.abs(x) - 0.0018)
        number = _two_and_seven(self.u - 0.775, self.v - 0.52)
        return self.inside(np.maximum(sign, number), 1.5)


def _two_and_seven(x: Field, y: Field) -> Field:
    """Distance into the digits, 0.13 high, with the bridges of a stencil."""
    thick = 0.0125
    centre, bend = (-0.042, 0.03), 0.032
    cx, cy = x - centre[0], y - centre[1]
    arc = thick - np.abs(np.hypot(cx, cy) - bend)
    arc = np.minimum(arc, np.maximum(cy + 0.4 * cx, 0.006 - np.abs(cx - bend)))
    arc = np.minimum(arc, cy + 0.012)
    two = np.maximum(arc, _stroke(x, y, (-0.012, 0.016), (-0.075, -0.053), thick))
    two = np.maximum(two, _stroke(x, y, (-0.078, -0.054), (-0.008, -0.054), thick))
    seven = _stroke(x, y, (0.014, 0.056), (0.08, 0.056), thick)
    seven = np.maximum(seven, _stroke(x, y, (0.078, 0.05), (0.036, -0.062), thick))
    both = np.maximum(two, seven)
    return np.minimum(both, np.abs(y - 0.008) - 0.003)


def _stroke(
    x: Field, y: Field, start: tuple[float, float], end: tuple[float, float], half: float
) -> Field:
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = np.clip(((x - start[0]) * dx + (y - start[1]) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
    return half - np.hypot(x - start[0] - along * dx, y - start[1] - along * dy)
