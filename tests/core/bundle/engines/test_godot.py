"""The export for Godot 4: its scripts by gdtoolkit, its shader by glslang and against reference
rows. No Godot has run them."""

import re
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.bundle.engines.export_engine import TEMPLATES

from ..runtime.shader_files import require_tool, run
from ..runtime.web_gpu import open_gpu, run_shader
from .engine_bundles import (
    SPECS,
    export_to,
    largest_difference,
    open_container,
    queries_of,
    rows_above,
    texels_of,
)

GODOT = TEMPLATES / "godot" / "addons" / "verdigris"


@pytest.fixture(scope="module", params=list(SPECS))
def written(request, tmp_path_factory):
    return export_to("godot", request.param, tmp_path_factory.mktemp("godot"))


def shader_of(files):
    shaders = [each for name, each in files.items() if name.endswith(".gdshader")]
    (path,) = [each for each in shaders if each.stem != "neural_behind"]
    return path.stem, path.read_text()


@pytest.mark.parametrize("script", sorted(GODOT.glob("*.gd")), ids=lambda path: path.name)
def test_gdtoolkit_parses_the_scripts_and_finds_no_fault(script):
    linter = pytest.importorskip("gdtoolkit.linter", reason="gdtoolkit is not installed")
    parser = pytest.importorskip("gdtoolkit.parser").parser
    parser.parse(script.read_text())
    assert linter.lint_code(script.read_text()) == []


