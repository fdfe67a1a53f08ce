"""The looks of a ladder in scenes, from its report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import read_json_file
from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    BakedResult,
    LadderLook,
    RungLook,
    ShaderLook,
    ShaderTexture,
    StoredLight,
)

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats


FORMAT = "verdigris.ladder"
VARIANT_SET = "rung"
"""The variant set in a USD file with all rungs."""
# Keys of an entry in the report.
SCENE_TEXTURES, SCENE_VERTICES, SCENE_SHADER = "scene_textures", "scene_vertices", "scene_shader"
_BUNDLE, _PICTURE = "bundle", "picture"
_LARGEST_REPORT = 64 << 20
_DAMAGE = (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError)
# The suffix of a uv set in which UDIM tiles are an atlas: no mesh of a scene has such a set.
TILES_SUFFIX = " (tiles)"
_SHOWN, _DETAIL_SCALE = "shown", "detail_scale"
COLOUR_SHOWN, SHOWN_SCALE = "colour_shown", "colour_shown_scale"
_CURVE, _MIRROR_CURVE, _TILES, _ALPHA = "curve", "mirror_curve", "tiles", "alpha_mode"
_LIGHT_SET, _MATERIAL_SET = "uv_set_of_light", "uv_set_of_materials"
_OF_LIGHT = "light", "share", "mirror", "colour", "detail", "opacity"
# Lit textures by kind, the only ones for scenes in older ladders: the input of a Standard Surface,
# whether it is a colour, and whether it is a direction.
_STRENGTH = "emissive_strength"
_INPUTS = {
    BASE_COLOR: ("base_color", True, False),
    ROUGHNESS: ("specular_roughness", False, False),
    METALNESS: ("metalness", False, False),
    NORMAL_MAP: ("normal", False, True),
    EMISSION: ("emission_color", True, False),
    OPACITY: ("opacity", False, False),
}


def read_look(file: Path) -> LadderLook:
    """What a scene shows of the ladder whose report this is."""
    report = read_report(file)
    try:
        return look_of(report, file.parent)
    except _DAMAGE as failure:
        raise HostError(
            f"{file}: is damaged ({type(failure).__name__}: {failure}): bake the ladder again"
        ) from None


def read_report(file: Path) -> dict[str, Any]:
    """The report of a ladder. The names of its files are checked where they are used."""
    report = read_json_file(file, HostError, _LARGEST_REPORT)
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise HostError(
            f"{file}: is not the report of a ladder: choose the file ladder.json of one"
        )
    return report


def find_report(file: Path) -> dict[str, Any] | None:
    """The report of a ladder; None if there is none whose rungs a scene can show."""
    try:
        read_look(file)
        return read_report(file)
    except HostError:
        return None


def _place(folder: Path, name: object) -> Path:
    """A file of the ladder. A report from a stranger must not name others."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not the name of a file")
    windows = PureWindowsPath(name)
    if windows.drive or windows.root or ".." in windows.parts or not name or "\0" in name:
        raise ValueError(f"{name!r} is not a file in the folder of the ladder")
    return folder / name


def _bundle(folder: Path, name: str) -> Path:
    """The bundle of a ladder. One that was given to its fit may lie in another local folder."""
    path = Path(name)
    is_local = path.is_absolute() and not PureWindowsPath(name).drive.startswith("\\\\")
    if is_local and path.suffix == ".vdg" and (path / "manifest.json").is_file():
        return path
    return _place(folder, name)


def look_of(report: Mapping[str, Any], folder: Path) -> LadderLook:
    """The rungs that a scene can show."""
    below = {each["rung"]: _pixels(each["below_pixels"]) for each in report.get("lods", ())}
    rungs = []
    for each in report.get("rungs", ()):
        name, light = str(each["name"]), _light_of(each, report, folder)
        # the panel shows it
        _place(folder, each.get(_PICTURE, "picture"))
        vertices = each.get(SCENE_VERTICES)
        shader = _shader_of(each, report, folder)
        if not (_BUNDLE in each or light or vertices or shader):
            continue
        rungs.append(
            RungLook(
                name,
                str(each.get("title", name)),
                below.get(name),
                light,
                _place(folder, vertices) if vertices else None,
                _ALPHA in each,
                shader,
            )
        )
    stages = _stages(report)
    return LadderLook(
        str(report.get("name", "ladder")),
        tuple(rungs),
        _place(folder, stages[0]) if stages else None,
        result_of(report, folder),
    )


