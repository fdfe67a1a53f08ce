"""The rung of vertex colours, which has no texture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from verdigris.core.ladder.fitting.image_fit import BY_VERTEX, ImageFit, Records, VertexColours
from verdigris.core.ladder.rungs.rung import (
    AddTexture,
    RungFits,
    Timing,
    VertexLight,
    Written,
    unlit_gltf,
)
from verdigris.core.ladder.rungs.stored_light import TO_LIGHT, StoredLight
from verdigris.core.ladder.texels.grid import Grid

if TYPE_CHECKING:
    from verdigris.core.ladder.views.scene import Scene


@dataclass
class VertexRung(StoredLight):
    """Stored light at vertices, interpolated before the tone curve."""

    name = "vertex"
    title = "Vertex colours"
    use = "Far away"
    stores = "colours of the vertices"
    cost = "no texture read, 1 division"
    snippet = f"""{TO_LIGHT}
// the attribute _STORED of the mesh, interpolated
vec3 light = toLight(vertexStored.rgb, curve);
"""
    opacity_place = BY_VERTEX

    model: VertexColours

    @classmethod
    def start(cls, scene: Scene, records: Records, size: int) -> VertexColours:
        _, count = scene.surface.vertices
        colours = Grid(count, 1, np.full((count, 3), 0.5, np.float32))
        model = VertexColours(colours, records.curve)
        means, weight = ImageFit(model, records).means()
        seen = weight > 1e-6
        colours.values[:] = np.where(seen[:, None], means, means[seen].mean(0))
        return model

    @classmethod
    def fit(cls, fits: RungFits) -> Self:
        rung = super().fit(fits)
        assert fits.records is not None
        triangles = len(fits.views.scene.surface.mesh.position)
        rung.notes = _notes(rung.model, fits.records, triangles)
        return rung

    def vertex_light(self) -> VertexLight | None:
        stored, opacity = self.model.colours.values, self.opacity
        alpha = None if opacity is None else opacity.grid.values
        return VertexLight(stored, self.model.curve.to_light(stored), alpha)

    def gltf_shading(self, written: Written, add: AddTexture) -> dict[str, Any] | None:
        return unlit_gltf(None)

    def networks(self, written: Written, uv_sets: tuple[str, str]) -> dict[str, str]:
        return {}

    def timing(self) -> Timing:
        return Timing("timeVertices", (), curves=self.model.curves)


def _notes(model: VertexColours, records: Records, triangles: int) -> list[str]:
    """How many vertices no camera sees, and which part of the triangles has most of the error:
    splitting these improves the rung."""
    fit = ImageFit(model, records)
    _, weight = fit.means()
    unseen, found = int((weight <= 1e-6).sum()), []
    if unseen:
        found.append(f"{unseen} of {len(weight)} vertices are seen by no camera")
    roots = (np.sqrt(np.maximum(each, 0)) for each in (fit.shade(), records.light))
    error = np.abs(np.subtract(*roots)).sum(1)
    by_triangle = np.sort(np.bincount(records.triangle, error))[::-1]
    half = int(np.searchsorted(np.cumsum(by_triangle), by_triangle.sum() / 2)) + 1
    found.append(
        f"{half} of {triangles} triangles ({half / triangles:.0%}) cause half of the error: "
        "split them to improve vertex colours"
    )
    return found