def test_the_container_holds_the_bundle(written):
    exported, files = written
    facts, arrays = open_container(files["brass.verdigris"].read_bytes())
    assert facts["name"] == "old brass" and facts["shader"] == shader_of(files)[0]
    latents = facts["latents"]
    layers = [[] for _ in range(latents["layers"])]
    for level in exported.latents.levels:
        for layer, texels in zip(layers, level, strict=True):
            layer.append(texels.tobytes())
    assert arrays["latents.bin"] == b"".join(b"".join(layer) for layer in layers)
    # as Image.create_from_data() counts the bytes of all its mip levels
    for entry in (facts[name] for name in arrays_of(facts)):
        sizes, width, height = 0, entry["width"], entry["height"]
        texel = {"rgba8": 4, "rgba16f": 8, "r8": 1}[entry["format"]]
        for _ in range(entry["levels"]):
            sizes += texel * width * height
            width, height = max(width // 2, 1), max(height // 2, 1)
        assert len(arrays[entry["file"]]) == sizes * entry["layers"]
        assert entry["levels"] == 1 or (entry["levels"], width, height) == (
            max(entry["width"], entry["height"]).bit_length(),
            1,
            1,
        )


def arrays_of(facts):
    return [name for name, each in facts.items() if isinstance(each, dict) and "file" in each]


def test_importer_and_shader_agree_in_names(written):
    _, files = written
    text = shader_of(files)[1]
    uniforms = set(re.findall(r"^uniform \w+ (\w+)", text, re.M))
    script = (GODOT / "importer.gd").read_text()
    named = set(re.findall(r'"(neural_\w+)"', script + (GODOT / "neural_material.gd").read_text()))
    facts, _ = open_container(files["brass.verdigris"].read_bytes())
    set_by_loop = {f"neural_{name}" for name in arrays_of(facts)}
    vectors = {f"neural_{name}{quad}" for name in ("scale", "offset") for quad in (0, 1)}
    # a shader has what its material needs
    named -= {"neural_range", "neural_index", "neural_transmitted"} - uniforms
    set_by_loop -= {"neural_transmitted"}
    assert named | set_by_loop | vectors <= uniforms
    # maps that a bundle does not have keep the defaults of their hints
    assert uniforms - named - set_by_loop - vectors <= {"neural_emission", "neural_opacity"}
    scene = files["verdigris_example_brass.tscn"].read_text()
    assert 'path="res://brass.verdigris"' in scene
    # a leaf has a second pass
    has_pass = any(name.endswith("neural_behind.gdshader") for name in files)
    assert has_pass == (facts.get("passing") == {"index": 1.0, "diffuse": True})
    assert {f"addons/verdigris/{path.name}" for path in GODOT.iterdir()} < set(files)


COMPUTE = Path(__file__).with_name("godot_rows.comp")
TURN = np.array([[0.36, -0.8, 0.48], [0.48, 0.6, 0.64], [-0.8, 0, 0.6]])


_STAND_INS = (
    ("textureLod(neural_latents, ", "exactLod("),
    ("textureSize(neural_latents, 0)", "kSize"),
    ("texelFetch(neural_numbers", "fetchNumber(neural_numbers"),
    # a flat height map
    ("texelFetch(neural_heights, place, level)", "vec4(0.0)"),
    ("textureSize(neural_heights, 0)", "ivec2(128, 64)"),
    ("neural_range;", "vec2(0.1, 0.0);"),
    ("textureGrad(", "constantGrad("),
    ("textureLod(", "constantLod("),
    ("dFdx(", "derivativeX("),
    ("dFdy(", "derivativeY("),
)


def as_glsl(shader):
    """Variables and functions of a .gdshader as GLSL: uniforms without hints, varyings as variables
    of a pixel."""
    code = re.sub(r"^(shader_type|render_mode) .*;\n", "", shader, flags=re.M)
    uniforms = []
    for kind, name, rest in re.findall(r"^uniform (\w+) (\w+)(.*);\n", code, re.M):
        if not kind.startswith("sampler"):
            default = re.search(r"= .*", rest)
            uniforms.append(f"{kind} {name} {default[0] if default else ''};")
    code = re.sub(r"^uniform .*\n", "", code, flags=re.M)
    code = re.sub(r"^varying ", "", code, flags=re.M)
    assert code.count("textureLod(neural_latents") == 1
    for engine, own in _STAND_INS:
        code = code.replace(engine, own)
    return code, "\n".join(uniforms)


def test_fragment_and_light_give_the_reference_rows(written, tmp_path):
    exported, files = written
    columns, wanted = rows_above(exported)
    count = len(wanted)
    facts, arrays = open_container(files["brass.verdigris"].read_bytes())
    queries = queries_of(columns, facts)
    code, uniforms = as_glsl(shader_of(files)[1])
    for name in ("scale", "offset"):
        for quad in (0, 1):
            numbers = ", ".join(map(repr, facts[name][4 * quad : 4 * quad + 4]))
            uniforms = uniforms.replace(
                f"vec4 neural_{name}{quad} ;", f"vec4 neural_{name}{quad} = vec4({numbers});"
            )
    source, output = tmp_path / "a.comp", tmp_path / "a.spv"
    text = COMPUTE.read_text().replace("@UNIFORMS@", uniforms).replace("@CODE@", code)
    for word in ("width", "height", "layers", "levels"):
        text = text.replace(f"@{word.upper()}@", str(facts["latents"][word]))
    source.write_text(text)
    run(require_tool("glslangValidator"), "-V", "--target-env", "vulkan1.1", source, "-o", output)
    gpu, _ = opened = open_gpu("wgpu")
    numbers = np.frombuffer(arrays["numbers.bin"], "<f2").astype(np.float32)
    bound = [
        (np.uint32([2 * count, 0, 0, 0]), gpu.BufferUsage.UNIFORM),
        (queries, gpu.BufferUsage.STORAGE),
        None,
        (numbers, gpu.BufferUsage.STORAGE),
        (texels_of(exported), gpu.BufferUsage.STORAGE),
    ]
    found = run_shader(opened, output.read_bytes(), "main", bound, 2 * count, numbers=16)
    found = found.reshape(2, count, 16)
    light = 0.5 * np.pi * np.array([1, 0.5, 0.25])
    for each in found:
        assert largest_difference((each[:, :3] - 1) / light, wanted) < 2e-3
    has_opacity = "opacity" in facts
    np.testing.assert_allclose(found[..., 3], 0.75 if has_opacity else 1)
    np.testing.assert_allclose(found[..., 4:8], np.tile([0.25, 0.5, 0.75, 0.125], (2, count, 1)))
    np.testing.assert_allclose(found[..., 8:11], np.tile(TURN[:, 2], (2, count, 1)), atol=5e-3)
    assert (found[..., 11] == 1).all()
    assert ("blend_premul_alpha" in shader_of(files)[1]) == has_opacity
