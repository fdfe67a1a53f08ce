"""A material's graph on a mesh, to which textures are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.ladder.mesh.mesh_domain import (
    find_properties,
    mesh_points,
    needs_atlas,
    reads_colours,
)
from verdigris.core.material.analyse.features import KEPT, approximately_transmitted
from verdigris.core.material.analyse.on_mesh import parts_on_mesh, reads_second_set
from verdigris.core.material.codegen.geometry_values import is_read_from_mesh, plain_name
from verdigris.core.material.domain import MOST_SETS
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.material.load.mtlx_document import Document, Material

_PASSING = (
    "glTF textures have one colour for it at each place; of these, a UsdPreviewSurface and the "
    "plug-ins show reflected light only"
)


@dataclass(frozen=True)
class GraphOnMesh:
    """A compiled graph, and the mesh on which it is evaluated."""

    teacher: Teacher
    surface: Surface
    """The graph is evaluated on its first uv set."""
    uv_set: str
    """The uv set of the material's textures."""
    has_tiles: bool
    """Whether unit squares of this uv set are UDIM tiles."""
    warnings: list[str]
    """What the mesh lacks, and what the graph loses on this mesh."""

    @classmethod
    def compile(
        cls,
        document: Document,
        material: Material,
        surface: Surface,
        device: Device,
        uv_set: str | None,
        is_fitted: bool,
        has_textures: bool,
    ) -> GraphOnMesh:
        """Compiles the graph. What it reads from the mesh becomes a map in a uv set in which each
        place has texels of its own.

        `is_fitted`: a rung is fitted to the graph. `has_textures`: a rung has textures on the uv
        set of the material.
        """
        nodes = list(document.nodes_of(material))
        read, warnings = find_properties(surface, nodes, document.name)
        chosen, fitted, points = surface.require_set(uv_set), surface, None
        has_colours, sets = reads_colours(surface, nodes), min(len(surface.sets), MOST_SETS)
        reads_map = read or has_colours or (sets > 1 and reads_second_set(nodes))
        if is_fitted and reads_map:
            places = surface.require_unique_set()
            points = mesh_points(surface, places, properties=read)
            fitted = surface.starting_with(places)
        teacher = Teacher(document, material, device, points, has_atlas=points is not None)
        # the warnings already name what the mesh lacks of these
        named = [plain_name(each) for each in nodes if is_read_from_mesh(each)]
        parts = parts_on_mesh(describe_teacher(teacher).parts, named, sets, has_colours=True)
        parts = approximately_transmitted(parts, _PASSING)
        warnings += [
            f"{each.name} is {each.fate}: {each.how}" for each in parts if each.fate != KEPT
        ]
        has_tiles = any(is_tiled(slot.file) for slot in teacher.generated.textures)
        if not has_tiles and has_textures:
            has_tiles, shared = needs_atlas(fitted, chosen, nodes)
            warnings += shared
        return cls(teacher, fitted, chosen, has_tiles, warnings)
