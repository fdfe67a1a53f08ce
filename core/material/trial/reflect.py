"""What a shader's module declares, by the compiler's reflection, and its errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.device import Device

_MOST_SHOWN = 8
_ERROR = re.compile(
    r"^(?:fatal )?error\[?[^\]:\n]*\]?: (?P<what>[^\n]*)\n"
    r"\s*--> (?P<file>[^\n]*?):(?P<line>\d+):\d+\n"
    r"(?P<shown>(?:[ \t]*(?:\d+ )?\|[^\n]*\n?)*)",
    re.MULTILINE,
)
_CODE = re.compile(r"^\s*\d+ \| (.*)$", re.MULTILINE)
_POINTED = re.compile(r"^\s*\|\s*\^+ ?(.*)$", re.MULTILINE)
_FUNCTION = re.compile(r"^[ \t]*(?:[\w:<>,\[\]]+[ \t]+)+(\w+)[ \t]*\([^;{}]*\)\s*\{", re.MULTILINE)


def reflect(
    device: Device, name: str, modules: Sequence[tuple[str, str]], functions: Mapping[str, str]
) -> dict[str, Any]:
    """Parameters and functions of the last module."""
    import slangpy

    session = device.gpu.create_slang_session(compiler_options=dict(device.compiler_options))
    try:
        for module_name, text in modules:
            module = session.load_module_from_source(module_name, text)
    except (RuntimeError, slangpy.SlangCompileError) as failure:
        raise compile_error(name, str(failure)) from None
    layout = module.layout
    known = dict.fromkeys(_FUNCTION.findall(modules[-1][1]))
    return {
        "parameters": list(_parameters(layout.parameters)),
        "functions": {
            role: _signatures(layout.find_function_by_name(each))
            for role, each in functions.items()
        },
        "known": [each for each in known if each not in ("if", "for", "while", "switch")],
    }


def compile_error(name: str, text: str) -> DocumentError:
    """All errors of the compiler's output with file, line and code."""
    found = list(dict.fromkeys(_errors(text)))
    if not found:
        lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
        found = [lines[0] if lines else text.strip()[:200]]
    more = len(found) - _MOST_SHOWN
    shown = "; ".join(found[:_MOST_SHOWN]) + (f"; and {more} more errors" if more > 0 else "")
    return DocumentError(f"{name} does not compile: {shown}")


def _errors(text: str) -> Iterator[str]:
    for each in _ERROR.finditer(text):
        code, pointed = _CODE.search(each["shown"]), _POINTED.search(each["shown"])
        what = (pointed[1] if pointed and pointed[1].strip() else each["what"]).strip().rstrip(".")
        where = f"{each['file']}({each['line']})"
        yield f"{where}: {what}" + (f", in {code[1].strip()!r}" if code else "")


def _parameters(layouts: Sequence[slangpy.VariableLayoutReflection]) -> Iterator[dict[str, str]]:
    import slangpy

    for each in layouts:
        kind = each.type_layout.type.kind
        if kind == slangpy.TypeReflection.Kind.constant_buffer:
            for inner in each.type_layout.element_type_layout.fields:
                type_name = _type(inner.type_layout.type)
                yield {"name": inner.name, "block": each.name, "type": type_name}
        else:
            yield {"name": each.name, "block": "", "type": _type(each.type_layout.type)}


def _type(kind: slangpy.TypeReflection) -> str:
    import slangpy

    kinds = slangpy.TypeReflection.Kind
    if kind.kind == kinds.sampler_state:
        return "sampler" if kind.full_name == "SamplerState" else str(kind.full_name)
    is_image = kind.resource_shape == slangpy.TypeReflection.ResourceShape.texture_2d
    if kind.kind == kinds.resource and is_image and kind.full_name.startswith("Texture2D"):
        return "texture"
    if kind.kind == kinds.vector:
        return re.sub(r"vector<(\w+),\s*(\d)>", r"\1\2", kind.full_name)
    return str(kind.full_name)


def _signatures(function: slangpy.FunctionReflection | None) -> list[dict[str, Any]]:
    if function is None:
        return []
    found = list(function.overloads) if function.is_overloaded else [function]
    return [
        {
            "returns": each.return_type.full_name,
            "parameters": [one.type.full_name for one in each.parameters],
        }
        for each in found
    ]
