"""Classes of the fake Houdini that know no scene: geometry, parameters, visualizers."""

from __future__ import annotations

from typing import Any

import numpy as np
from houdini_nodes import VISUALIZER

INDIRECT = "<input 0>"
# hou.licenseCategoryType. Tools that ship assets add these letters to `.hda` and `.hip` by
# licenseCategory(), and `nc` for all others; SideFX' page "Houdini Engine: Licensing" calls assets
# of Indie `*lc`.
LICENSES = ("Commercial", "Indie", "Education", "ApprenticeHD", "Apprentice")
SUFFIX_OF_LICENSE = {"Commercial": "", "Indie": "lc"}


class Enum:
    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> str:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"{name}: the fake does not know this value")
        return name


class ParmTemplate:
    def __init__(self, name: str, **facts: Any) -> None:
        default = {"name": name, "default": "", "callback": "", "hidden": False}
        self.facts = {**default, **facts}


class StringParmTemplate(ParmTemplate):
    def __init__(
        self,
        name: str,
        label: str,
        num_components: int,
        default_value: Any = (),
        string_type: str = "Regular",
        file_type: str = "Any",
        menu_items: Any = (),
        menu_labels: Any = (),
        disable_when: str = "",
        is_hidden: bool = False,
        help: str = "",
    ) -> None:
        assert len(default_value) == num_components == 1
        assert len(menu_items) == len(menu_labels)
        assert file_type == "Any" or string_type == "FileReference"
        super().__init__(
            name, label=label, default=default_value[0], menu=menu_items, hidden=is_hidden
        )


class ToggleParmTemplate(ParmTemplate):
    def __init__(self, name: str, label: str, default_value: bool = False, help: str = "") -> None:
        super().__init__(name, label=label, default=int(default_value))


class ButtonParmTemplate(ParmTemplate):
    def __init__(
        self,
        name: str,
        label: str,
        join_with_next: bool = False,
        help: str = "",
        script_callback: str = "",
        script_callback_language: str = "",
    ) -> None:
        assert script_callback_language == "Python"
        super().__init__(name, label=label, default=0, callback=script_callback)


class ParmTemplateGroup:
    def __init__(self) -> None:
        self.templates: list[ParmTemplate] = []

    def append(self, template: ParmTemplate) -> None:
        assert template.facts["name"] not in [each.facts["name"] for each in self.templates]
        self.templates.append(template)


class SubnetIndirectInput:
    def path(self) -> str:
        return INDIRECT


class ViewportVisualizerType:
    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name


