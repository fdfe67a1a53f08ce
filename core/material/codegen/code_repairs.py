"""Repairs to generated code that MaterialX 1.39.5 offers no extension point for, one function each.

Each says what is wrong upstream. When upstream mends the fault, a test of it fails and tells.
"""

from __future__ import annotations

import re

from verdigris.core.base.errors import DocumentError

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
_DECODED_IMAGE = re.compile(
    r"(?P<call>(?P<indent> *)mx_image_color[34]\((?P<arguments>[^\n]*, (?P<raw>\w+))\);\n)"
    r"(?P<transform> *float[34] (?P<result>\w+)[^\n]*;\n"
    r" *NG_\w+_to_\w+_color[34]\((?P=raw), (?P=result)\);\n)"
)
_IS_ZERO = re.compile(r"float[34]\((0\.0+(, )?)+\)")
_FIRST_COLUMN = "float4 col0 = float4({0}[0][0], {0}[1][0], {0}[2][0], {0}[3][0]);"
_HAIR_PATHS = "(1.0 / 2.0 * M_PI)"
_HAIR_RESPONSE = "bsdf.response = F * closureData.occlusion"
_OPACITY = re.compile(r"(float surfaceOpacity = )([^;]+);")
# Of what the generator declares for lit surfaces alone, what some nodes name: how it declares it.
_FOR_LIT_SURFACES = {
    "M_PI": ("#define M_PI ", "#define M_PI 3.1415926535897932"),
    "mx_environment_radiance": (
        "float3 mx_environment_radiance(",
        "float3 mx_environment_radiance(float3 N, float3 V, float3 X, float2 alpha, "
        "int distribution, FresnelData fd) { return float3(0.0); }",
    ),
}
_IDENTITY = "float4x4(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)"
# A sample stands in the world as it is, at the first frame.
_VALUES = {
    "u_alphaThreshold": "-1.0",
    "u_numActiveLightSources": "1",
    "u_frame": "1.0",
    "u_time": "0.0",
    "u_geomprop": "0",
}


def lift_private_uniforms(code: str) -> str:
    """Takes what differs from sample to sample out of the constant buffer.

    The generator declares the view position and the lights as uniforms, one value a draw call, and
    has no option to leave their declaration to the application. The view position becomes a static
    that each thread sets; the rest become constants.
    """
    block = _PRIVATE_BLOCK.search(code)
    if block is None:
        raise DocumentError(
            "the generated shader has no surface that a light could fall on: "
            "connect a surface shader to the material"
        )
    declared = [_static(kind, name) for kind, name in _UNIFORM.findall(block.group(1))]
    if "u_viewPosition;" not in block.group(1):
        # an unlit surface does not look at the viewer
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
    """Declares what the code of flakes and of hair's colours names, also where nothing is lit.

    The generator writes pi and a function of the environment with the code of a light, and without
    them an unlit surface of that colour does not compile.
    """
    missing = [
        declared
        for name, (start, declared) in _FOR_LIT_SURFACES.items()
        if name in code and start not in code
    ]
    return "\n".join([*missing, code])


def rename_mix_variables(code: str) -> str:
    """Gives variables called `mix` their name back.

    The generator turns GLSL's functions into Slang's by name, and `mix` into `lerp` also where it
    is an input (overlay and LamaMix have one): there it hides the function, or is not found.
    """
    return _MIX_VARIABLE.sub("mix", code)


def drop_unlit_passes(code: str) -> str:
    """Takes out copies of the closures' code: a sample has no surroundings.

    The generator writes the whole tree of closures for the light, again for an environment and, of
    closures that transmit, again for what lies behind them, also where its options leave both out:
    then they add nothing, and take most of the time that compilers need.
    """
    return _TRANSMISSION.sub("\n", _ENVIRONMENT.sub("\n", code))


def limit_opacity(code: str) -> str:
    """Keeps the opacity of surfaces from 0 to 1.

    The generator multiplies what a surface reflects and gives off by its opacity as it is: one of
    2, out of a texture or a noise, returns twice the light.
    """
    return _OPACITY.sub(r"\1saturate(\2);", code)


def make_holes_of_no_opacity(code: str) -> str:
    """Gives what has no opacity no coverage.

    The generator's mean of a surface's transparency is .9999 of it, which leaves a hole .0001.
    """
    return code.replace(_ALMOST_A_THIRD, "float3(1.0 / 3.0)")


def keep_defaults_of_images(code: str) -> str:
    """What an image gives where it has no texels is in a colour space of its own, and linear by
    then.

    The generator decodes what an image node gives by the file's colour space, whatever it is.
    """

    def with_default(found: re.Match[str]) -> str:
        call, transform, result = found["call"], found["transform"], found["result"]
        arguments = _split_arguments(found["arguments"])
        image, _, default, uv, u_mode, v_mode, *_, scale, offset, _ = arguments
        if _IS_ZERO.fullmatch(default):
            return found[0]
        place = f"{uv} * {scale} + {offset}"
        where = f"readsFallback({image}, {place}, {u_mode}, {v_mode})"
        return f"{call}{transform}{found['indent']}if ({where}) {result} = {default};\n"

    return _DECODED_IMAGE.sub(with_default, code)


def divide_inverses_by_determinants(code: str) -> str:
    """Makes the inverse of a 4 x 4 matrix one.

    MaterialX divides the adjugate by its own first row times its own first column, where the
    determinant is that row times the first column of what is inverted.
    """
    return code.replace(_FIRST_COLUMN.format("inverse"), _FIRST_COLUMN.format("m"))


def normalise_hair(code: str) -> str:
    """Makes white hair return what it receives, as Chiang's model does.

    MaterialX divides by pi a sum of densities that need no further factor, and gives the light of
    more than two reflections inside pi / 2 for the share of each angle, where it is 1 / (2 pi).
    """
    code = code.replace(_HAIR_PATHS, "(1.0 / (2.0 * M_PI))")
    return code.replace(f"{_HAIR_RESPONSE} * M_PI_INV;", f"{_HAIR_RESPONSE};")


def _split_arguments(text: str) -> list[str]:
    """Those of a call, whose commas stand outside of brackets."""
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
        "remove the node that asks for it"
    )
