"""Heights and rays for tests of relief."""

import numpy as np


def bumpy_heights(columns=128, rows=64):
    """Waves with sharp ridges, partly below the base surface."""
    v, u = np.mgrid[0:rows, 0:columns] + 0.5
    u, v = u / columns, v / rows
    waves = 0.03 * np.sin(6 * np.pi * u) * np.cos(4 * np.pi * v)
    ridges = 0.04 * ((u * 4 % 1 < 0.2) | (v * 3 % 1 < 0.3))
    return (waves + ridges).astype(np.float32)


def rays(count, seed=3):
    """Points of the base surface, directions up to 80 degrees from its normal, and extents."""
    random = np.random.default_rng(seed)
    uv = random.random((count, 2)) * 3 - 1
    angle, turn = np.radians(80) * random.random(count), 2 * np.pi * random.random(count)
    sine = np.sin(angle)
    towards = np.stack([sine * np.cos(turn), sine * np.sin(turn), np.cos(angle)], 1)
    return uv, towards, 0.5 + random.random((count, 2))