class ViewportVisualizer:
    """One of the type vis_color."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    def name(self) -> str:
        return str(self._facts["name"])

    def setName(self, name: str) -> None:
        self._facts["name"] = name

    def setLabel(self, label: str) -> None:
        self._facts["label"] = label

    def setParm(self, parm_name: str, value: Any) -> None:
        known = VISUALIZER[parm_name]
        assert known is None or value in known
        if parm_name in ("minscalar", "maxscalar"):
            assert self._facts.get("rangespec") == "min-max"
        self._facts[parm_name] = value

    def setIsActive(self, on: bool) -> None:
        self._facts["active"] = on


class Matrix:
    def __init__(self, rows: Any) -> None:
        self._rows = np.eye(4) if rows is None else np.array(rows)

    def asTuple(self) -> tuple[float, ...]:
        return tuple(map(float, self._rows.ravel()))


class Attrib:
    def __init__(self, name: str, values: Any) -> None:
        self._name, self._values = name, values

    def name(self) -> str:
        return self._name

    def size(self) -> int:
        return int(self._values.shape[1])

    def dataType(self) -> str:
        return "Float" if isinstance(self._values, np.ndarray) else "String"

    def strings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._values))


class Point:
    def __init__(self, number: int) -> None:
        self._number = number

    def number(self) -> int:
        return self._number


class Vertex:
    def __init__(self, point: int) -> None:
        self._point = point

    def point(self) -> Point:
        return Point(self._point)


class Prim:
    def __init__(self, points: list[int], kind: str, counts: dict[str, int]) -> None:
        self._points, self._kind, self._counts = points, kind, counts

    def type(self) -> str:
        return self._kind

    def numVertices(self) -> int:
        return len(self._points)

    def vertices(self) -> Any:
        self._counts["vertices"] = self._counts.get("vertices", 0) + len(self._points)
        return iter([Vertex(point) for point in self._points])


class Geometry:
    """Geometry of a node, which cannot be changed, or a frozen copy.

    The reference of hou.Geometry: vertices have no array of their points; attributes have arrays.
    """

    def __init__(self, data: dict[str, Any], is_frozen: bool = False) -> None:
        self._data, self._is_frozen = data, is_frozen
        self.is_counted = True

    def freeze(self) -> Geometry:
        """A copy that is not linked to its node, and may be changed."""
        parts = {name: dict(self._data[name]) for name in ("points", "vertices", "prims")}
        return Geometry({**self._data, **parts, "counts": self._counts}, is_frozen=True)

    @property
    def _counts(self) -> dict[str, int]:
        return self._data.setdefault("counts", {})

    def _kinds(self) -> list[str]:
        return self._data.get("kinds") or ["Polygon"] * len(self._data["faces"])

    def prims(self) -> tuple[Prim, ...]:
        faces = zip(self._data["faces"], self._kinds(), strict=True)
        return tuple(Prim(points, kind, self._counts) for points, kind in faces)

    def intrinsicValue(self, intrinsic_name: str) -> int:
        """Houdini 20.5 has no other bulk count."""
        return {
            "pointcount": len(self._data["points"]["P"]),
            "primitivecount": len(self._data["faces"]),
        }[intrinsic_name]

    def countPrimType(self, type_or_name: str) -> int:
        return self._kinds().count(type_or_name)

    def _find(self, kind: str, name: str) -> Attrib | None:
        found = self._data[kind].get(name)
        return None if found is None else Attrib(name, found)

    def findPointAttrib(self, name: str) -> Attrib | None:
        return self._find("points", name)

    def findVertexAttrib(self, name: str) -> Attrib | None:
        return self._find("vertices", name)

    def findPrimAttrib(self, name: str) -> Attrib | None:
        return self._find("prims", name)

    def pointAttribs(self) -> tuple[Attrib, ...]:
        return tuple(Attrib(*each) for each in self._data["points"].items())

    def vertexAttribs(self) -> tuple[Attrib, ...]:
        return tuple(Attrib(*each) for each in self._data["vertices"].items())

    def pointFloatAttribValuesAsString(self, name: str) -> bytes:
        return bytes(self._data["points"][name].astype(np.float32).tobytes())

    def vertexFloatAttribValuesAsString(self, name: str) -> bytes:
        return bytes(self._data["vertices"][name].astype(np.float32).tobytes())

    def vertexIntAttribValuesAsString(self, name: str) -> bytes:
        return bytes(self._data["vertices"][name].astype(np.int32).tobytes())

    def primStringAttribValues(self, name: str) -> tuple[str, ...]:
        return tuple(self._data["prims"][name])

    def addAttrib(self, type: str, name: str, default_value: Any) -> None:
        assert self._is_frozen, "hou.GeometryPermissionError"
        self.is_counted = False
        assert default_value == 0
        kind, count = {
            "Point": ("points", "pointcount"), "Prim": ("prims", "primitivecount")
        }[type]  # fmt: skip
        self._data[kind][name] = np.zeros((self.intrinsicValue(count), 1), np.int32)

    def setPointIntAttribValuesFromString(self, name: str, values: bytes) -> None:
        assert self._is_frozen and name in self._data["points"]
        self._data["points"][name] = np.frombuffer(values, np.int32)[:, None]

    def setPrimIntAttribValuesFromString(self, name: str, values: bytes) -> None:
        assert self._is_frozen and name in self._data["prims"]
        self._data["prims"][name] = np.frombuffer(values, np.int32)[:, None]

    def incrementAllDataIds(self) -> None:
        """The reference of hou.Geometry wants it after changes, before a verb runs."""
        self.is_counted = True


class SopVerb:
    """Attribute Promote. SOP_AttribPromote.proto.h of the HDK has its parameters: the classes are
    detail 0, primitive 1, point 2 and vertex 3."""

    def __init__(self) -> None:
        self._parms: dict[str, Any] = {"inclass": 2, "outclass": 0, "deletein": True}

    def setParms(self, parms: dict[str, Any]) -> None:
        assert set(parms) <= {"inname", "inclass", "outclass", "method", "deletein"}
        self._parms |= parms

    def execute(self, dest: Geometry, inputs: list[Geometry]) -> None:
        (source,) = inputs
        assert source.is_counted
        dest._data = source.freeze()._data
        kind, name = {1: "prims", 2: "points"}[self._parms["inclass"]], self._parms["inname"]
        assert self._parms["outclass"] == 3
        values, faces = dest._data[kind][name], dest._data["faces"]
        counts = [len(points) for points in faces]
        chosen = np.concatenate(faces) if kind == "points" else np.repeat(range(len(faces)), counts)
        dest._data["vertices"][name] = values[chosen]
        if self._parms["deletein"]:
            del dest._data[kind][name]


def plate() -> dict[str, Any]:
    """A quad and a triangle that share an edge, in the plane of z = 0, clockwise from above."""
    return {
        "faces": [[3, 2, 1, 0], [2, 4, 1]],
        "points": {
            "P": np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)], np.float32)
        },
        "vertices": {
            "uv": np.array(
                [
                    *((0, 1, 0), (0.5, 1, 0), (0.5, 0, 0), (0, 0, 0)),
                    *((0.5, 1, 0), (1, 0, 0), (0.5, 0, 0)),
                ],
                np.float32,
            )
        },
        "prims": {},
    }
