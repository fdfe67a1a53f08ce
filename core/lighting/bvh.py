"""A bounding volume hierarchy of triangles, for rays of shadows and of cameras."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats


LEAF_TRIANGLES = 4


@dataclass(frozen=True)
class Bvh:
    """A complete binary tree. The children of node n are 2n and 2n + 1, and the root is 1, so that
    rays need neither pointers nor a stack. `shaders/lighting/bvh.slang` walks it."""

    boxes: Floats
    """Corners with least and largest coordinates, (2 * leaves, 2, 3); 0 is unused."""
    triangles: Floats
    """Triangles in the order of the leaves, (leaves * LEAF_TRIANGLES, 3, 3). The last one repeats.
    """
    numbers: NDArray[np.uint32]
    """The number of each of these triangles in the original order."""

    @property
    def first_leaf(self) -> int:
        return len(self.boxes) // 2


# Its box is empty, so that no ray enters it.
NOTHING = Bvh(
    np.array([[[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [-1, -1, -1]]], np.float32),
    np.zeros((LEAF_TRIANGLES, 3, 3), np.float32),
    np.zeros(LEAF_TRIANGLES, np.uint32),
)


def build_bvh(triangles: Floats) -> Bvh:
    """The tree of triangles (T, 3, 3). Each node is halved at the median of its longest axis."""
    depth = max(0, math.ceil(math.log2(max(1, len(triangles)) / LEAF_TRIANGLES)))
    leaves = 1 << depth
    numbers = np.minimum(np.arange(leaves * LEAF_TRIANGLES), len(triangles) - 1)
    filled = triangles[numbers]
    centre = filled.mean(1)
    order = np.arange(len(filled))
    for level in range(depth):
        groups = centre[order].reshape(1 << level, -1, 3)
        axis = np.ptp(groups, axis=1).argmax(1)
        along = np.take_along_axis(groups, axis[:, None, None], 2)[..., 0]
        halves = np.argpartition(along, along.shape[1] // 2, axis=1)
        order = np.take_along_axis(order.reshape(halves.shape), halves, 1).reshape(-1)
    ordered = np.ascontiguousarray(filled[order], np.float32)
    boxes = np.zeros((2 * leaves, 2, 3), np.float32)
    corners = ordered.reshape(leaves, -1, 3)
    boxes[leaves:, 0], boxes[leaves:, 1] = corners.min(1), corners.max(1)
    for level in reversed(range(depth)):
        first = 1 << level
        pairs = boxes[2 * first : 4 * first].reshape(first, 2, 2, 3)
        boxes[first : 2 * first, 0] = pairs[:, :, 0].min(1)
        boxes[first : 2 * first, 1] = pairs[:, :, 1].max(1)
    return Bvh(boxes, ordered, numbers[order].astype(np.uint32))


def shadow_origins(
    position: Floats,
    corners: Floats,
    normals: Floats,
    weights: NDArray[np.floating],
    towards: Floats,
    step: float,
) -> Floats:
    """Where shadow rays start, (N, 3), for points with barycentric weights in triangles with these
    corners and normals, (N, 3, 3).

    Points are moved to the smooth surface that the normals describe, since else flat facets would
    throw shadows with corners on each other where light grazes (Hanika, "Hacking the Shadow
    Terminator", 2021), and a step along `towards`, (N, 3).
    """
    normals = np.where(((normals * towards[:, None]).sum(-1) < 0)[..., None], -normals, normals)
    below = np.minimum(((position[:, None] - corners) * normals).sum(-1, keepdims=True), 0.0)
    lifted = position - ((below * normals) * weights[..., None]).sum(1)
    return np.asarray(lifted + towards * step, np.float32)
