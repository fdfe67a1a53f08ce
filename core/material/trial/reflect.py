"""What a shader's module declares, by the compiler's reflection, and its errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.material.shader.compiler_errors import compile_error

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.device import Device

_FUNCTION = re.compile(
    r"^[ \t]*(?:[\w:<>,\[\]]+[ \t]+){1,8}(\w+)[ \t]*\([^;{}]{0,2000}\)\s*\{", re.MULTILINE
)


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
