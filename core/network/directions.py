"""Learned shading frames, the decoder's direction inputs in them, and gradients of both.

A frame is orthonormal, [3 axes, 3 components, N]: tangent, bitangent, normal. Vectors are [3, N].
The inputs in each frame are the half vector (Rusinkiewicz 1998), stretched along tangent and
bitangent; the difference vector; the cosines of the normal with wi and wo; and their logarithms.

The stretch maps highlights of any width and anisotropy to one shape, which the network learns once.
The cosines show directly where light or viewer is behind a tilted surface. Responses often follow a
power of a cosine, which is a product in logarithms.

This file spells out the definition. An evaluation can be cheaper, because a frame is orthonormal:
with H = normalize(wi + wo), h is the frame applied to H, and dot(h, a) is dot(H, wi).
"""

from __future__ import annotations

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.network.spec import (
    AXIS_ROWS,
    COSINE_OFFSET,
    HALF_Z_MINIMUM,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    STRETCH_LIMIT,
)


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray((a * b).sum(0))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.cross(a, b, axis=0))


def normalise(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / np.maximum(np.sqrt(dot(vector, vector)), LENGTH_EPSILON))


def normalise_backward(vector: FloatArray, gradient: FloatArray) -> FloatArray:
    """Gradient by the vector, given the gradient by the normalised vector."""
    length = np.sqrt(dot(vector, vector))
    unit = vector / np.maximum(length, LENGTH_EPSILON)
    # below the guard the length is a constant, so there is no projection
    along = np.where(length > LENGTH_EPSILON, dot(unit, gradient), 0)
    return np.asarray((gradient - unit * along) / np.maximum(length, LENGTH_EPSILON))


def _raw_axes(raw: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal and tangent before orthonormalisation. Raw zeros give the surface's frame."""
    normal = raw[0:3] + np.array([0, 0, 1], raw.dtype)[:, None]
    tangent = raw[3:AXIS_ROWS] + np.array([1, 0, 0], raw.dtype)[:, None]
    return normal, tangent


def build_frame(raw: FloatArray) -> FloatArray:
    """The orthonormal frame for raw values [6, N]."""
    raw_normal, raw_tangent = _raw_axes(raw)
    n = normalise(raw_normal)
    t = normalise(raw_tangent - n * dot(n, raw_tangent))
    return np.stack([t, _cross(n, t), n])


def build_frame_backward(raw: FloatArray, gradient: FloatArray) -> FloatArray:
    """Gradient by the raw values [6, N], given the gradient by the frame's nine components."""
    raw_normal, raw_tangent = _raw_axes(raw)
    n = normalise(raw_normal)
    along = dot(n, raw_tangent)
    projected = raw_tangent - n * along
    t = normalise(projected)

    g_t, g_b, g_n = gradient
    g_n = g_n + _cross(t, g_b)
    g_t = g_t + _cross(g_b, n)
    g_projected = normalise_backward(projected, g_t)
    g_along = -dot(n, g_projected)
    g_n = g_n - along * g_projected + g_along * raw_tangent
    g_raw_tangent = g_projected + g_along * n
    return np.concatenate([normalise_backward(raw_normal, g_n), g_raw_tangent])


def into_frame(frame: FloatArray, vector: FloatArray) -> FloatArray:
    """Components of the vector along tangent, bitangent and normal."""
    return np.stack([dot(axis, vector) for axis in frame])


def stretch_half(h: FloatArray, stretch: FloatArray) -> FloatArray:
    """Stretches the half vector [3, N] along tangent and bitangent by stretch [2, N]."""
    return normalise(_stretched(h, stretch))


def stretch_half_backward(
    h: FloatArray, stretch: FloatArray, gradient: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradients by the half vector and the stretch."""
    v = _stretched(h, stretch)
    g_v = normalise_backward(v, gradient)
    g_stretch: FloatArray = g_v[:2] * v[:2] * (1 - np.tanh(stretch / STRETCH_LIMIT) ** 2)
    return g_v * _factors(stretch), g_stretch


def _stretched(h: FloatArray, stretch: FloatArray) -> FloatArray:
    return np.asarray(h * _factors(stretch))


def _factors(stretch: FloatArray) -> FloatArray:
    along = stretch_factors(stretch)
    return np.concatenate([along, np.ones_like(along[:1])])


def stretch_factors(stretch: FloatArray) -> FloatArray:
    """The half vector's factors along tangent and bitangent, for raw values."""
    return np.asarray(np.exp(STRETCH_LIMIT * np.tanh(stretch / STRETCH_LIMIT)))


def logarithms(cosines: FloatArray) -> FloatArray:
    """Scaled logarithms of the cosines, clamped at the horizon."""
    return np.asarray(LOGARITHM_SHARE * np.log(_above(cosines)))


def _above(cosines: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(cosines, 0) + COSINE_OFFSET)


def encode_directions(
    frame: FloatArray, stretch: FloatArray, wi: FloatArray, wo: FloatArray
) -> FloatArray:
    """[10, N]: the stretched half vector; the difference vector, which is wi rotated by the
    shortest arc from h to z; the normal's cosines with wi and wo, and their logarithms."""
    a, c = into_frame(frame, wi), into_frame(frame, wo)
    h = normalise(a + c)
    cosine = dot(h, a)
    s = (cosine + a[2]) / np.maximum(1 + h[2], HALF_Z_MINIMUM)
    difference = a[0] - h[0] * s, a[1] - h[1] * s, cosine
    cosines = np.stack([a[2], c[2]])
    return np.stack([*stretch_half(h, stretch), *difference, *cosines, *logarithms(cosines)])


def encode_directions_backward(
    frame: FloatArray, stretch: FloatArray, wi: FloatArray, wo: FloatArray, gradient: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradients by the frame and the stretch, given the gradient by the ten inputs."""
    a, c = into_frame(frame, wi), into_frame(frame, wo)
    h = normalise(a + c)
    cosine = dot(h, a)
    divisor = np.maximum(1 + h[2], HALF_Z_MINIMUM)
    s = (cosine + a[2]) / divisor

    g_h, g_stretch = stretch_half_backward(h, stretch, gradient[0:3])
    g_d = gradient[3:6]
    g_s = -(h[0] * g_d[0] + h[1] * g_d[1])
    g_cosine = g_d[2] + g_s / divisor
    g_h[0:2] -= s * g_d[0:2]
    g_h[2] -= np.where(1 + h[2] > HALF_Z_MINIMUM, g_s * s / divisor, 0)
    g_h += g_cosine * a
    cosines = np.stack([a[2], c[2]])
    slopes = np.where(cosines > 0, LOGARITHM_SHARE / _above(cosines), 0)
    g_cosines = gradient[6:8] + slopes * gradient[8:10]
    g_a = g_cosine * h
    g_a[0:2] += g_d[0:2]
    g_a[2] += g_s / divisor
    g_sum = normalise_backward(a + c, g_h)
    g_a, g_c = g_a + g_sum, g_sum.copy()
    g_a[2] += g_cosines[0]
    g_c[2] += g_cosines[1]
    g_frame: FloatArray = g_a[:, None, :] * wi[None] + g_c[:, None, :] * wo[None]
    return g_frame, g_stretch
