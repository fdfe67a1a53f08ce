"""Repairs of generated code for which MaterialX 1.39.5 has no extension point.

`REPAIRS` lists them in the order in which they are applied. Each has a test that fails once
MaterialX no longer needs the repair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from verdigris.core.base.errors import DocumentError

# The entry point that the generator writes.
ENTRY = "fragmentMain"
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"^[A-Za-z_][\w<>, ]* (?P<name>\w+)\([^;{}]*\)\s*\{", re.MULTILINE)
_BRACE = re.compile(r"[{}]")
_WORD = re.compile(r"[A-Za-z_]\w*")
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

    The view position becomes a static variable that each thread sets. The others become constants.
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
    """Declares pi and the environment function if code for flakes or hair uses them."""
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
    """Limits opacity to the range from 0 to 1."""
    return _OPACITY.sub(r"\1saturate(\2);", code)


def make_zero_opacity_a_hole(code: str) -> str:
    """Makes the mean of three channels exact."""
    return code.replace(_ALMOST_A_THIRD, "float3(1.0 / 3.0)")


def keep_image_defaults(code: str) -> str:
    """Returns the default of an image node without decoding it. Between the call of the image and
    the call that decodes it, other nodes may be called."""
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
    """Removes a factor from Chiang's hair model, and corrects another."""
    code = code.replace(_HAIR_PATHS, "(1.0 / (2.0 * M_PI))")
    return code.replace(f"{_HAIR_RESPONSE} * M_PI_INV;", f"{_HAIR_RESPONSE};")


def drop_unused_functions(code: str, entry: str = ENTRY) -> str:
    """The code without functions that are neither named outside of functions nor called by `entry`,
    directly or not. Code that cannot be split into functions is returned unchanged."""
    bare = _COMMENTS.sub(_blank, code)
    functions = _find_functions(bare)
    bodies: dict[str, set[str]] = {}
    for function in functions:
        body = bare[function.start : function.end]
        bodies.setdefault(function.name, set()).update(_WORD.findall(body))
    waiting = {entry, *_WORD.findall(_without(bare, functions))} & bodies.keys()
    called: set[str] = set()
    while waiting:
        name = waiting.pop()
        called.add(name)
        waiting |= bodies[name] & bodies.keys() - called
    return _without(code, [each for each in functions if each.name not in called])


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
        f"the generated shader reads {name!r}, which a sample of a material does not have: remove "
        "the node that reads it"
    )


class _Function(NamedTuple):
    start: int
    end: int
    name: str


def _find_functions(bare: str) -> list[_Function]:
    """The functions at top level; none if braces do not match or functions are nested."""
    heads = {head.end() - 1: head for head in _HEAD.finditer(bare)}
    found: list[_Function] = []
    depth, current = 0, None
    for brace in _BRACE.finditer(bare):
        head = heads.get(brace.start())
        if head and current:
            return []
        if depth == 0:
            current = head
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return []
        if depth == 0 and current:
            found.append(_Function(current.start(), brace.end(), current["name"]))
            current = None
    return [] if depth else found


def _without(code: str, functions: Iterable[_Function]) -> str:
    parts, end = [], 0
    for function in functions:
        parts.append(code[end : function.start])
        end = function.end
    return "".join([*parts, code[end:]])


def _blank(comment: re.Match[str]) -> str:
    """Spaces instead of a comment, in as many lines."""
    return "\n".join(" " * len(line) for line in comment[0].split("\n"))


class Repair(NamedTuple):
    """One change of generated code."""

    why: str
    upstream: str | None
    """The issue or pull request of MaterialX that makes the repair unnecessary."""

    apply: Callable[[str], str]


_MATERIALX = "https://github.com/AcademySoftwareFoundation/MaterialX"
REPAIRS = (
    Repair(
        "View position and lights are uniforms, with one value per draw call; each sample needs "
        "its own.",
        None,
        lift_private_uniforms,
    ),
    Repair(
        "GLSL's `mix` also becomes `lerp` where it is the name of an input, which then hides the "
        "function.",
        f"{_MATERIALX}/pull/2966",
        rename_mix_variables,
    ),
    Repair(
        "All closures are written again for environment and transmission, even if both are off. "
        "That adds nothing to the result, and takes most of the compile time.",
        None,
        drop_unused_passes,
    ),
    Repair(
        "Reflection is multiplied by the opacity: with an opacity of 2 it has twice the light.",
        None,
        limit_opacity,
    ),
    Repair(
        "The mean transparency is multiplied by .9999, so that a hole has an opacity of .0001.",
        None,
        make_zero_opacity_a_hole,
    ),
    Repair(
        "The inverse of a 4 x 4 matrix computes the determinant from the adjugate alone.",
        None,
        correct_matrix_inverse,
    ),
    Repair(
        "Chiang's hair is divided by pi once too often, and light after more than two reflections "
        "inside the hair is weighted with pi / 2 instead of 1 / (2 pi).",
        f"{_MATERIALX}/pull/3018",
        normalise_hair,
    ),
    Repair(
        "The default of an image node is decoded from the colour space of the file.",
        None,
        keep_image_defaults,
    ),
    # after the unused passes are removed, which name the function of the environment
    Repair(
        "Pi and the environment function are only declared for lit surfaces: unlit flakes and hair "
        "colours do not compile.",
        None,
        declare_for_unlit_surfaces,
    ),
    # last, because the other repairs change what is called
    Repair(
        "Whole files of MaterialX's library are written, of which a material calls a part. Each "
        "kernel would compile all of them.",
        None,
        drop_unused_functions,
    ),
)


def repair(code: str) -> str:
    """The generated code with all repairs."""
    for each in REPAIRS:
        code = each.apply(code)
    return code
