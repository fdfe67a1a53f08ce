"""The effects for Maya's viewport: read by glslang and DXC, their numbers compared with the
reference rows of the bundle. No Maya has run them."""

import re
from dataclasses import replace

import numpy as np
import pytest
import slangpy

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.effect_images import latent_atlas
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.files.reference import make_reference
from verdigris.core.bundle.files.stored_textures import emission_levels, export_numbers
from verdigris.core.bundle.maya_effect import write_maya_effect
from verdigris.core.cli.commands.bundles import export
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.spec import PRESETS, NetworkSpec

from ..geometry.reliefs import bumpy_heights
from .bundles import made_up, make_bundle
from .runtime.dxc import compile_hlsl
from .runtime.shader_files import require_tool, run
from .runtime.web_gpu import open_gpu, run_shader

SMALL = NetworkSpec(5, 2, "leaky_smelu", latent_channels=4, frame_count=1)
LIVE = replace(PRESETS["2x32"], live_inputs=2)
QUERY = np.dtype(
    [
        *(("uv", "<f4", 2), ("lod", "<f4"), ("image", "<f4"), ("wi", "<f4", 4), ("wo", "<f4", 4)),
        *(("kind", "<f4"), ("distance", "<f4"), ("decay", "<f4"), ("cone", "<f4")),
        *(("axis", "<f4", 3), ("is_shown", "<f4")),
    ]
)
# uniform KIND NAME : SEMANTIC < annotations > = default;
UNIFORM = re.compile(
    r"^uniform (?P<kind>\w+) (?P<name>\w+)(?: : (?P<semantic>\w+))?(?: <(?P<notes>[^>]*)>)?"
    r"(?: = (?P<default>[^;{]+|\{[^}]*\}|sampler_state \{[^}]*\}))?;$",
    re.MULTILINE,
)
# What glslShader knows: GLSLShaderSemantics.cpp of the developer kit. It compares without case.
SEMANTICS = {
    *("world", "worldinversetranspose", "worldviewprojection", "viewinverse", "lightenable"),
    *("lighttype", "position", "direction", "lightcolor", "lightintensity", "hotspot", "falloff"),
    *("decayrate", "mayagammacorrection"),
}


def _block(text, head):
    """The name of a block, and what its braces hold."""
    depth = 1
    for brace in re.finditer(r"[{}]", text[head.end() :]):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return head.group(1), text[head.end() : head.end() + brace.start()]
    raise AssertionError(f"{head.group(1)} does not end")


class Effect:
    """An OGSFX file by its blocks, as Maya's page about converting GLSL describes them."""

    def __init__(self, text):
        self.uniforms = {each["name"]: each for each in UNIFORM.finditer(text)}
        self.attributes = dict(re.findall(r"^attribute (\w+)\n\{\n(.*?)\n\};", text, re.S | re.M))
        self.stages = dict(
            _block(text, at) for at in re.finditer(r"^GLSLShader (\w+)\n\{\n", text, re.M)
        )
        rest = re.sub(r"^attribute .*", "", UNIFORM.sub("", text), flags=re.S | re.M)
        assert not re.search(r"^\s*[^/#\s]", rest, re.M), "a declaration that is not understood"
        self.technique = text[text.index("technique Main") :]

    def members(self, attribute):
        return re.sub(r" : \w+;", ";", self.attributes[attribute])

    def plain(self, stage, own):
        """The stage as GLSL of its own. Samplers are the uniforms there."""
        lines = ["#version 410"]
        for each in self.uniforms.values():
            if each["kind"] != "texture2D":
                lines.append(f"uniform {each['kind']} {each['name']};")
        return "\n".join([*lines, *own, self.stages[stage]])


@pytest.fixture(scope="module", params=["small", "2x32 with live inputs", "leaf"])
def written(request, tmp_path_factory):
    """A bundle and its effects: a small decoder, a usual one, and a thin wall with a height map."""
    folder = tmp_path_factory.mktemp("effect")
    spec = LIVE if "live" in request.param else SMALL
    exported, maps = made_up(spec), {}
    if request.param == "leaf":
        parameters, below = exported.parameters, made_up(spec, seed=1).parameters
        parameters.transmitted = TransmittedSide(below.decoder, 1.0, below.head)
        exported = export_numbers(parameters, format_name=RGBA8)
        maps["relief"] = make_height_map(bumpy_heights())
    make_bundle(folder / "brass.vdg", exported, **maps)
    export(folder / "brass.vdg", "maya")
    return exported, {path.name: path for path in (folder / "brass_maya").iterdir()}


