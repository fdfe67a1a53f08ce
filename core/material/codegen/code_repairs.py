"""Repairs of generated code for which MaterialX 1.39.5 has no extension point.

`REPAIRS` lists them in the order in which they are applied. Each has a test that fails once
MaterialX no longer needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.codegen.unused_functions import drop_unused_functions

_PRIVATE_BLOCK = re.compile(
    r"    // Uniform block: PrivateUniforms\n((?:    uniform [^\n]+\n)*)\n?"
)
_UNIFORM = re.compile(r"    uniform (\w+) (\w+);")
_LIGHTS = re.compile(r"\n?    uniform LightData u_lightData\[MAX_LIGHT_SOURCES\];\n")
_MIX_VARIABLE = re.compile(r"\blerp\b(?!\s*\()")
_ENVIRONMENT = re.compile(r"\n( *)// Add environment contribution\n\1\{\n.*?\n\1\}\n", re.DOTALL)
_TRANSMISSION = re.compile(
    r"\n( *)// Calculate the BSDF transmission for viewing direction\n.*?"
    r"\n\1\w+\.color \+= \w+\.response;\n",
    re.DOTALL,
)
_ALMOST_A_THIRD = "float3(0.3333)"
_IMAGE_CALL = re.compile(r" *mx_image_color[34]\((?P<arguments>[^\n]*, (?P<raw>\w+))\);\n")
_DECODING = re.compile(r"(?P<indent> *)NG_\w+_to_\w+_color[34]\((?P<raw>\w+), (?P<result>\w+)\);\n")
_IS_ZERO = re.compile(r"float[34]\((0\.0+(, )?)+\)")
_FIRST_COLUMN = "float4 col0 = float4({0}[0][0], {0}[1][0], {0}[2][0], {0}[3][0]);"
_HAIR_PATHS = "(1.0 / 2.0 * M_PI)"
_HAIR_RESPONSE = "bsdf.response = F * closureData.occlusion"
_OPACITY = re.compile(r"(float surfaceOpacity = )([^;]+);")
# Used by some nodes, declared by the generator for lit surfaces only: name -> start of the
# declaration, declaration.
_FOR_LIT_SURFACES = {
    "M_PI": ("#define M_PI ", "#define M_PI 3.1415926535897932"),
    "mx_environment_radiance": (
        "float3 mx_environment_radiance(",
        "float3 mx_environment_radiance(float3 N, float3 V, float3 X, float2 alpha, "
        "int distribution, FresnelData fd) { return float3(0.0); }",
    ),
}
_IDENTITY = "float4x4(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)"
# Values of uniforms for a sample: identity transform, first frame.
_VALUES = {
    "u_alphaThreshold": "-1.0",
    "u_numActiveLightSources": "1",
    "u_frame": "1.0",
    "u_time": "0.0",
    "u_geomprop": "0",
}


def lift_private_uniforms(code: str) -> str:
    """Moves values that differ between samples out of the constant buffer.

    The view position becomes a static variable that each thread sets, the others become constants.
    """
    block = _PRIVATE_BLOCK.search(code)
    if block is None:
        raise DocumentError(
            "the generated shader has no surface that a light could fall on: "
            "connect a surface shader to the material"
        )
    declared = [_static(kind, name) for kind, name in _UNIFORM.findall(block.group(1))]
    if "u_viewPosition;" not in block.group(1):
        # the generator declares none for an unlit surface
        declared.append(_static("float3", "u_viewPosition"))
    if _LIGHTS.search(code):
        declared.append(
            "static const LightData u_lightData[1] = { { 1, float3(0.0), float3(1.0), 1.0 } };"
        )
    code = code[: block.start()] + code[block.end() :]
    code = _LIGHTS.sub("\n", code)
    start = code.index("cbuffer pixelCB")
    return code[:start] + "\n".join(declared) + "\n\n" + code[start:]


def declare_for_unlit_surfaces(code: str) -> str:
    """Declares pi and the environment function where code of flakes or hair uses them."""
    missing = [
        declared
        for name, (start, declared) in _FOR_LIT_SURFACES.items()
        if name in code and start not in code
    ]
    return "\n".join([*missing, code])


def rename_mix_variables(code: str) -> str:
    """Renames variables `lerp` back to `mix`; overlay and LamaMix have such an input."""
    return _MIX_VARIABLE.sub("mix", code)


def drop_unused_passes(code: str) -> str:
    """Removes the passes for the environment and for transmission."""
    return _TRANSMISSION.sub("\n", _ENVIRONMENT.sub("\n", code))


def limit_opacity(code: str) -> str:
    """Limits opacity to 0 to 1."""
    return _OPACITY.sub(r"\1saturate(\2);", code)


def make_zero_opacity_a_hole(code: str) -> str:
    """Makes the mean of three channels exact."""
    return code.replace(_ALMOST_A_THIRD, "float3(1.0 / 3.0)")


def keep_image_defaults(code: str) -> str:
    """Returns the default of an image node without decoding it. Calls of other nodes may lie
    between that of the image and that which decodes it."""
    if "mx_image_color" not in code:
        return code
    lines: list[str] = []
    images: dict[str, str] = {}
    for line in code.splitlines(keepends=True):
        lines.append(line)
        if line.startswith("}"):
            images.clear()
        elif found := _IMAGE_CALL.fullmatch(line):
            images[found["raw"]] = found["arguments"]
        elif (found := _DECODING.fullmatch(line)) and found["raw"] in images:
            arguments = _split_arguments(images[found["raw"]])
            image, _, default, uv, u_mode, v_mode, *_, scale, offset, _ = arguments
            if not _IS_ZERO.fullmatch(default):
                place = f"{uv} * {scale} + {offset}"
                where = f"readsFallback({image}, {place}, {u_mode}, {v_mode})"
                lines.append(f"{found['indent']}if ({where}) {found['result']} = {default};\n")
    return "".join(lines)


def correct_matrix_inverse(code: str) -> str:
    """Computes the determinant of a 4 x 4 inverse from the original matrix."""
    return code.replace(_FIRST_COLUMN.format("inverse"), _FIRST_COLUMN.format("m"))


def normalise_hair(code: str) -> str:
    """Removes a factor of Chiang's hair model, and corrects another."""
    code = code.replace(_HAIR_PATHS, "(1.0 / (2.0 * M_PI))")
    return code.replace(f"{_HAIR_RESPONSE} * M_PI_INV;", f"{_HAIR_RESPONSE};")


