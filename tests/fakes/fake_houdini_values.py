"""Classes of the fake Houdini that know no scene: geometry, parameters, visualizers."""

from __future__ import annotations

from typing import Any

import numpy as np
from houdini_nodes import VISUALIZER

INDIRECT = "<input 0>"


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
        return "Float"


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
    def __init__(self, points: list[int]) -> None:
        self._points = points

    def numVertices(self) -> int:
        return len(self._points)

    def vertices(self) -> Any:
        return iter([Vertex(point) for point in self._points])


class Geometry:
    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def prims(self) -> tuple[Prim, ...]:
        return tuple(Prim(points) for points in self._data["faces"])

    def _find(self, kind: str, name: str) -> Attrib | None:
        found = self._data[kind].get(name)
        return None if found is None else Attrib(name, found)

    def findPointAttrib(self, name: str) -> Attrib | None:
        return self._find("points", name)

    def findVertexAttrib(self, name: str) -> Attrib | None:
        return self._find("vertices", name)

    def findPrimAttrib(self, name: str) -> Attrib | None:
        return None if name not in self._data["prims"] else Attrib(name, np.zeros((1, 1)))

    def pointAttribs(self) -> tuple[Attrib, ...]:
        return tuple(Attrib(*each) for each in self._data["points"].items())

    def vertexAttribs(self) -> tuple[Attrib, ...]:
        return tuple(Attrib(*each) for each in self._data["vertices"].items())

    def pointFloatAttribValuesAsString(self, name: str) -> bytes:
        return bytes(self._data["points"][name].astype(np.float32).tobytes())

    def vertexFloatAttribValuesAsString(self, name: str) -> bytes:
        return bytes(self._data["vertices"][name].astype(np.float32).tobytes())

    def primStringAttribValues(self, name: str) -> tuple[str, ...]:
        return tuple(self._data["prims"][name])


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
