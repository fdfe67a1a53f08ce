"""The effects for Maya's viewport: read by glslang and DXC, their numbers compared with the
reference rows of the bundle. No Maya has run them."""

import re
from dataclasses import replace

import numpy as np
import pytest
import slangpy

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.effect_images import latent_atlas
from verdigris.core.bundle.files.reference import make_reference
from verdigris.core.bundle.maya_effect import write_maya_effect
from verdigris.core.cli.commands.bundles import export
from verdigris.core.network.spec import PRESETS, NetworkSpec

from .bundles import made_up, make_bundle
from .runtime.dxc import compile_hlsl
from .runtime.shader_files import require_tool, run
from .runtime.web_gpu import open_gpu, run_shader

SMALL = NetworkSpec(5, 2, "leaky_smelu", latent_channels=4, frame_count=1)
LIVE = replace(PRESETS["2x32"], live_inputs=2)
QUERY = np.dtype(
    [("uv", "<f4", 2), ("lod", "<f4"), ("image", "<f4"), ("wi", "<f4", 4), ("wo", "<f4", 4)]
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


@pytest.fixture(scope="module", params=["small", "2x32 with live inputs"])
def written(request, tmp_path_factory):
    """A bundle and its effects: a small decoder, and a usual one."""
    folder = tmp_path_factory.mktemp("effect")
    spec = SMALL if request.param == "small" else LIVE
    exported = made_up(spec)
    make_bundle(folder / "brass.vdg", exported)
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


# Everything that Maya sets becomes a variable; the image is fetched without a sampler.
COMPUTE = """#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(binding = 0) uniform Count {{ uint count; }};
struct Query {{ vec4 place; vec4 wi; vec4 wo; }};
layout(std430, binding = 1) readonly buffer Queries {{ Query queries[]; }};
layout(std430, binding = 2) buffer Answers {{ float answers[]; }};
layout(binding = 3) uniform texture2DArray latentsSampler;
int loaded;
layout(std430, binding = 4) readonly buffer Floats {{ vec4 kNeuralFloats[]; }};
{variables}
{code}
void main()
{{
    uint index = gl_GlobalInvocationID.x;
    if (index >= count)
        return;
    Query query = queries[index];
    loaded = int(query.place.w);
    light0Enable = light1Enable = light2Enable = light3Enable = false;
    ambientColor = vec3(0.0);
    light0Enable = true;
    light0Type = 4;
    light0Dir = -query.wi.xyz;
    light0Color = vec3(1.0);
    light0Intensity = 1.0 / kEffectPi;
    {live}
    vec3 x = vec3(1.0, 0.0, 0.0), y = vec3(0.0, 1.0, 0.0), z = vec3(0.0, 0.0, 1.0);
    vec3 color = effectColor(vec3(0.0), query.wo.xyz, z, x, y, query.place.xy, query.place.z);
    for (uint i = 0; i < 3; i++)
        answers[3 * index + i] = color[i];
}}
"""


def evaluated(opened, effect, images, queries, tmp_path):
    variables = [
        f"{each['kind']} {each['name']};"
        for each in effect.uniforms.values()
        if each["kind"] in ("bool", "int", "float", "vec3")
    ]
    code = effect.stages["PixelStage"].split("    void main()")[0]
    # the numbers of the text, in a buffer: the software device copies arrays at each call
    array = re.search(r"const vec4 kNeuralFloats\[\d+\] = vec4\[\d+\]\((.*?)\);\n", code, re.S)
    floats = np.float32(re.findall(r"[-+.\de]+(?=[,)])", array[1].replace("vec4(", "")))
    code = code.replace(array[0], "").replace(", texel, 0)", ", ivec3(texel, loaded), 0)")
    live = " ".join(
        f"{name} = {each['default']};"
        for name, each in effect.uniforms.items()
        if name[:4] == "live"
    )
    (tmp_path / "a.comp").write_text(
        COMPUTE.format(variables="\n".join(variables), code=code, live=live)
    )
    output = tmp_path / "a.spv"
    options = ("-V", "--target-env", "vulkan1.1", tmp_path / "a.comp", "-o", output)
    run(require_tool("glslangValidator"), *options)
    gpu, device = opened
    count, height, width = images.shape[:3]
    usage = gpu.TextureUsage.COPY_DST | gpu.TextureUsage.TEXTURE_BINDING
    size = (width, height, count)
    texture = device.create_texture(size=size, format="rgba8unorm", usage=usage)
    data = np.full((*images.shape[:3], 4), 255, np.uint8)
    data[..., :3] = images
    layout = {"bytes_per_row": 4 * width, "rows_per_image": height}
    device.queue.write_texture({"texture": texture}, data, layout, size)
    count = (np.uint32([len(queries), 0, 0, 0]), gpu.BufferUsage.UNIFORM)
    bound = [
        count,
        (queries, gpu.BufferUsage.STORAGE),
        None,
        texture.create_view(dimension="2d-array"),
    ]
    bound.append((floats, gpu.BufferUsage.STORAGE))
    return run_shader(opened, output.read_bytes(), "main", bound, len(queries), numbers=3)


@pytest.mark.parametrize("written", ["small"], indirect=True)
def test_the_effect_gives_the_reference_rows_under_one_light(written, tmp_path):
    """Also from an image that was loaded upside down; one that was converted is magenta."""
    opened = open_gpu("wgpu")
    exported, files = written
    reference = make_reference(exported.exact)
    atlas = np.array(slangpy.Bitmap(files["brass_latents.png"]))
    converted = np.rint(255 * (atlas / 255) ** 2.2).astype(np.uint8)
    queries = np.zeros((3, len(reference)), QUERY)
    queries["uv"], queries["lod"] = reference.uv, reference.lod
    queries["image"] = np.arange(3)[:, None]
    queries["wi"][..., :3], queries["wo"][..., :3] = reference.wi, reference.wo
    effect = Effect(files["brass.ogsfx"].read_text())
    images = np.stack([atlas, atlas[::-1], converted])
    found = evaluated(opened, effect, images, queries.ravel(), tmp_path).reshape(3, -1, 3)
    for part in found[:2]:
        np.testing.assert_allclose(part, reference.exported, rtol=1e-3, atol=1e-5)
    np.testing.assert_array_equal(found[2], np.tile([1, 0, 1], (len(reference), 1)))


def test_a_decoder_above_the_constants_is_refused_with_the_remedy(tmp_path):
    large = make_bundle(tmp_path / "large.vdg", made_up(replace(SMALL, hidden_width=128)))
    with pytest.raises(BundleError, match="too large for Maya's effect: bake it with a smaller"):
        write_maya_effect(large, tmp_path)
