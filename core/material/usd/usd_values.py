"""Converts USD's types, values, colour spaces and asset paths to MaterialX's."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import TextureError
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.graph.colour_spaces import name_in_materialx
from verdigris.core.material.graph.library import COMPONENTS
from verdigris.core.material.usd.usd_package import unpack

if TYPE_CHECKING:
    from pxr import Usd

NODE_SCHEME = "op:"
"""The start of the path of a node in Houdini that stands for a file: an image in memory."""

_WIDTHS = {**COMPONENTS, "matrix33": 9, "matrix44": 16}
_PLAIN = {"bool": "boolean", "int": "integer", "asset": "filename"}


def type_in_materialx(usd_type: str) -> str:
    """The MaterialX type for a USD type; `string` for tokens and for types without counterpart."""
    if usd_type in _PLAIN:
        return _PLAIN[usd_type]
    if usd_type in ("float", "half", "double"):
        return "float"
    stem, size = usd_type[:-1], usd_type[-1:]
    if stem in ("float", "half", "double") and size in "234":
        return f"vector{size}"
    stem, size = usd_type[:-2], usd_type[-2:-1]
    if usd_type[-1:] in "fhd" and size in "234":
        if stem == "color":
            return f"color{size}"
        if stem in ("vector", "normal", "point", "texCoord"):
            return f"vector{size}"
        if stem == "matrix":
            return {"3": "matrix33", "4": "matrix44"}.get(size, "string")
    return "string"


_IN_USD = {
    "float": "float",
    "integer": "int",
    "boolean": "bool",
    "string": "string",
    "filename": "asset",
    "geomname": "string",
    "color3": "color3f",
    "color4": "color4f",
    "matrix33": "matrix3d",
    "matrix44": "matrix4d",
    **{f"vector{size}": f"float{size}" for size in "234"},
}


def type_in_usd(kind: str) -> str:
    """The USD type for a MaterialX type, as usdMtlx chooses it (OpenUSD, usdMtlx/utils.cpp).
    Shaders and closures are tokens."""
    return _IN_USD.get(kind, "token")


def value_in_usd(kind: str, value: Any) -> Any:
    """The USD value for a value of a MaterialX type; None if it has no type of USD."""
    from pxr import Gf, Sdf

    if kind == "filename":
        return Sdf.AssetPath(value)
    numbers = value.asTuple() if hasattr(value, "asTuple") else ()
    if kind.startswith(("color", "vector")) and numbers:
        return getattr(Gf, f"Vec{len(numbers)}f")(*numbers)
    if kind.startswith("matrix") and numbers:
        size = int(kind[-1])
        flat = [
            float(each) for row in numbers for each in (row if hasattr(row, "__len__") else [row])
        ]
        rows = [flat[start : start + size] for start in range(0, size * size, size)]
        return getattr(Gf, f"Matrix{size}d")(rows)
    return value if kind in _IN_USD else None


def fitting_type(usd_type: str, wanted: str | None) -> str:
    """The wanted type if the value fits it, else the value's own type."""
    own = type_in_materialx(usd_type)
    if wanted is None or own == wanted:
        return own
    if own == "string" or _WIDTHS.get(own, 0) == _WIDTHS.get(wanted, -1):
        return wanted
    return own


def value_text(value: Any) -> str:
    """The MaterialX text for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _shortest(value)
    if isinstance(value, str):
        return value
    return ", ".join(_shortest(number) for number in _numbers(value))


def _shortest(value: float) -> str:
    """The shortest text that is exact in single precision."""
    single = struct.pack("f", value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 9))
    return next((text for text in texts if struct.pack("f", float(text)) == single), f"{value:.9g}")


def _numbers(value: Any) -> list[float]:
    flat: list[float] = []
    for part in value:
        flat += _numbers(part) if hasattr(part, "__len__") else [float(part)]
    return flat


def colour_space(attribute: Usd.Attribute) -> str:
    """The colour space that is authored on a value, or on a prim above it; empty without one."""
    authored = attribute.GetColorSpace() or _inherited_colour_space(attribute.GetPrim())
    return name_in_materialx(authored)


def _inherited_colour_space(prim: Usd.Prim) -> str:
    from pxr import Usd

    interface = getattr(Usd, "ColorSpaceAPI", None)
    while interface and prim and not prim.IsPseudoRoot():
        if prim.HasAPI(interface):
            name = interface(prim).GetColorSpaceNameAttr().Get()
            if name:
                return str(name)
        prim = prim.GetParent()
    return ""


def asset_file(attribute: Usd.Attribute, value: Any, asker: str) -> str:
    """The file for an asset path, as the stage resolves it. A missing file keeps its name, so that
    its reader reports it."""
    resolved = str(getattr(value, "resolvedPath", "") or "")
    written = str(getattr(value, "path", value) or "")
    if written.startswith(NODE_SCHEME):
        return written
    file = resolved or _anchored(attribute, written)
    if "[" in file and file.endswith("]"):
        return _unpacked(file, asker).as_posix()
    return Path(file).as_posix() if file else ""


def _unpacked(file: str, asker: str) -> Path:
    """The copy of a file inside of a package: `props.usdz[wood.png]`."""
    package, _, inner = file[:-1].partition("[")
    found = unpack(Path(package))
    place = found[0] / inner if found else None
    # a stage may name what is beside the unpacked files
    if place is None or ".." in place.parts or not place.is_file():
        raise TextureError(
            f"{asker}: {file!r} is inside a USDZ package, and cannot be unpacked: unpack the "
            "package, a zip archive, and bake the stage in it"
        )
    return place


def _anchored(attribute: Usd.Attribute, written: str) -> str:
    """The path for a name that does not resolve, such as a set of tiles."""
    from pxr import Ar, Sdf

    if not written:
        return ""
    for spec in attribute.GetPropertyStack():
        if spec.default is None or spec.layer.anonymous:
            continue
        anchored = str(Sdf.ComputeAssetPathRelativeToLayer(spec.layer, written))
        if not Path(anchored).is_absolute():
            anchored = str(Path(spec.layer.realPath).parent / anchored)
        if not is_tiled(written):
            return anchored
        # resolvers find single files, so the first tile is resolved for all
        first = anchored.replace("<UDIM>", "1001").replace("<UVTILE>", "u1_v1")
        found = str(Ar.GetResolver().Resolve(first))
        if found:
            return str(Path(found).parent / Path(anchored).name)
        return anchored
    return written
