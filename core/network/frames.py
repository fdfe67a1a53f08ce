"""Learned shading frames: orthonormal (tangent, bitangent, normal) from raw values, and gradients.

Vectors are [3, N]; a frame is [3 axes, 3 components, N]: tangent, bitangent, normal.
"""

from __future__ import annotations

import numpy as np

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import AXIS_ROWS, LENGTH_EPSILON


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    result: FloatArray = (a * b).sum(0)
    return result


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    result: FloatArray = np.cross(a, b, axis=0)
    return result


def normalise(vector: FloatArray) -> FloatArray:
    result: FloatArray = vector / np.maximum(np.sqrt(dot(vector, vector)), LENGTH_EPSILON)
    return result


def normalise_backward(vector: FloatArray, gradient: FloatArray) -> FloatArray:
    """Gradient by the vector, given the gradient by the normalised vector."""
    length = np.sqrt(dot(vector, vector))
    unit = vector / np.maximum(length, LENGTH_EPSILON)
    # Below the guard the length is a constant, so there is no projection.
    along = np.where(length > LENGTH_EPSILON, dot(unit, gradient), 0)
    result: FloatArray = (gradient - unit * along) / np.maximum(length, LENGTH_EPSILON)
    return result


def _raw_axes(raw: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal and tangent before orthonormalisation. Raw zeros give the surface's frame."""
    normal = raw[0:3] + np.array([0, 0, 1], raw.dtype)[:, None]
    tangent = raw[3:AXIS_ROWS] + np.array([1, 0, 0], raw.dtype)[:, None]
    return normal, tangent


def build_frame(raw: FloatArray) -> FloatArray:
    """The orthonormal frame of raw values [6, N]."""
    raw_normal, raw_tangent = _raw_axes(raw)
    n = normalise(raw_normal)
    t = normalise(raw_tangent - n * dot(n, raw_tangent))
    return np.stack([t, cross(n, t), n])


def build_frame_backward(raw: FloatArray, gradient: FloatArray) -> FloatArray:
    """Gradient by the raw values [6, N], given the gradient by the frame's nine components."""
    raw_normal, raw_tangent = _raw_axes(raw)
    n = normalise(raw_normal)
    along = dot(n, raw_tangent)
    projected = raw_tangent - n * along
    t = normalise(projected)

    g_t, g_b, g_n = gradient
    g_n = g_n + cross(t, g_b)
    g_t = g_t + cross(g_b, n)
    g_projected = normalise_backward(projected, g_t)
    g_along = -dot(n, g_projected)
    g_n = g_n - along * g_projected + g_along * raw_tangent
    g_raw_tangent = g_projected + g_along * n
    return np.concatenate([normalise_backward(raw_normal, g_n), g_raw_tangent])
