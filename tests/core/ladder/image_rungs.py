"""Rungs of random texels, and what is timed of them."""

import numpy as np

from verdigris.core.ladder.fitting.image_fit import OneTexture, VertexColours
from verdigris.core.ladder.measure.time_rung import TimedPixels
from verdigris.core.ladder.rungs.detail import DetailAndColour, DetailRung
from verdigris.core.ladder.rungs.reflection import ReflectionRung, WithReflection
from verdigris.core.ladder.rungs.stored_light import UnlitRung
from verdigris.core.ladder.rungs.vertex import VertexRung
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import ToneCurve

CURVE, MIRROR = ToneCurve(-3.0, 3.4), ToneCurve(-2.0, 2.5, 0.3)
THREADS, ROUNDS = 64, 3


def bytes_of(seed, side, channels):
    values = np.random.default_rng(seed).integers(40, 200, (side * side, channels)) / 255
    return Grid(side, side, values.astype(np.float32))


def unlit_rung():
    return UnlitRung(OneTexture(bytes_of(1, 8, 3), CURVE), size=8)


def reflection_rung():
    grids = bytes_of(1, 8, 3), bytes_of(2, 8, 3), bytes_of(3, 8, 3)
    return ReflectionRung(WithReflection(*grids, CURVE, MIRROR), size=8)


def detail_rung():
    return DetailRung(DetailAndColour(bytes_of(4, 8, 1), bytes_of(1, 8, 3), CURVE), size=8)


def vertex_rung():
    return VertexRung(VertexColours(Grid(4, 1, np.zeros((4, 3), np.float32)), CURVE), size=4)


def sums_of(rung, device):
    pixels = TimedPixels(rung, rung.timing(), device)
    variables = pixels.variables(THREADS, ROUNDS)
    device.dispatch(pixels.kernel, THREADS, variables)
    return variables["gSum"].to_numpy().view(np.float32)