def _split_arguments(text: str) -> list[str]:
    """The arguments of a call, split at commas outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found]


def _static(kind: str, name: str) -> str:
    if name == "u_viewPosition":
        return f"static {kind} {name};"
    if name.endswith("Matrix") and kind == "float4x4":
        return f"static const {kind} {name} = {_IDENTITY};"
    if name in _VALUES:
        return f"static const {kind} {name} = {_VALUES[name]};"
    raise DocumentError(
        f"the generated shader reads {name!r}, which a material sample does not have: "
        "remove the node that reads it"
    )


class Repair(NamedTuple):
    """One change of generated code."""

    why: str
    upstream: str | None
    """The issue or pull request of MaterialX that makes the repair unnecessary."""

    apply: Callable[[str], str]


_MATERIALX = "https://github.com/AcademySoftwareFoundation/MaterialX"
REPAIRS = (
    Repair(
        "View position and lights are uniforms, one value per draw call; a sample has its own.",
        None,
        lift_private_uniforms,
    ),
    Repair(
        "GLSL's `mix` becomes `lerp` also where it is the name of an input: it hides the function.",
        f"{_MATERIALX}/pull/2966",
        rename_mix_variables,
    ),
    Repair(
        "All closures are written again for environment and transmission, also with both off. That "
        "adds nothing to the result, and takes most of the compile time.",
        None,
        drop_unused_passes,
    ),
    Repair(
        "Reflection is multiplied by the opacity: an opacity of 2 returns twice the light.",
        None,
        limit_opacity,
    ),
    Repair(
        "The mean transparency is multiplied by .9999, so that a hole has an opacity of .0001.",
        None,
        make_zero_opacity_a_hole,
    ),
    Repair(
        "The inverse of a 4 x 4 matrix takes the determinant from the adjugate alone.",
        None,
        correct_matrix_inverse,
    ),
    Repair(
        "Chiang's hair is divided by pi once too often, and light of more than two reflections "
        "inside the hair is weighted pi / 2 instead of 1 / (2 pi).",
        f"{_MATERIALX}/pull/3018",
        normalise_hair,
    ),
    Repair(
        "The default of an image node is decoded from the colour space of the file.",
        None,
        keep_image_defaults,
    ),
    # after the unused passes are gone, since they name the function of the environment
    Repair(
        "Pi and the environment function are declared for lit surfaces only: unlit flakes and hair "
        "colours do not compile.",
        None,
        declare_for_unlit_surfaces,
    ),
    # last, since the repairs before it change what is called
    Repair(
        "Whole library files are written, of which a material calls a part.",
        None,
        drop_unused_functions,
    ),
)


def repair(code: str) -> str:
    """The code with all repairs."""
    for each in REPAIRS:
        code = each.apply(code)
    return code
