"""Meshes of the fake Maya, as Maya ASCII writes them."""

from __future__ import annotations

from typing import Any

from .tables import plate


def mesh_of(raw: dict[str, list[str]]) -> dict[str, Any]:
    """The mesh of `.vt`, `.ed`, `.fc` and `.uvst[0].uvsp`. Without them a history makes the mesh,
    for which a plate stands in.

    A face lists edges; a negative number -n-1 is the edge n backwards (Autodesk, polyFaces).
    """
    if not raw.get("fc") or not raw.get("vt") or not raw.get("ed"):
        return plate()
    points = _groups(_floats(raw["vt"]), 3)
    edges = _groups([int(each) for each in raw["ed"]], 3)
    uvs = _groups(_floats(raw.get("uvsp", [])), 2)
    counts: list[int] = []
    vertices: list[int] = []
    uv_counts: list[int] = []
    uv_ids: list[int] = []
    words = iter(raw["fc"])
    for word in words:
        if word not in ("f", "mu", "h", "mc", "mf", "fc"):
            continue
        place = next(words) if word in ("mu", "mc") else ""
        found = [int(next(words)) for _ in range(int(next(words)))]
        if word in ("f", "h"):
            if word == "f":
                counts.append(len(found))
                uv_counts.append(0)
                vertices += [edges[e][0] if e >= 0 else edges[-e - 1][1] for e in found]
        elif word == "mu" and place == "0" and uvs:
            uv_counts[-1] = len(found)
            uv_ids += found
    return {
        "points": points,
        "counts": counts,
        "vertices": vertices,
        "normals": [(0, 1, 0)],
        "normal_ids": [0] * len(vertices),
        "uvs": uvs,
        "uv_sets": {"map1": 0},
        "uv_counts": uv_counts,
        "uv_ids": uv_ids,
        "colours": {},
        "current": "",
    }


def _floats(words: list[str]) -> list[float]:
    return [float(each) for each in words]


def _groups(values: list[Any], size: int) -> list[Any]:
    return [tuple(values[i : i + size]) for i in range(0, len(values) - size + 1, size)]