def test_the_latents_in_the_image_are_exact(written):
    exported, files = written
    levels = exported.latents.levels
    pixels = np.array(slangpy.Bitmap(files["brass_latents.png"]))
    assert pixels.dtype == np.uint8 and pixels.shape[2] == 3  # no alpha to multiply by
    _, tops = latent_atlas(levels)
    for top, level in zip(tops, levels, strict=True):
        layers, height, width = level.shape[:3]
        for layer in range(layers):
            part = pixels[top : top + height, 2 * layer * width :]
            np.testing.assert_array_equal(part[:, :width], level[layer, ..., :3])
            np.testing.assert_array_equal(part[:, width : 2 * width, 0], level[layer, ..., 3])


def test_glslang_reads_both_stages_of_the_ogsfx(written, tmp_path):
    effect = Effect(written[1]["brass.ogsfx"].read_text())
    known = {each["semantic"].lower() for each in effect.uniforms.values() if each["semantic"]}
    assert known == SEMANTICS
    resources = re.findall(r'ResourceName = "([^"]*)"', written[1]["brass.ogsfx"].read_text())
    assert resources and all(name in written[1] for name in resources)
    assert "in VertexIn, out Passed passed) = VertexStage" in effect.technique
    passed = effect.members("Passed")
    inputs = [f"in {line.strip()}" for line in effect.members("VertexIn").splitlines()]
    vertex = effect.plain("VertexStage", [*inputs, f"out Passed {{ {passed} }} passed;"])
    pixel = effect.plain("PixelStage", [f"in Passed {{ {passed} }} passed;", "out vec4 outColor;"])
    for name, text in (("a.vert", vertex), ("a.frag", pixel)):
        (tmp_path / name).write_text(text)
        run(require_tool("glslangValidator"), tmp_path / name)
    # the preprocessor of a block is not documented
    assert not re.search(r"^\s*#", effect.stages["PixelStage"], re.M)


@pytest.mark.parametrize(
    ("profile", "entry"), [("vs_6_0", "vertexStage"), ("ps_6_0", "pixelStage")]
)
def test_dxc_reads_the_fx(written, profile, entry):
    """DXC skips techniques and annotations; fxc, which Maya uses, cannot be had here."""
    text = written[1]["brass.fx"].read_text()
    compile_hlsl(text.encode(), profile, entry, options=())
    # what shader model 5 does not have
    assert not re.search(r"\b(half|uint64_t|Wave\w+|ConstantBuffer|WorldView\w*<)", text)


# The stage itself, on a CPU: what Maya sets becomes a variable, its main a function, and images are
# fetched without samplers, at the texel of a place.
COMPUTE = """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(binding = 0) uniform Count {{ uint count; }};
struct Query {{ vec4 place; vec4 wi; vec4 wo; vec4 light; vec4 cone; }};
layout(std430, binding = 1) readonly buffer Queries {{ Query queries[]; }};
layout(std430, binding = 2) buffer Answers {{ float answers[]; }};
layout(std430, binding = 3) readonly buffer Floats {{ vec4 kNeuralFloats[]; }};
{images}
int loaded;
float footprint;
vec4 outColor;
mat4 gViewInverse;
struct Passed {{ vec3 position; vec3 normal; vec3 tangent; vec3 binormal; vec2 uv; }} passed;
vec2 dFdxOf(vec2 at) {{ return vec2(footprint, 0.0); }}
vec2 dFdyOf(vec2 at) {{ return vec2(0.0, footprint); }}
vec3 dFdxOf(vec3 at) {{ return vec3(footprint, 0.0, 0.0); }}
vec3 dFdyOf(vec3 at) {{ return vec3(0.0, footprint, 0.0); }}
#define dFdx(at) dFdxOf(at)
#define dFdy(at) dFdyOf(at)
#define texture(image, at) texelFetch( \\
    image, ivec3(fract(at) * vec2(textureSize(image, 0).xy), loaded), 0)
{variables}
{code}
void main()
{{
    uint index = gl_GlobalInvocationID.x;
    if (index >= count)
        return;
    Query query = queries[index];
    loaded = int(query.place.w);
    footprint = exp2(query.place.z) / float(kAtlasWidth);
    ambientColor = vec3(0.0);
    isDisplayedLater = query.cone.w == 0.0;
    light0Enable = true;
    light1Enable = light2Enable = light3Enable = false;
    light0Type = int(query.light.x);
    light0Pos = query.light.y * query.wi.xyz;
    light0Dir = query.cone.xyz;
    light0Color = vec3(1.0, 0.5, 0.25);
    light0Intensity = 1.0 / kEffectPi;
    light0AttenScale = query.light.z;
    light0ConeAngle = query.light.w;
    light0FallOff = 0.7;
    {live}
    gViewInverse[3] = vec4(query.wo.xyz, 1.0);
    passed = Passed(vec3(0.0), vec3(0.0, 0.0, 1.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0),
        query.place.xy);
    pixel();
    for (uint i = 0; i < 4; i++)
        answers[4 * index + i] = outColor[i];
}}
"""
COLOR = np.float32([1, 0.5, 0.25])
DIRECTIONAL, POINT, SPOT = 4, 3, 2


