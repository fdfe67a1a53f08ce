"""Relief in generated languages: WGSL against numpy, the others by their compilers."""

import numpy as np
import pytest

from verdigris.core.bundle.runtime import runtime_files as runtime
from verdigris.core.bundle.runtime.runtime_files import RELIEF_TARGETS, runtime_files
from verdigris.core.geometry import relief
from verdigris.core.geometry.height_map import make_height_map

from ...geometry.reliefs import bumpy_heights, rays
from .dxc import compile_hlsl
from .shader_files import NETWORKS, compile_strictly, require_tool, run
from .web_gpu import COMPILERS, open_gpu, run_shader

COUNT = 2000
QUERY = np.dtype(
    [
        *(("uv", "<f4", 2), ("extent", "<f4", 2), ("wo", "<f4", 3), ("lod", "<f4")),
        *(("wi", "<f4", 3), ("reserved", "<f4")),
    ]
)


def relief_texts(**given):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtime, "cache_folder", lambda: None)
        patch.setattr(runtime, "compile_entry_point", compile_strictly)
        patch.setattr(runtime, "TARGETS", {})
        files = runtime_files(NETWORKS["2x5 leaky_smelu"], has_relief=True, **given)
    return {name: files[name].decode() for name in (*RELIEF_TARGETS, "relief.comp")}


@pytest.fixture(scope="module")
def texts():
    return relief_texts()


def test_only_bundles_with_heights_have_them(monkeypatch):
    monkeypatch.setattr(runtime, "TARGETS", {})
    files = runtime_files(NETWORKS["2x5 leaky_smelu"])
    assert not [name for name in files if "relief" in name]


@pytest.mark.parametrize("package", COMPILERS, ids=COMPILERS.values())
def test_wgsl_sees_what_numpy_sees(package, texts):
    opened = open_gpu(package)
    gpu, device = opened
    heights = make_height_map(bumpy_heights())
    columns, rows = heights.size
    texture = device.create_texture(
        size=(columns, rows, 1),
        mip_level_count=len(heights.levels),
        format="rgba8unorm",
        usage=gpu.TextureUsage.COPY_DST | gpu.TextureUsage.TEXTURE_BINDING,
    )
    for level, texels in enumerate(heights.levels):
        height, width = texels.shape[:2]
        device.queue.write_texture(
            {"texture": texture, "mip_level": level},
            np.ascontiguousarray(texels),
            {"bytes_per_row": 4 * width, "rows_per_image": height},
            (width, height, 1),
        )
    record = np.zeros(12, "<u4")
    record[:3] = columns, rows, len(heights.levels)
    record[3:5] = np.float32([heights.scale, heights.midlevel]).view("<u4")
    queries = np.zeros(COUNT, QUERY)
    queries["uv"], queries["wo"], queries["extent"] = rays(COUNT)
    queries["wi"], queries["lod"] = rays(COUNT, seed=7)[1], 2.5
    uniform = gpu.BufferUsage.UNIFORM
    bound = [
        (record, uniform),
        texture.create_view(),
        (queries, gpu.BufferUsage.STORAGE),
        None,
        (np.uint32([COUNT, 0, 0, 0]), uniform),
    ]
    code = texts["relief.wgsl"].replace("@group(1)", "@group(0)")
    found = run_shader(opened, code, "evaluateQueries", bound, COUNT, numbers=8)
    seen = relief.relief(heights, queries["uv"], queries["wo"], queries["extent"], 2)
    same = np.abs(found[:, 2] - seen.height) < 1e-3 * heights.scale
    # a ray that grazes an edge may miss it in single floats
    assert same.mean() > 0.995
    np.testing.assert_allclose(found[same, :2], seen.uv[same], atol=2e-3)
    place = relief.Relief(found[:, :2], found[:, 2])
    lit = relief.lit(heights, place, queries["wi"], queries["extent"], 2)
    assert (found[:, 3] == lit).mean() > 0.995 and 0.2 < lit.mean() < 0.9
    normals = relief.normal(heights, place.uv, queries["extent"], 2)
    np.testing.assert_allclose(found[:, 4:7], normals, atol=2e-3)


def test_compilers_of_the_other_languages_take_them(texts, tmp_path):
    assert compile_hlsl(texts["relief.hlsl"].encode(), "cs_6_0", "evaluateQueries")[:4] == b"DXBC"
    glslang = require_tool("glslangValidator")
    for name in ("relief.glsl", "relief.comp"):
        (tmp_path / name).write_text(texts[name])
    run(glslang, "-V", "--target-env", "vulkan1.1", tmp_path / "relief.comp", "-o", tmp_path / "x")
    call = "neuralReliefShadow(neuralRelief(place, wo, vec2(1.0), 0.0), wo, vec2(1.0), 0.0)"
    for name, text in {
        "es.frag": f"#version 300 es\n{texts['relief.es300.glsl']}"
        f"in vec2 place; in vec3 wo; out vec4 color;\nvoid main() {{ color = vec4({call}); }}\n",
        "vulkan.frag": f"#version 450\n#define NEURAL_NO_ENTRY_POINT\n{texts['relief.glsl']}"
        "layout(location = 0) in vec2 place; layout(location = 1) in vec3 wo;\n"
        f"layout(location = 0) out vec4 color;\nvoid main() {{ color = vec4({call}); }}\n",
    }.items():
        (tmp_path / name).write_text(text)
        output = ["-V", "-o", tmp_path / "y"] if name.startswith("vulkan") else []
        run(glslang, *output, tmp_path / name)
    assert (
        "NeuralRelief neuralRelief(float2 uv, float3 wo, float2 extent, float lod"
        in (texts["relief.metal"])
    )


def test_the_texts_of_a_scene_pack_have_a_height_map_for_each_record(texts, tmp_path):
    packed = relief_texts(is_pack=True)
    same = {name for name, text in packed.items() if text == texts[name]}
    assert same == {*packed} - {"relief.hlsl", "relief.glsl"}
    for name in ("relief.glsl", "relief.comp"):
        (tmp_path / name).write_text(packed[name])
    glslang = require_tool("glslangValidator")
    for several in ([], ["-DNEURAL_HEIGHTS=5"]):
        target = ("-V", "--target-env", "vulkan1.1", "-o", tmp_path / "x")
        run(glslang, *target, *several, tmp_path / "relief.comp")
        options = ("-WX", *(each.replace("-D", "-D ") for each in several))
        options = tuple(word for option in options for word in option.split())
        code = compile_hlsl(packed["relief.hlsl"].encode(), "cs_6_0", "evaluateQueries", options)
        assert code[:4] == b"DXBC"
    assert (
        "neuralRelief(uint index, vec2 uv, vec3 wo, vec2 extent, float lod)"
        in packed["relief.glsl"]
    )