def _light_of(
    entry: Mapping[str, Any], report: Mapping[str, Any], folder: Path
) -> StoredLight | None:
    """The stored light of a rung, if it has any. Scenes have no uv set for an atlas of tiles."""
    found = entry.get("files", {})
    files = {use: _place(folder, found[use]) for use in _OF_LIGHT if use in found}
    is_atlas = _TILES in entry or _set(report, _LIGHT_SET).endswith(TILES_SUFFIX)
    if not files or _CURVE not in entry or is_atlas:
        return None
    shown = _SHOWN if _SHOWN in found else COLOUR_SHOWN
    return StoredLight(
        files,
        _numbers(entry[_CURVE]),
        _numbers(entry[_MIRROR_CURVE]) if _MIRROR_CURVE in entry else None,
        _set(report, _LIGHT_SET),
        _set(report, _MATERIAL_SET),
        _number(entry.get(_DETAIL_SCALE, 1.0)),
        _place(folder, found[shown]) if shown in found else None,
        _number(entry.get(SHOWN_SCALE, 1.0)),
    )


def _set(report: Mapping[str, Any], key: str) -> str:
    return str(report.get(key) or "")


def _numbers(curve: Mapping[str, float]) -> tuple[float, float, float]:
    return _number(curve["a"]), _number(curve["b"]), _number(curve["c"])


def _number(value: object) -> float:
    """A number of the report, unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value


def _pixels(value: object) -> int | None:
    """A height on the screen; None for the first rung."""
    return None if value is None else int(_number(value))


def _value(value: object) -> float | bool | tuple[float, ...]:
    """A value of a shader's input."""
    if isinstance(value, list):
        return tuple(map(_number, value))
    return value if isinstance(value, bool) else _number(value)


def _shader_of(
    entry: Mapping[str, Any], report: Mapping[str, Any], folder: Path
) -> ShaderLook | None:
    uv_set, found = _set(report, _MATERIAL_SET), entry.get(SCENE_SHADER)
    if found is None:
        return _shader_of_kinds(entry, uv_set, folder)
    textures = {
        name: ShaderTexture(
            _place(folder, each["file"]), bool(each["is_colour"]), bool(each["is_direction"]),
            _number(each["low"]), _number(each["high"]),
        )
        for name, each in found["textures"].items()
    }  # fmt: skip
    values = {name: _value(value) for name, value in found["values"].items()}
    has_bounces = SCENE_TEXTURES not in entry
    return ShaderLook(str(found["category"]), values, textures, uv_set, has_bounces)


def _shader_of_kinds(entry: Mapping[str, Any], uv_set: str, folder: Path) -> ShaderLook | None:
    """The surface shader of lit textures of an older ladder, without coat, anisotropy and sheen."""
    kinds = entry.get(SCENE_TEXTURES, {})
    if not kinds:
        return None
    textures = {}
    for kind, file in kinds.items():
        name, is_colour, is_direction = _INPUTS[kind]
        textures[name] = ShaderTexture(_place(folder, file), is_colour, is_direction)
    values = {"base": 1.0, "specular": 1.0}
    if EMISSION in kinds:
        values["emission"] = entry.get(_STRENGTH, 1.0)
    return ShaderLook("standard_surface", values, textures, uv_set, has_bounces=False)


def read_vertices(file: Path) -> tuple[Floats, Floats]:
    """The positions (V, 3) and the linear light (V, 4) of vertices."""
    from verdigris.core.base.arrays import (
        REAL_KINDS,
        UNREADABLE,
        open_archive,
        stored_array,
        why_unreadable,
    )

    try:
        with open_archive(file) as found:
            position, colour = (stored_array(found, name) for name in ("position", "colour"))
    except UNREADABLE as failure:
        why = why_unreadable(failure)
        raise HostError(f"{file}: cannot be read ({why}): bake the ladder again") from None
    count = len(position) if position.ndim else 0
    are_real = position.dtype.kind in REAL_KINDS and colour.dtype.kind in REAL_KINDS
    if not are_real or position.shape != (count, 3) or colour.shape != (count, 4):
        raise HostError(
            f"{file}: has arrays of shape {position.shape} and {colour.shape}, not of three and "
            "four numbers for each vertex: bake the ladder again"
        )
    return position, colour


def result_of(report: Mapping[str, Any], folder: Path) -> BakedResult | None:
    """What a scene notes about a ladder: the bundle, or else the USD file, with the glTF textures.
    None if there is neither."""
    rungs = report.get("rungs", ())
    bundle = next((each[_BUNDLE] for each in rungs if each.get(_BUNDLE)), "")
    stages = _stages(report)
    if not bundle and not stages:
        return None
    kinds = (each[SCENE_TEXTURES] for each in rungs if SCENE_TEXTURES in each)
    textures = {kind: _place(folder, file) for kind, file in next(kinds, {}).items()}
    noted = _bundle(folder, bundle) if bundle else _place(folder, stages[0])
    return BakedResult(noted, textures)


def _stages(report: Mapping[str, Any]) -> list[str]:
    return [str(each) for each in report.get("models", ()) if str(each).endswith(".usdc")]


def describe_switch(entry: Mapping[str, Any]) -> str:
    """Where a rung of a report suffices, for people."""
    pixels = entry.get("switch_pixels")
    if not pixels:
        return "nowhere"
    largest = max(map(int, entry.get("flip_by_screen_size", ())), default=None)
    return "at all sizes" if pixels == largest else f"below {pixels} px"
