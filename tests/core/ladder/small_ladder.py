"""A mesh of few triangles, and the settings of a ladder that takes little time."""

import numpy as np

from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.mesh.mesh_surface import Surface

TINY = LadderSettings(
    size=24, views=8, view_size=32, samples=8, responses=6_000, steps=120, held_out=2,
    held_out_size=32, held_out_samples=16,
)  # fmt: skip


def make_ball():
    """A sphere, whose first uv set wraps twice around it and whose second is clean."""
    v, u = np.meshgrid(np.linspace(0.01, 0.99, 17), np.linspace(0, 1, 25), indexing="ij")
    around, polar = 2 * np.pi * u, np.pi * (1 - v)
    place = np.stack(
        [np.sin(polar) * np.sin(around), np.cos(polar), np.sin(polar) * np.cos(around)], -1
    )

    def corners(values):
        a, b, c, d = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        found = np.stack([np.stack([a, b, c], 2), np.stack([a, c, d], 2)], 2)
        return np.ascontiguousarray(found.reshape(-1, 3, values.shape[-1]), np.float32)

    uv = corners(np.stack([u, v], -1) * 0.98 + 0.01)
    mesh = Mesh(corners(place), corners(place), np.asarray(uv * (2, 1), np.float32))
    return Surface(mesh, {"st": mesh.uv, "st1": uv}, name="ball")