def queries_of(reference):
    """The rows of a reference under a directional light."""
    queries = np.zeros(len(reference), QUERY)
    queries["uv"], queries["lod"] = reference.uv, reference.lod
    queries["wi"][..., :3], queries["wo"][..., :3] = reference.wi, reference.wo
    queries["kind"], queries["axis"] = DIRECTIONAL, -reference.wi
    return queries


def evaluated(effect, images, queries, tmp_path):
    """The colours and opacities of an OGSFX file. `images` are by kind, each [ways to load it,
    height, width, 3]."""
    gpu, device = opened = open_gpu("wgpu")
    variables = [
        f"{each['kind']} {each['name']};"
        for each in effect.uniforms.values()
        if each["kind"] in ("bool", "int", "float", "vec3")
    ]
    code = effect.stages["PixelStage"].replace("    void main()", "    void pixel()")
    # the numbers of the text, in a buffer: the software device copies arrays at each call
    array = re.search(r"const vec4 kNeuralFloats\[\d+\] = vec4\[\d+\]\((.*?)\);\n", code, re.S)
    floats = np.float32(re.findall(r"[-+.\de]+(?=[,)])", array[1].replace("vec4(", "")))
    code = code.replace(array[0], "").replace(", texel, 0)", ", ivec3(texel, loaded), 0)")
    live = " ".join(
        f"{name} = {each['default']};"
        for name, each in effect.uniforms.items()
        if name[:4] == "live"
    )
    bound = [
        (np.uint32([len(queries), 0, 0, 0]), gpu.BufferUsage.UNIFORM),
        (queries, gpu.BufferUsage.STORAGE),
        None,
        (floats, gpu.BufferUsage.STORAGE),
    ]
    declared = []
    for kind, pixels in images.items():
        declared.append(f"layout(binding = {len(bound)}) uniform texture2DArray {kind}Sampler;")
        bound.append(uploaded(gpu, device, pixels))
    (tmp_path / "a.comp").write_text(
        COMPUTE.format(
            variables="\n".join(variables), code=code, live=live, images="\n".join(declared)
        )
    )
    output = tmp_path / "a.spv"
    options = ("-V", "--target-env", "vulkan1.1", tmp_path / "a.comp", "-o", output)
    run(require_tool("glslangValidator"), *options)
    return run_shader(opened, output.read_bytes(), "main", bound, len(queries), numbers=4)


def uploaded(gpu, device, pixels):
    count, height, width = pixels.shape[:3]
    usage = gpu.TextureUsage.COPY_DST | gpu.TextureUsage.TEXTURE_BINDING
    size = (width, height, count)
    texture = device.create_texture(size=size, format="rgba8unorm", usage=usage)
    data = np.full((*pixels.shape[:3], 4), 255, np.uint8)
    data[..., :3] = pixels
    layout = {"bytes_per_row": 4 * width, "rows_per_image": height}
    device.queue.write_texture({"texture": texture}, data, layout, size)
    return texture.create_view(dimension="2d-array")


@pytest.mark.parametrize("written", ["small"], indirect=True)
def test_the_effect_gives_the_reference_rows_under_each_kind_of_light(written, tmp_path):
    """Also from an image that was loaded upside down; one that was converted is magenta."""
    exported, files = written
    reference = make_reference(exported.exact)
    atlas = np.array(slangpy.Bitmap(files["brass_latents.png"]))
    converted = np.rint(255 * (atlas / 255) ** 2.2).astype(np.uint8)
    images = {"latents": np.stack([atlas, atlas[::-1], converted])}
    queries = np.stack([queries_of(reference)] * 7)
    queries["image"][:3] = np.arange(3)[:, None]
    # a point light in distance 2 decays with the square, and linearly
    queries["kind"][3:5], queries["distance"][3:5] = POINT, 2
    queries["decay"][3:5] = [[2], [1]]
    # beside the axis of a spot, between its cone and the end of its penumbra, and outside
    queries["kind"][5:], queries["distance"][5:], queries["cone"][5:] = SPOT, 2, 0.4
    for row, angle in ((5, 0.5), (6, 0.8)):
        across = np.cross(reference.wi, [0.31, 0.64, 0.7])
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        queries["axis"][row] = np.sin(angle) * across - np.cos(angle) * reference.wi
    effect = Effect(files["brass.ogsfx"].read_text())
    found = evaluated(effect, images, queries.ravel(), tmp_path).reshape(7, -1, 4)
    # the smooth step of cosines: 0 at .7 from the axis, 1 at .4
    part = (np.cos(0.5) - np.cos(0.7)) / (np.cos(0.4) - np.cos(0.7))
    penumbra = part * part * (3 - 2 * part)
    for row, strength in ((0, 1), (1, 1), (3, 1 / 4), (4, 1 / 2), (5, penumbra), (6, 0)):
        expected = strength * COLOR * reference.exported
        np.testing.assert_allclose(found[row, :, :3], expected, rtol=2e-3, atol=1e-5)
    np.testing.assert_array_equal(found[2], np.tile([1, 0, 1, 1], (len(reference), 1)))


