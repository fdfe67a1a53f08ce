"""Quadric edge collapse (Garland and Heckbert 1997)."""

from __future__ import annotations

import heapq

import numpy as np
from kit import Floats
from numpy.typing import NDArray

Triangles = NDArray[np.int32]
# of planes along open edges, so that these stay
_OPEN_WEIGHT = 100.0


def collapse(vertices: Floats, triangles: Triangles, count: int) -> tuple[Floats, Triangles]:
    """Joins two vertices of an edge until about `count` triangles are left, each time those whose
    common place is nearest to the planes of all triangles that they stand for."""
    places = [*vertices.astype(float)]
    faces = {index: tuple(map(int, triangle)) for index, triangle in enumerate(triangles)}
    around: list[set[int]] = [set() for _ in places]
    for index, face in faces.items():
        for corner in face:
            around[corner].add(index)
    quadrics = _quadrics(vertices.astype(float), triangles)
    version = [0] * len(places)
    heap: list[tuple[float, int, int, int, int, tuple[float, ...]]] = []

    def push(a: int, b: int) -> None:
        cost, place = _best(quadrics[a] + quadrics[b], places[a], places[b])
        heapq.heappush(heap, (cost, a, b, version[a], version[b], tuple(place)))

    for a, b in {tuple(sorted(pair)) for face in faces.values() for pair in _edges(face)}:
        push(a, b)
    while len(faces) > count and heap:
        _, a, b, seen_a, seen_b, place = heapq.heappop(heap)
        if (seen_a, seen_b) != (version[a], version[b]):
            continue
        gone = around[a] & around[b]
        shared = _neighbours(a, around, faces) & _neighbours(b, around, faces)
        # more common neighbours than common triangles: the surface would touch itself
        if len(shared) > len(gone) or any(
            _flips(faces[face], corner, places, place)
            for corner in (a, b)
            for face in around[corner] - gone
        ):
            continue
        for face in gone:
            for corner in faces.pop(face):
                around[corner].discard(face)
        for face in around[b]:
            faces[face] = tuple(a if corner == b else corner for corner in faces[face])
        around[a] |= around[b]
        around[b] = set()
        places[a], quadrics[a] = np.array(place), quadrics[a] + quadrics[b]
        version[a] += 1
        version[b] = -1
        for other in _neighbours(a, around, faces):
            push(*sorted((a, other)))
    used, index = np.unique([*faces.values()], return_inverse=True)
    return np.array(places, np.float32)[used], index.reshape(-1, 3).astype(np.int32)


def _edges(face: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(face[i], face[(i + 1) % 3]) for i in range(3)]


def _neighbours(vertex: int, around: list[set[int]], faces: dict[int, tuple[int, ...]]) -> set[int]:
    return {corner for face in around[vertex] for corner in faces[face]} - {vertex}


def _quadrics(vertices: NDArray[np.float64], triangles: Triangles) -> NDArray[np.float64]:
    """For each vertex the sum of n nᵀ over its planes n = (normal, distance), by area."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1, keepdims=True)
    normal /= np.maximum(area, 1e-20)
    plane = np.concatenate([normal, -(normal * a).sum(1, keepdims=True)], 1)
    found = np.zeros((len(vertices), 4, 4))
    for corner in range(3):
        np.add.at(found, triangles[:, corner], area[:, None] * plane[:, :, None] * plane[:, None])
    pairs = np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)])
    normals = np.concatenate([normal] * 3)
    _, first, times = np.unique(np.sort(pairs, 1), axis=0, return_index=True, return_counts=True)
    for at in first[times == 1]:
        start, end = pairs[at]
        edge = vertices[end] - vertices[start]
        wall = np.cross(edge, normals[at])
        wall /= max(np.linalg.norm(wall), 1e-20)
        plane = np.append(wall, -wall @ vertices[start])
        found[[start, end]] += _OPEN_WEIGHT * (edge @ edge) * np.outer(plane, plane)
    return found


def _best(
    quadric: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """The place of least cost. Where a plane leaves it open, the better of middle and ends."""
    # a little of the distance to the middle, so that flat regions have one solution
    middle = (a + b) / 2
    steady = 1e-6 * np.trace(quadric[:3, :3]) + 1e-12
    matrix = quadric[:3, :3] + steady * np.eye(3)
    place = np.linalg.solve(matrix, steady * middle - quadric[:3, 3])
    if ((place - middle) ** 2).sum() > 4 * ((a - b) ** 2).sum():
        place = min((middle, a, b), key=lambda each: _cost(quadric, each))
    return _cost(quadric, place), place


def _cost(quadric: NDArray[np.float64], place: NDArray[np.float64]) -> float:
    x = np.append(place, 1.0)
    return float(x @ quadric @ x)


def _flips(
    face: tuple[int, ...], corner: int, places: list[NDArray[np.float64]], place: tuple[float, ...]
) -> bool:
    """Whether a triangle turns over when a corner moves."""
    before = [places[each] for each in face]
    after = [np.array(place) if each == corner else places[each] for each in face]
    one, two = (np.cross(each[1] - each[0], each[2] - each[0]) for each in (before, after))
    return float(one @ two) < 0.2 * np.linalg.norm(one) * np.linalg.norm(two)
