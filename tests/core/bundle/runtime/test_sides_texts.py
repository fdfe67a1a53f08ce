"""The generated shaders of surfaces that transmit: taken by other compilers, and evaluated over the
whole sphere against numpy."""

import os
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.bundle.files.weights import constant_floats, pack_weights, plan_tensors
from verdigris.core.material.sides import passed
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.parameters import TransmittedSide

from ...material.test_sides import directions
from ..bundles import made_up, stored
from .dxc import compile_hlsl
from .shader_files import NETWORKS, StrictFiles, require_tool, run
from .test_text_forms import ES_MAIN, ES_SHADER
from .web_gpu import COMPILERS, QUERY, evaluate_spirv, evaluate_wgsl, open_gpu

SPEC = NETWORKS["2x5 leaky_smelu"]
OPAQUE, FILES = StrictFiles(SPEC), StrictFiles(SPEC, transmits=True)
PACKED = StrictFiles(SPEC, transmits=True, is_pack=True)
LIVING = StrictFiles(replace(SPEC, live_inputs=2), transmits=True)
COUNT = 300


class Both:
    """A material with both decoders, queries over the sphere, and numpy's answers."""

    def __init__(self, index):
        self.index = index
        self.above = stored(made_up(SPEC))
        numbers = made_up(SPEC).exact
        below = made_up(SPEC, seed=1).exact
        numbers.transmitted = TransmittedSide(below.decoder, index, -below.head)
        parts = [pack_weights(side)[0] for side in numbers.sides]
        self.weights = b"".join(parts)
        tensors = plan_tensors(SPEC)[0]
        self.constants = b"".join(constant_floats(SPEC, tensors, part) for part in parts)
        random = np.random.default_rng(7)
        queries = np.zeros(COUNT, QUERY)
        wi, wo = directions(COUNT)
        # a solid refracts to the viewer from few directions
        wi[:, ::4] = passed(wi[:, ::4], wo[:, ::4], index)
        wi[2, 2::4] *= -1
        queries["uv"], queries["lod"] = random.random((COUNT, 2)), random.uniform(0, 5, COUNT)
        queries["wi"], queries["wo"] = wi.T, wo.T
        queries["random"], queries["random2"] = random.random((2, COUNT))
        self.queries = queries
        exact = numbers.astype(np.float64)
        uv, lod, wi, wo = (queries[name].astype(float) for name in ("uv", "lod", "wi", "wo"))
        sampler = SphereSampler.at(exact, latents_at_lod(exact, uv.T, lod), wo.T)
        drawn = sampler.draw(np.stack([queries["random"], queries["random2"]]).astype(float))
        self.response = evaluate_at_lod(exact, uv, lod, wi, wo)
        self.pdf, self.drawn, self.drawn_pdf = sampler.pdf(wi.T), drawn.T, sampler.pdf(drawn)

    def require(self, found):
        np.testing.assert_allclose(found[:, :3], self.response, rtol=2e-3, atol=1e-5)
        np.testing.assert_allclose(found[:, 3], self.pdf, rtol=5e-3, atol=1e-5)
        # a number on the border of two lobes can fall into the other in single floats
        near = np.abs(found[:, 4:7] - self.drawn).max(1) < 2e-3
        assert near.mean() > 0.99
        lit = near & self.drawn.any(1)
        np.testing.assert_allclose(found[lit, 7], self.drawn_pdf[lit], rtol=2e-2, atol=1e-3)
        below = self.queries["wi"][:, 2] < 0
        assert (self.response[below].sum(1) > 0).mean() > 0.4
        assert (self.drawn[:, 2] < 0).mean() > 0.2 and (self.drawn[:, 2] > 0).mean() > 0.2


@pytest.fixture(scope="module", params=[1.0, 1.5])
def both(request):
    return Both(request.param)


@pytest.fixture(scope="module", params=COMPILERS, ids=COMPILERS.values())
def gpu(request):
    return open_gpu(request.param)


def test_wgsl_is_both_decoders_and_the_sampler_of_the_sphere(gpu, both):
    code = FILES["portable.wgsl"].decode()
    queries = both.queries
    both.require(evaluate_wgsl(gpu, code, both.above, both.constants, queries, both.index))


def test_wgsl_of_a_scene_pack_draws_both_and_opaque_materials():
    gpu, both, code = open_gpu("wgpu"), Both(1.5), PACKED["portable.wgsl"].decode()
    queries = both.queries
    both.require(evaluate_wgsl(gpu, code, both.above, both.constants, queries, both.index))
    found = evaluate_wgsl(gpu, code, both.above, both.constants, queries, 0)
    half = both.constants[: len(both.constants) // 2]
    plain = OPAQUE["portable.wgsl"].decode()
    np.testing.assert_array_equal(found, evaluate_wgsl(gpu, plain, both.above, half, queries))


def test_compilers_take_the_files_of_a_scene_pack(tmp_path):
    for name in ("portable_sampled.glsl", "portable_sampled.comp"):
        (tmp_path / name).write_bytes(PACKED[name])
    options = ("-V", "--target-env", "vulkan1.1", "-DNEURAL_TEXTURES=64", "-o", tmp_path / "x.spv")
    run(require_tool("glslangValidator"), *options, tmp_path / "portable_sampled.comp")
    text = PACKED["portable_sampled.hlsl"]
    several = ("-WX", "-D", "NEURAL_TEXTURES=64")
    assert compile_hlsl(text, "cs_6_0", "evaluateQueries", several)[:4] == b"DXBC"


def test_naga_takes_spirv_and_glsl_which_are_the_same(both, tmp_path):
    opened = open_gpu("wgpu")
    for name in ("portable.glsl", "portable.comp"):
        (tmp_path / name).write_bytes(FILES[name])
    output = tmp_path / "portable.spv"
    options = ("-V", "--target-env", "vulkan1.1")
    run(require_tool("glslangValidator"), *options, tmp_path / "portable.comp", "-o", output)
    for code in (FILES["portable.spv"], output.read_bytes()):
        opened[1].create_shader_module(code=code)
        # the device's compiler takes 20 seconds for each
        if os.environ.get("VERDIGRIS_PIPELINES"):
            material = replace(both.above, weights=both.weights)
            both.require(evaluate_spirv(opened, code, material, both.queries, both.index))


@pytest.mark.parametrize("name", ["portable.hlsl", "portable_sampled.hlsl"])
def test_direct3d_takes_the_plain_files(name):
    assert compile_hlsl(FILES[name], "cs_6_0", "evaluateQueries")[:4] == b"DXBC"


def test_opengl_es_takes_the_file_and_a_shader_around_it(tmp_path):
    compiler = require_tool("glslangValidator")
    text = FILES["portable.es300.glsl"].decode()
    own = ES_MAIN.replace("NeuralSurface surface", "NeuralSidesSurface surface")
    for name, shader in (("whole", "#version 300 es\n" + text), ("own", ES_SHADER + text + own)):
        path = tmp_path / f"{name}.frag"
        path.write_text(shader)
        run(compiler, path)


def test_shaders_of_live_inputs_take_their_values_for_both_decoders():
    text = " ".join(LIVING["portable.wgsl"].decode().split())
    assert "neuralPrepare( uv : vec2<f32>, lod : f32, wo : vec3<f32>, live : vec3<f32>)" in text