@pytest.mark.parametrize("written", ["leaf"], indirect=True)
def test_a_leaf_gives_the_rows_of_both_sides_on_a_flat_relief(written, tmp_path):
    exported, files = written
    above, below = map(make_reference, exported.exact.sides)
    queries = np.concatenate([queries_of(above), queries_of(below)])
    # rows of the other side have mirrored directions of light
    queries["axis"][len(above) :, 2] *= -1
    queries["wi"][len(above) :, 2] *= -1
    wanted = np.concatenate([above.exported, below.exported])
    # relief bends a view below the surface; each decoder answers for its own side
    is_own = np.concatenate([above.wi[:, 2], below.wi[:, 2]]) > 0
    seen = (queries["wo"][:, 2] > 2e-3) & is_own
    effect = Effect(files["brass.ogsfx"].read_text())
    # metres are 100 of Maya's units
    wanted_scale = 100 * make_height_map(bumpy_heights()).scale
    (scale,) = re.findall(r"kHeightRange = vec2\(([^,]*),", effect.stages["PixelStage"])
    assert float(scale) == pytest.approx(wanted_scale)
    code, count = re.subn(
        r"kHeightRange = .*;", "kHeightRange = vec2(1e-4, 0.0);", effect.stages["PixelStage"]
    )
    assert count == 1
    effect.stages["PixelStage"] = code
    pixels = {
        kind: np.array(slangpy.Bitmap(files[f"brass_{kind}.png"]))[None]
        for kind in ("latents", "heights")
    }
    pixels["heights"][:] = 0
    found = evaluated(effect, pixels, queries, tmp_path)
    np.testing.assert_allclose(found[seen, :3], (COLOR * wanted)[seen], rtol=2e-3, atol=1e-5)
    assert (wanted[seen & (queries["wi"][:, 2] < 0)].max(1) > 0.01).mean() > 0.5


def test_emission_and_opacity_are_those_of_the_bundle_whichever_way_an_image_is_loaded(tmp_path):
    """And what is shown as it is has sRGB's curve."""
    random = np.random.default_rng(2)
    glow = random.uniform(0, 3, (8, 16, 3)).astype(np.float32)
    holes = random.integers(0, 256, (8, 16, 1)).astype(np.uint8)
    covers = [holes[: max(8 >> level, 1), : 16 >> level] for level in range(5)]
    bundle = make_bundle(
        tmp_path / "lamp.vdg", made_up(SMALL), emission=emission_levels(glow), opacity=covers
    )
    files = {path.suffix: path for path in write_maya_effect(bundle, tmp_path)}
    effect = Effect(files[".ogsfx"].read_text())
    kinds = {kind: tmp_path / f"lamp_{kind}.png" for kind in ("latents", "emission", "opacity")}
    pixels = {kind: np.array(slangpy.Bitmap(file))[..., :3] for kind, file in kinds.items()}
    images = {kind: np.stack([each, each[::-1]]) for kind, each in pixels.items()}
    row, column = np.mgrid[0:8, 0:16].reshape(2, -1)
    queries = np.zeros((3, row.size), QUERY)
    queries["uv"] = np.stack([(column + 0.5) / 16, (row + 0.5) / 8], 1)
    queries["image"][1], queries["is_shown"][2] = 1, 1
    queries["wo"][..., 2], queries["kind"], queries["axis"][..., 2] = 1, DIRECTIONAL, 1
    found = evaluated(effect, images, queries.ravel(), tmp_path).reshape(3, -1, 4)
    opacity = holes[row, column] / 255
    np.testing.assert_allclose(found[..., 3:], np.stack([opacity] * 3), atol=1e-6)
    emitted = np.float32(bundle.emission()[0])[row, column, :3] * opacity
    # a byte of the square root
    np.testing.assert_allclose(found[:2, :, :3], [emitted] * 2, atol=3 / 255)
    linear = found[0, :, :3] / np.maximum(opacity, 1e-9)
    shown = np.where(linear < 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(found[2, :, :3], shown * opacity, atol=2e-5)


def test_a_decoder_above_the_constants_is_refused_with_the_remedy(tmp_path):
    large = make_bundle(tmp_path / "large.vdg", made_up(replace(SMALL, hidden_width=128)))
    with pytest.raises(BundleError, match="too large for Maya's effect: bake it with a smaller"):
        write_maya_effect(large, tmp_path)
