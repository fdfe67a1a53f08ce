"""The decoder's direction inputs: half and difference vector in a frame, and their gradients.

A cheaper way to the same values, for those who count instructions: a frame is orthonormal, so with
H = normalize(wi + wo) its half vector is the frame applied to H, and dot(h, a) is dot(H, wi).
This file spells out the definition instead.
"""

from __future__ import annotations

import numpy as np

from verdigris.core.network.frames import dot, normalise, normalise_backward
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import HALF_Z_MINIMUM


def into_frame(frame: FloatArray, vector: FloatArray) -> FloatArray:
    """Components of the vector along tangent, bitangent and normal."""
    return np.stack([dot(axis, vector) for axis in frame])


def encode_directions(frame: FloatArray, wi: FloatArray, wo: FloatArray) -> FloatArray:
    """[6, N]: the half vector h, then wi rotated by the shortest arc that takes h to z."""
    a, c = into_frame(frame, wi), into_frame(frame, wo)
    h = normalise(a + c)
    cosine = dot(h, a)
    s = (cosine + a[2]) / np.maximum(1 + h[2], HALF_Z_MINIMUM)
    return np.stack([*h, a[0] - h[0] * s, a[1] - h[1] * s, cosine])


def encode_directions_backward(
    frame: FloatArray, wi: FloatArray, wo: FloatArray, gradient: FloatArray
) -> FloatArray:
    """Gradient by the frame, given the one by the six inputs."""
    a, c = into_frame(frame, wi), into_frame(frame, wo)
    h = normalise(a + c)
    cosine = dot(h, a)
    divisor = np.maximum(1 + h[2], HALF_Z_MINIMUM)
    s = (cosine + a[2]) / divisor

    g_h, g_d = gradient[0:3].copy(), gradient[3:6]
    g_s = -(h[0] * g_d[0] + h[1] * g_d[1])
    g_cosine = g_d[2] + g_s / divisor
    g_h[0:2] -= s * g_d[0:2]
    g_h[2] -= np.where(1 + h[2] > HALF_Z_MINIMUM, g_s * s / divisor, 0)
    g_h += g_cosine * a
    g_a = g_cosine * h
    g_a[0:2] += g_d[0:2]
    g_a[2] += g_s / divisor
    g_sum = normalise_backward(a + c, g_h)
    g_a, g_c = g_a + g_sum, g_sum
    result: FloatArray = g_a[:, None, :] * wi[None] + g_c[:, None, :] * wo[None]
    return result
