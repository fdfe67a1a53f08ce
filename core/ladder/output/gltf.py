"""Writes rungs as glTF 2.0: one file with material variants, and one with vertex colours.

Positions, normals, tangents and both uv sets are in one binary file. glTF's v grows downwards.
Viewers draw what they know: the tone curves and the reflection map are in `extras` of a material.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.outputs import write_file
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.textures.texture_files import (
    ANISOTROPY,
    BASE_COLOUR,
    COAT,
    EMISSIVE,
    NORMAL,
    ORM,
    SHEEN,
    SHOWN,
    Written,
)
from verdigris.core.ladder.unlit.unlit_models import VertexColours
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.pictures.gbuffer import frame_from
from verdigris.core.settings.rung_names import PBR, SURFACE, TITLES, VERTEX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_FLOAT, _UNSIGNED, _BYTE = 5126, 5125, 5121
_ARRAY, _ELEMENTS = 34962, 34963
_VARIANTS, _UNLIT = "KHR_materials_variants", "KHR_materials_unlit"
_COAT, _STRENGTH = "KHR_materials_clearcoat", "KHR_materials_emissive_strength"
_ANISOTROPY, _SHEEN = "KHR_materials_anisotropy", "KHR_materials_sheen"


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


def write_gltf(
    scene: Scene,
    rungs: list[tuple[Rung, Written]],
    folder: Path,
    name: str,
    is_two_sided: bool = False,
) -> list[str]:
    """Writes `NAME.gltf` for rungs with textures, and `NAME_vertex.gltf`. Returns file names."""
    found = []
    textured = [
        each
        for each in rungs
        if {BASE_COLOUR, SHOWN} & set(each[1].files) and each[0].name != SURFACE
    ]
    if textured:
        found += _write(scene, textured, None, folder, name, is_two_sided)
    for rung, written in rungs:
        if rung.name == VERTEX:
            found += _write(scene, [(rung, written)], rung, folder, f"{name}_vertex", is_two_sided)
    return found


def _write(
    scene: Scene,
    rungs: list[tuple[Rung, Written]],
    coloured: Rung | None,
    folder: Path,
    name: str,
    is_two_sided: bool,
) -> list[str]:
    buffer = _Buffer(f"{name}.bin")
    primitive = _primitive(scene, buffer, coloured)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Verdigris"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": name}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [],
        "textures": [],
        "images": [],
        "samplers": [{"magFilter": 9729, "minFilter": 9987}],
        "extensionsUsed": [],
    }
    for rung, written in rungs:
        made = _material(scene, rung, written, document)
        if is_two_sided:
            made["doubleSided"] = True
        document["materials"].append(made)
    primitive["material"] = 0
    if len(rungs) > 1:
        names = [{"name": rung.name} for rung, _ in rungs]
        document["extensions"] = {_VARIANTS: {"variants": names}}
        mappings = [{"material": index, "variants": [index]} for index in range(len(rungs))]
        primitive["extensions"] = {_VARIANTS: {"mappings": mappings}}
        document["extensionsUsed"].append(_VARIANTS)
    document |= buffer.as_json()
    document["extensionsUsed"] = sorted(set(document["extensionsUsed"]))
    document = {key: value for key, value in document.items() if value != []}
    write_file(folder / f"{name}.bin", bytes(buffer.data))
    write_file(folder / f"{name}.gltf", json.dumps(document, indent=1).encode())
    return [f"{name}.gltf", f"{name}.bin"]


def _primitive(scene: Scene, buffer: _Buffer, coloured: Rung | None) -> dict[str, Any]:
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
    model = coloured.stored if coloured else None
    if coloured and isinstance(model, VertexColours):
        # glTF's vertex colours are linear; the stored bytes are an attribute of their own
        of_vertex = surface.vertices[0].reshape(-1)[where]
        stored = model.colours.values[of_vertex]
        linear = np.clip(model.curve.to_light(stored), 0, 1).astype(np.float32)
        bytes_ = np.full((len(stored), 4), 255, np.uint8)
        bytes_[:, :3] = np.rint(stored * 255)
        if coloured.opacity is not None:
            alpha = coloured.opacity.grid.values[of_vertex].astype(np.float32)
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


def _material(
    scene: Scene, rung: Rung, written: Written, document: dict[str, Any]
) -> dict[str, Any]:
    def texture(use: str, uv_set: int) -> dict[str, int]:
        document["images"].append({"uri": written.files[use]})
        document["textures"].append({"source": len(document["images"]) - 1, "sampler": 0})
        return {"index": len(document["textures"]) - 1, "texCoord": uv_set}

    extras = {"title": TITLES[rung.name], "files": written.files, **written.numbers}
    found: dict[str, Any] = {"name": rung.name, "extras": extras}
    if "alpha_mode" in written.numbers:
        found["alphaMode"] = written.numbers["alpha_mode"]
    if "alpha_cutoff" in written.numbers:
        found["alphaCutoff"] = written.numbers["alpha_cutoff"]
    if rung.name == PBR:
        orm = texture(ORM, 0)
        found["pbrMetallicRoughness"] = {
            "baseColorTexture": texture(BASE_COLOUR, 0),
            "metallicRoughnessTexture": orm,
        }
        found["normalTexture"] = texture(NORMAL, 0)
        found["occlusionTexture"] = orm
        extensions: dict[str, Any] = {}
        if COAT in written.files:
            coat = texture(COAT, 0)
            extensions[_COAT] = {
                "clearcoatFactor": 1.0, "clearcoatTexture": coat,
                "clearcoatRoughnessFactor": 1.0, "clearcoatRoughnessTexture": coat,
            }  # fmt: skip
        if ANISOTROPY in written.files:
            extensions[_ANISOTROPY] = {
                "anisotropyStrength": 1.0, "anisotropyTexture": texture(ANISOTROPY, 0),
            }  # fmt: skip
        if SHEEN in written.files:
            sheen = texture(SHEEN, 0)
            extensions[_SHEEN] = {
                "sheenColorFactor": [1.0, 1.0, 1.0], "sheenColorTexture": sheen,
                "sheenRoughnessFactor": 1.0, "sheenRoughnessTexture": sheen,
            }  # fmt: skip
        if EMISSIVE in written.files:
            found["emissiveTexture"] = texture(EMISSIVE, 0)
            found["emissiveFactor"] = [1.0, 1.0, 1.0]
            strength = written.numbers["emissive_strength"]
            extensions[_STRENGTH] = {"emissiveStrength": strength}
        if extensions:
            found["extensions"] = extensions
            document["extensionsUsed"] += list(extensions)
        return found
    found["pbrMetallicRoughness"] = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
    if SHOWN in written.files:
        found["pbrMetallicRoughness"]["baseColorTexture"] = texture(SHOWN, 1)
    found["extensions"] = {_UNLIT: {}}
    document["extensionsUsed"].append(_UNLIT)
    return found
