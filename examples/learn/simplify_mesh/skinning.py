"""Skin weights of a simplified mesh, fitted to the motion of the original."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from kit import Floats
from quadrics import Triangles

BONES = 4
POSES, STEPS = 24, 400


def bone_weights(vertices: Floats) -> Floats:
    """Of the arm: each bone holds its part of x, and shares it softly with its neighbours."""
    place = (vertices[:, 0] + 1) / 2 * BONES - 0.5
    weights = np.exp(-1.5 * (place[:, None] - np.arange(BONES)) ** 2)
    return weights / weights.sum(1, keepdims=True)


def poses(count: int, seed: int) -> Floats:
    """Random poses: for each bone a matrix [3, 4]. A joint turns all that comes after it."""
    random, result = np.random.default_rng(seed), []
    for _ in range(count):
        matrix, bones = np.eye(4), []
        for bone in range(BONES):
            if bone:
                joint = np.array([2 * bone / BONES - 1, 0, 0])
                turn = np.eye(4)
                turn[:3, :3] = rotation(random.normal(size=3) * [0.5, 0.5, 0.8])
                turn[:3, 3] = joint - turn[:3, :3] @ joint
                matrix = matrix @ turn
            bones.append(matrix[:3])
        result.append(bones)
    return np.array(result)


def rotation(vector: Floats) -> Floats:
    """About an axis by its length (Rodrigues)."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / max(angle, 1e-9)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def by_bones(vertices: Floats, matrices: Floats) -> Floats:
    """Where each bone alone would move each vertex, [poses, vertices, bones, 3]."""
    homogeneous = np.concatenate([vertices, np.ones((len(vertices), 1))], 1)
    return np.einsum("pbij,vj->pvbi", matrices, homogeneous)


def posed(vertices: Floats, weights: Floats, matrices: Floats) -> Floats:
    """Linear blend skinning, [poses, vertices, 3]."""
    return np.einsum("vb,pvbi->pvi", weights, by_bones(vertices, matrices))


def on_surface(places: Floats, a: Floats, b: Floats, c: Floats) -> tuple[np.ndarray, Floats]:
    """For each place the number of the triangle with the nearest point, and that point's shares of
    the triangle's corners."""
    triangles, shares = np.empty(len(places), int), np.empty((len(places), 3))
    for index, place in enumerate(places):
        found = closest_shares(place, a, b, c)
        points = found[:, :1] * a + found[:, 1:2] * b + found[:, 2:] * c
        triangles[index] = ((points - place) ** 2).sum(1).argmin()
        shares[index] = found[triangles[index]]
    return triangles, shares


def closest_shares(place: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """Shares of the corners at the point of each triangle that is nearest to a place."""
    ab, ac, ap = b - a, c - a, place - a
    aa, bb, cc = (ab * ab).sum(1), (ab * ac).sum(1), (ac * ac).sum(1)
    d, e = (ab * ap).sum(1), (ac * ap).sum(1)
    scale = np.maximum(aa * cc - bb * bb, 1e-20)
    v, w = (cc * d - bb * e) / scale, (aa * e - bb * d) / scale
    inside = np.stack([1 - v - w, v, w], 1)
    # where the plane's nearest point is outside, that of an edge
    best, least = inside, np.where((inside >= 0).all(1), 0.0, np.inf)
    corners = [a, b, c]
    for first, second in ((0, 1), (1, 2), (2, 0)):
        edge = corners[second] - corners[first]
        share = ((place - corners[first]) * edge).sum(1) / np.maximum((edge * edge).sum(1), 1e-20)
        share = np.clip(share, 0, 1)
        point = corners[first] + share[:, None] * edge
        distance = ((point - place) ** 2).sum(1)
        shares = np.zeros_like(inside)
        shares[:, first], shares[:, second] = 1 - share, share
        best = np.where((distance < least)[:, None], shares, best)
        least = np.minimum(distance, least)
    return best


class SkinErrors(NamedTuple):
    """Mean distances of the original's vertices to the places that hold them on the simple mesh, in
    poses that were not fitted."""

    copied: float
    """Weights of the nearest vertex."""
    fitted: float
    free: float
    """With the best place for each vertex in each pose: flat triangles allow no better."""


def compare_weights(original: Floats, simple: Floats, triangles: Triangles) -> SkinErrors:
    """Of the original's vertices, and of the vertices and triangles of the simple mesh."""
    weights = bone_weights(original)
    nearest, shares = on_surface(original, *simple[triangles].astype(float).swapaxes(0, 1))
    holds = np.zeros((len(original), len(simple)))
    np.add.at(holds, (np.arange(len(holds))[:, None], triangles[nearest]), shares)
    fitted_to, unseen = poses(POSES, 1), poses(POSES, 2)
    # a place on the simple mesh and its vertex differ at rest: that part turns with the vertex
    rest = holds @ simple - original
    aims = [posed(original + rest, weights, each) for each in (fitted_to, unseen)]
    distances = ((simple[:, None] - original) ** 2).sum(-1)
    copied = weights[distances.argmin(1)]

    def error(moved: Floats) -> float:
        return float(np.linalg.norm(holds @ moved - aims[1], axis=-1).mean())

    fitted = fit(copied, by_bones(simple, fitted_to), holds, aims[0])
    return SkinErrors(
        *(error(posed(simple, each, unseen)) for each in (copied, fitted)),
        error(np.linalg.pinv(holds) @ aims[1]),
    )


def fit(start: Floats, moves: Floats, holds: Floats, aims: Floats) -> Floats:
    """Weights of least square error. `holds` [places, vertices] are shares of corners. Motion is
    linear in weights, so the error is a quadratic form; projected gradient descent with momentum
    (Nesterov) finds its minimum among weights that add up to 1."""
    count = start.size
    # places move by holds @ motion, and motion is by_weight @ weights
    by_weight = moves.transpose(0, 3, 1, 2).reshape(-1, count)
    shared = np.kron(holds.T @ holds, np.ones((BONES, BONES)))
    form = shared * (by_weight.T @ by_weight)
    pull = np.einsum("pvbi,pvi->vb", moves, holds.T @ aims)
    # no step is longer than the curvature allows (Gershgorin)
    rate = 1 / np.abs(form).sum(1)
    weights, before = start.copy(), start.copy()
    for step in range(STEPS):
        ahead = weights + (step / (step + 3)) * (weights - before)
        gradient = (form @ ahead.ravel()) - pull.ravel()
        before, weights = weights, to_simplex(ahead - (rate * gradient).reshape(start.shape))
    return weights


def to_simplex(weights: Floats) -> Floats:
    """The nearest weights that are not negative and add up to 1 (Duchi et al. 2008)."""
    ordered = -np.sort(-weights, 1)
    excess = np.cumsum(ordered, 1) - 1
    count = (ordered > excess / np.arange(1, BONES + 1)).sum(1)
    return np.maximum(weights - (excess[np.arange(len(weights)), count - 1] / count)[:, None], 0)
