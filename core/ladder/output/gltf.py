"""Writes rungs as glTF 2.0: one file with material variants, and one for each rung of vertex
colours.

Positions, normals, tangents and both uv sets are in one binary file. glTF's v grows downwards.
Viewers draw what they support: the tone curves and the reflection map are in `extras` of a
material.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.outputs import write_own_file
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.pictures.gbuffer import frame_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.rungs.rung import Rung, VertexLight, Written
    from verdigris.core.ladder.views.scene import Scene


_FLOAT, _UNSIGNED, _BYTE = 5126, 5125, 5121
_ARRAY, _ELEMENTS = 34962, 34963
_VARIANTS = "KHR_materials_variants"


def write_gltf(
    scene: Scene,
    rungs: list[tuple[Rung, Written]],
    folder: Path,
    name: str,
    is_two_sided: bool = False,
) -> list[str]:
    """Writes `NAME.gltf` for rungs with textures, and `NAME_RUNG.gltf` for rungs of vertex colours.
    Returns the file names."""
    textured = [each for each in rungs if each[0].vertex_light() is None]
    found = _write(scene, textured, None, folder, name, is_two_sided)
    for rung, written in rungs:
        if (light := rung.vertex_light()) is not None:
            own = f"{name}_{rung.name}"
            found += _write(scene, [(rung, written)], light, folder, own, is_two_sided)
    return found


def _write(
    scene: Scene,
    rungs: list[tuple[Rung, Written]],
    light: VertexLight | None,
    folder: Path,
    name: str,
    is_two_sided: bool,
) -> list[str]:
    """Writes a file with the rungs that glTF can show, if there is one."""
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Verdigris"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": name}],
        "meshes": [],
        "materials": [],
        "textures": [],
        "images": [],
        "samplers": [{"magFilter": 9729, "minFilter": 9987}],
        "extensionsUsed": [],
    }
    for rung, written in rungs:
        _add_material(document, rung, written, is_two_sided)
    names = [each["name"] for each in document["materials"]]
    if not names:
        return []
    buffer = _Buffer(f"{name}.bin")
    primitive = {**_geometry(scene, buffer, light), "material": 0}
    document["meshes"].append({"primitives": [primitive]})
    if len(names) > 1:
        variants = [{"name": each} for each in names]
        document["extensions"] = {_VARIANTS: {"variants": variants}}
        mappings = [{"material": index, "variants": [index]} for index in range(len(names))]
        primitive["extensions"] = {_VARIANTS: {"mappings": mappings}}
        document["extensionsUsed"].append(_VARIANTS)
    document |= buffer.as_json()
    document["extensionsUsed"] = sorted(set(document["extensionsUsed"]))
    document = {key: value for key, value in document.items() if value != []}
    write_own_file(folder / f"{name}.bin", bytes(buffer.data))
    write_own_file(folder / f"{name}.gltf", json.dumps(document, indent=1).encode())
    return [f"{name}.gltf", f"{name}.bin"]


def _add_material(
    document: dict[str, Any], rung: Rung, written: Written, is_two_sided: bool
) -> None:
    """Adds the material of a rung, if glTF can show it."""

    def add_texture(file: str, uv_set: int) -> dict[str, int]:
        document["images"].append({"uri": file})
        document["textures"].append({"source": len(document["images"]) - 1, "sampler": 0})
        return {"index": len(document["textures"]) - 1, "texCoord": uv_set}

    shading = rung.gltf_shading(written, add_texture)
    if shading is None:
        return
    numbers = written.numbers
    found: dict[str, Any] = {
        "name": rung.name,
        "extras": {"title": rung.title, "files": written.files, **numbers},
    }
    if "alpha_mode" in numbers:
        found["alphaMode"] = numbers["alpha_mode"]
    if "alpha_cutoff" in numbers:
        found["alphaCutoff"] = numbers["alpha_cutoff"]
    found |= shading
    if is_two_sided:
        found["doubleSided"] = True
    document["materials"].append(found)
    document["extensionsUsed"] += list(shading.get("extensions", {}))


def _geometry(scene: Scene, buffer: _Buffer, light: VertexLight | None) -> dict[str, Any]:
    """Attributes and indices of the mesh, with the light of vertices."""
    surface, mesh = scene.surface, scene.surface.mesh
    first = surface.sets[scene.first_set]
    unique = surface.sets[scene.unique_set or scene.first_set]
    part = Mesh(mesh.position, mesh.normal, first)
    along_u, along_v = (np.repeat(each, 3, 0) for each in part.tangents())
    normal = mesh.normal.reshape(-1, 3)
    tangent, bitangent = frame_from(normal, along_u, along_v)
    sign = np.sign((np.cross(normal, tangent) * bitangent).sum(1, keepdims=True))
    sign[sign == 0] = 1
    columns = [
        mesh.position.reshape(-1, 3), normal, np.concatenate([tangent, sign], 1),
        _downwards(first), _downwards(unique),
    ]  # fmt: skip
    vertex = surface.vertices[0].reshape(-1, 1).astype(np.float32)
    table = np.concatenate([*columns, vertex], 1).astype(np.float32)
    packed = np.ascontiguousarray(np.round(table, 6)).view(
        np.dtype((np.void, table.itemsize * table.shape[1]))
    )
    _, where, index = np.unique(packed.reshape(-1), return_index=True, return_inverse=True)
    position, normal, tangent, uv0, uv1 = (
        np.ascontiguousarray(each[where], np.float32) for each in columns
    )
    attributes = {
        "POSITION": buffer.add(position, "VEC3", _FLOAT, has_limits=True),
        "NORMAL": buffer.add(normal, "VEC3", _FLOAT),
        "TANGENT": buffer.add(tangent, "VEC4", _FLOAT),
        "TEXCOORD_0": buffer.add(uv0, "VEC2", _FLOAT),
        "TEXCOORD_1": buffer.add(uv1, "VEC2", _FLOAT),
    }
    if light is not None:
        # glTF's vertex colours are linear; the stored bytes are an attribute of their own
        of_vertex = surface.vertices[0].reshape(-1)[where]
        linear = np.clip(light.light[of_vertex], 0, 1).astype(np.float32)
        bytes_ = np.full((len(of_vertex), 4), 255, np.uint8)
        bytes_[:, :3] = np.rint(light.stored[of_vertex] * 255)
        if light.alpha is not None:
            alpha = light.alpha[of_vertex].astype(np.float32)
            bytes_[:, 3:] = np.rint(alpha * 255)
            linear = np.concatenate([linear, alpha], 1)
        attributes["COLOR_0"] = buffer.add(linear, f"VEC{linear.shape[1]}", _FLOAT)
        attributes["_STORED"] = buffer.add(bytes_, "VEC4", _BYTE, is_normalised=True)
    return {
        "attributes": attributes,
        "indices": buffer.add(index.astype(np.uint32), "SCALAR", _UNSIGNED, _ELEMENTS),
    }


def _downwards(uv: Floats) -> Floats:
    flat = uv.reshape(-1, 2)
    return np.stack([flat[:, 0], 1 - flat[:, 1]], 1)


class _Buffer:
    """The binary file and its accessors."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(
        self, values: NDArray[Any], kind: str, component: int, target: int = _ARRAY,
        has_limits: bool = False, is_normalised: bool = False,
    ) -> int:  # fmt: skip
        self.data += bytes(-len(self.data) % 4)
        raw = np.ascontiguousarray(values).tobytes()
        self.views.append(
            {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw), "target": target}
        )
        self.data += raw
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if has_limits:
            accessor |= {"min": values.min(0).tolist(), "max": values.max(0).tolist()}
        if is_normalised:
            accessor["normalized"] = True
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def as_json(self) -> dict[str, Any]:
        return {
            "buffers": [{"uri": self.file, "byteLength": len(self.data)}],
            "bufferViews": self.views,
            "accessors": self.accessors,
        }
