"""A shader file as a MaterialX document: its parameters are inputs of a surface that the file
implements. So live inputs, images, colour spaces, digests and reports work as for any document.

A JSON file beside the shader (`skin.json` for `skin.slang`) may hold what attributes also say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.json_fields import Fields, read_json_file
from verdigris.core.material.evaluator import KERNEL_VARIABLES
from verdigris.core.material.shader.compile_process import COMPILE_PROCESS
from verdigris.core.material.shader.declarations import Declaration, Declarations, read_declarations
from verdigris.core.material.shader.document_text import (
    PLACES,
    ROLES,
    Parameter,
    ShaderFile,
    document_text,
)
from verdigris.core.material.shader.expand import ShaderText, expand_shader
from verdigris.core.material.shader.from_hlsl import blanked
from verdigris.core.material.shader.reached_code import names_behind, without_unused

if TYPE_CHECKING:
    from verdigris.core.material.files.paths import SearchPath

_INDICES = 1.1, 4.0
_LARGEST_JSON = 1 << 20
_TABLE = "StructuredBuffer<float>"
_KINDS = {
    "float": "float",
    "half": "float",
    "int": "integer",
    "uint": "integer",
    "bool": "boolean",
    "texture": "filename",
    _TABLE: "string",
}
_VECTOR_TYPE = re.compile(r"(float|half)([234])")
_COUNTS = {"vector2": 2, "color3": 3, "vector3": 3, "color4": 4, "vector4": 4}
_ZERO = {"float": "0", "integer": "0", "boolean": "false"}
_OF_FILES = ("filename", "string")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_CONSTRUCTOR = re.compile(
    r"(?:(?:float|half|double|int|uint|min16float)[1-4]?|[A-Za-z]*\s*vector<[^>]*>)?\s*"
    r"[({]?\s*(?P<numbers>[-+\d.eE,\s]*?[\d.])[fFhHuUlL]?\s*[)}]?"
)
_RESOURCE = re.compile(r"Texture|Buffer|Sampler|Acceleration|texture|sampler")
_OF_PARAMETERS = ("value", "range", "label", "file", "colour_space", "kind")
# What each function takes and returns, as messages show it.
SIGNATURES = {
    "response": "float3 response(float2 uv, float3 wi, float3 wo)",
    "emission": "float3 emission(float2 uv)",
    "opacity": "float opacity(float2 uv)",
    "height": "float height(float2 uv)",
}
_SHAPES = {
    "response": ("vector3", ("vector2", "vector3", "vector3")),
    "emission": ("vector3", ("vector2",)),
    "opacity": ("float", ("vector2",)),
    "height": ("float", ("vector2",)),
}
_VECTOR = re.compile(r"vector<(?:float|half|double),\s*(\d)>")


def read_shader_document(
    path: Path, search: SearchPath, defines: Mapping[str, str] | None = None
) -> str:
    """A shader file as the text of a MaterialX document."""
    return document_text(path.stem, path.name, read_shader_file(path, search, defines))


def read_shader_file(
    path: Path,
    search: SearchPath,
    defines: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> ShaderFile:
    """A shader file with what it declares, and with other `values` of its parameters."""
    settings = _settings(path)
    known = settings.table("defines").values if "defines" in settings else {}
    all_defines = {
        **{str(name): _define(value) for name, value in known.items()},
        **(defines or {}),
    }
    text = expand_shader(path, search, all_defines)
    declarations = read_declarations(text.text)
    functions = _functions(settings, declarations)
    answer, is_trimmed = _compiled(text, declarations, functions)
    found = _check_functions(text.name, functions, answer)
    named = settings.table("parameters") if "parameters" in settings else None
    settable, left_out, zero = _sort_out(text, answer["parameters"], found)
    places = _places(text.name, settable, declarations)
    parameters = [
        _parameter(text.name, each, declarations, named, all_defines)
        for each in settable
        if each["block"] or each["name"] not in places.values()
    ]
    given = values or {}
    parameters = [replace(each, value=given.get(each.name, each.value)) for each in parameters]
    samplers = [each["name"] for each in answer["parameters"] if each["type"] == "sampler"]
    if named is not None:
        named.require_known([each["name"] for each in answer["parameters"]])
    return ShaderFile(
        text,
        declarations,
        found,
        tuple(parameters),
        tuple(samplers),
        all_defines,
        _transmission(text.name, settings, declarations),
        tuple(left_out),
        places,
        tuple(zero),
        is_trimmed,
    )


def _compiled(
    text: ShaderText, declarations: Declarations, functions: Mapping[str, str]
) -> tuple[dict[str, Any], bool]:
    """What the compiler knows of a shader, and whether that is of the shader without what it does
    not use of an engine: code that is not Slang, or arrays of resources without a size."""
    roles = tuple(functions.items())
    module = f"studio_{text.digest}"
    try:
        code = declarations.rewritten(())
        found = _reflect(text.name, (*text.modules, (module, code)), roles)
        if not any(each["type"].endswith("[]") for each in found["parameters"]):
            return found, False
    except DocumentError as failure:
        if "does not compile: " not in str(failure) or len(text.files) < 2:
            raise
    code = read_declarations(without_unused(text.text, functions.values())).rewritten(())
    return _reflect(text.name, (*text.modules, (module, code)), roles), True


@lru_cache(maxsize=32)
def _reflect(
    shown: str, modules: tuple[tuple[str, str], ...], functions: tuple[tuple[str, str], ...]
) -> dict[str, Any]:
    """What the compiler knows of the last module. A panel reads the same file many times."""
    question = {"name": shown, "modules": modules, "functions": dict(functions)}
    return COMPILE_PROCESS.ask({"ask": "reflect", **question}, shown)


def _sort_out(
    text: ShaderText, parameters: Sequence[Mapping[str, str]], functions: Mapping[str, str]
) -> tuple[list[Mapping[str, str]], list[str], list[str]]:
    """The parameters that can be set, those that are not used, and constants of an engine that are
    used and cannot be set, in words. Refuses others that cannot be set."""
    settable, left_out, zero = [], [], []
    own = blanked(text.own)
    used = names_behind(text.text, functions.values())
    for each in parameters:
        name, kind = each["name"], _plain(each["type"])
        if kind == "sampler":
            continue
        if name not in used:
            left_out.append(f"{name}: {kind}")
        elif kind in _KINDS or _VECTOR_TYPE.fullmatch(kind):
            settable.append(each)
        elif _is_constant(kind) and not re.search(rf"\b{name}\b", own):
            zero.append(f"{name}: {kind}")
        else:
            raise DocumentError(
                f"{text.name}: parameter {name!r} has the type {kind}: use float, float2, float3, "
                "float4, int, uint, bool, Texture2D or SamplerState, or make it static"
            )
    return settable, left_out, zero


def _places(
    shown: str, settable: Sequence[Mapping[str, str]], declarations: Declarations
) -> dict[str, str]:
    """The variables that each place sets, by their attribute."""
    found = {}
    for each in settable:
        name, block = each["name"], each["block"]
        declared = declarations.find(name, block)
        for role in PLACES:
            if declared is not None and role in declared.attributes:
                wanted = "float2" if role == "Footprint" else "float3"
                if block or _plain(each["type"]) != wanted:
                    raise DocumentError(
                        f"{shown}: {name!r} is marked as [Verdigris{role}]: declare it as a "
                        f"{wanted}, outside of constant buffers"
                    )
                found[role] = name
    return found


def _is_constant(kind: str) -> bool:
    """Whether a type has numbers only: a matrix, an array or a structure."""
    return kind.startswith("ConstantBuffer<") or not _RESOURCE.search(kind)


def _transmission(shown: str, settings: Fields, declarations: Declarations) -> str:
    """The index of the solid below, 1 for a thin wall; empty if no light passes."""
    given = declarations.transmission
    index = 0.0
    if "transmission" in settings:
        index = settings.number("transmission")
    elif given is not None:
        numbers = _NUMBER.findall(given)
        index = 1.0 if not given else float(numbers[0]) if len(numbers) == 1 else -1.0
    if index and index != 1 and not _INDICES[0] <= index <= _INDICES[1]:
        raise DocumentError(
            f"{shown}: the index of the solid below is {given or index}: use 1 for a thin wall, or "
            f"a number from {_INDICES[0]} to {_INDICES[1]}"
        )
    return f"{index:g}" if index else ""


def _settings(path: Path) -> Fields:
    beside = path.with_suffix(".json")
    values: Any = {}
    if beside.is_file():
        values = read_json_file(beside, DocumentError, _LARGEST_JSON)
    if not isinstance(values, dict):
        raise DocumentError(f"{beside}: must be an object")
    found = Fields(str(beside), "", values, DocumentError)
    found.require_known(("parameters", "functions", "defines", "transmission"))
    return found


def _define(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _functions(settings: Fields, declarations: Declarations) -> dict[str, str]:
    """The names to look for, by role."""
    found = {each: each for each in ROLES}
    found.update({role.lower(): name for role, name in declarations.functions.items()})
    if "functions" in settings:
        table = settings.table("functions")
        table.require_known(ROLES)
        found.update({role: table.text(role) for role in table.values})
    return found


def _check_functions(
    shown: str, wanted: Mapping[str, str], answer: Mapping[str, Any]
) -> dict[str, str]:
    """The functions that exist, by role. Refuses wrong signatures, and shaders without response."""
    found = {}
    for role, name in wanted.items():
        signatures = answer["functions"].get(role, [])
        if not signatures:
            if role == "response":
                known = ", ".join(answer["known"][:12])
                listed = f"; its functions are {known}" if known else ""
                raise DocumentError(
                    f"{shown}: has no function {name!r}{listed}: write {SIGNATURES[role]}, or mark "
                    "another function with the attribute [VerdigrisResponse]"
                )
            if name != role:
                raise DocumentError(f"{shown}: has no function {name!r}, which is named as {role}")
            continue
        if not any(_fits(role, each) for each in signatures):
            has = signatures[0]
            raise DocumentError(
                f"{shown}: function {name!r} is {_plain(has['returns'])} {name}("
                f"{', '.join(map(_plain, has['parameters']))}): write {SIGNATURES[role]}"
            )
        found[role] = name
    return found


def _fits(role: str, signature: Mapping[str, Any]) -> bool:
    returned, taken = _SHAPES[role]
    return (
        _shape(signature["returns"]) == returned
        and tuple(map(_shape, signature["parameters"])) == taken
    )


def _shape(kind: str) -> str:
    found = _VECTOR.fullmatch(kind)
    if found:
        return f"vector{found[1]}"
    return "float" if kind in ("float", "half", "double") else kind


def _plain(kind: str) -> str:
    kind = kind.replace(", DefaultDataLayout", "")
    kind = re.sub(r"matrix<(\w+),\s*(\d),\s*(\d)>", r"\1\2x\3", kind)
    return re.sub(r"vector<(\w+),\s*(\d)>", r"\1\2", kind)


def _parameter(
    shown: str,
    reflected: Mapping[str, str],
    declarations: Declarations,
    named: Fields | None,
    defines: Mapping[str, str],
) -> Parameter:
    name, block = reflected["name"], reflected["block"]
    if (block or name) in KERNEL_VARIABLES:
        raise DocumentError(
            f"{shown}: {block or name!r} is also a variable of the kernels: rename it"
        )
    declared = declarations.find(name, block) or Declaration(name, reflected["type"])
    given = {
        key: declared.attributes[attribute]
        for key, attribute in (
            ("value", "Value"),
            ("range", "Range"),
            ("label", "Label"),
            ("file", "File"),
            ("colour_space", "ColourSpace"),
        )
        if attribute in declared.attributes
    }
    asker = f"{shown}: parameter {name!r}"
    settings = named.table(name) if named is not None and name in named else None
    if settings is not None:
        settings.require_known(_OF_PARAMETERS)
        given |= {key: _as_text(value) for key, value in settings.values.items()}
    kind = _kind(reflected["type"], given, declared)
    text = given.get("file" if kind in _OF_FILES else "value")
    if text is None and kind not in _OF_FILES:
        text = defines.get(declared.value or "", declared.value)
    value = _value(asker, kind, text)
    low = high = ""
    if "range" in given:
        ends = _NUMBER.findall(given["range"])
        if len(ends) != 2 or float(ends[0]) >= float(ends[1]):
            raise DocumentError(
                f"{asker}: the range {given['range']!r} is not two rising numbers, as in 0, 1"
            )
        low, high = ends
    return Parameter(
        name, kind, value, block, low, high,
        given.get("label", "").strip('" '),
        given.get("colour_space", "").strip('" '),
        kind == "string",
    )  # fmt: skip


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _kind(reflected: str, given: Mapping[str, str], declared: Declaration) -> str:
    """The MaterialX type. Three numbers are a colour unless an attribute says otherwise."""
    found = _VECTOR_TYPE.fullmatch(reflected)
    if found:
        wanted = given.get("kind") or ("vector" if "Vector" in declared.attributes else "")
        is_colour = found[2] == "3" or "colour_space" in given or "Colour" in declared.attributes
        is_colour = is_colour and found[2] != "2" and wanted != "vector"
        return f"{'color' if is_colour else 'vector'}{found[2]}"
    return _KINDS[_plain(reflected)]


def _value(asker: str, kind: str, text: str | None) -> str:
    if kind in _OF_FILES:
        return (text or "").strip('" ')
    count = _COUNTS.get(kind, 1)
    if text is None:
        return ", ".join([_ZERO.get(kind, "0")] * count)
    plain = text.strip()
    if kind == "boolean":
        if plain.lower() not in ("true", "false", "0", "1"):
            raise DocumentError(f"{asker}: the value {plain!r} is not true or false")
        return "true" if plain.lower() in ("true", "1") else "false"
    found = _CONSTRUCTOR.fullmatch(plain)
    numbers = _NUMBER.findall(found["numbers"]) if found else []
    if len(numbers) == 1:
        numbers = numbers * count
    if len(numbers) != count:
        wanted = "one number" if count == 1 else f"{count} numbers"
        raise DocumentError(
            f"{asker}: the value {plain!r} is not {wanted}: write them out, or name them in "
            "[VerdigrisValue(...)]"
        )
    return numbers[0].partition(".")[0] if kind == "integer" else ", ".join(numbers)
