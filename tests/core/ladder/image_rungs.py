"""Rungs of random texels, and what is timed of them."""

import numpy as np

from verdigris.core.ladder.measure.time_rung import RungTiming
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.ladder.unlit.unlit_models import (
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
)
from verdigris.core.settings.rung_names import DETAIL, REFLECTION, UNLIT, VERTEX

CURVE, MIRROR = ToneCurve(-3.0, 3.4), ToneCurve(-2.0, 2.5, 0.3)
THREADS, ROUNDS = 64, 3


def bytes_of(seed, side, channels):
    values = np.random.default_rng(seed).integers(40, 200, (side * side, channels)) / 255
    return Grid(side, side, values.astype(np.float32))


def image_rungs():
    light = bytes_of(1, 8, 3)
    return {
        UNLIT: OneTexture(light, CURVE),
        REFLECTION: WithReflection(light, bytes_of(2, 8, 3), bytes_of(3, 8, 3), CURVE, MIRROR),
        DETAIL: DetailAndColour(bytes_of(4, 8, 1), light, CURVE),
        VERTEX: VertexColours(Grid(4, 1, np.zeros((4, 3), np.float32)), CURVE),
    }


def rung_of(name, stored):
    return Rung(name, 8, 1, 0.0, None, stored)


def sums_of(rung, device):
    timing = RungTiming(rung, device)
    variables = timing.variables(THREADS, ROUNDS)
    device.dispatch(timing.kernel, THREADS, variables)
    return variables["gSum"].to_numpy().view(np.float32)
