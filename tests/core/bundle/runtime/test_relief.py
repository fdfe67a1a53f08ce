"""A bundle with a height map: written and read, and the runtime's relief against numpy."""

import json
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.cost import cost_of_bundle
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.device_materials import upload_texture
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.geometry import relief
from verdigris.core.geometry.height_map import make_height_map

from ...geometry.reliefs import bumpy_heights, rays
from ...in_process import run_command
from ..bundles import make_bundle

COUNT = 2000
SHADER = Source(
    "test_relief",
    """
import bundle.runtime.neural_relief;

struct Query { float2 uv; float2 extent; float3 wo; float lod; float3 wi; float reserved; }

StructuredBuffer<Query> queries;
RWStructuredBuffer<float4> answers;
Texture2D<float4> heights;
uniform uint3 size;
uniform float2 levels;
uniform uint count;

[shader("compute")] [numthreads(64, 1, 1)]
void look(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= count)
        return;
    const Query query = queries[thread.x];
    const NeuralHeights map = { heights, size, levels.x, levels.y };
    const NeuralRelief place = neuralRelief(map, query.uv, query.wo, query.extent, query.lod);
    const float lit = neuralReliefShadow(map, place, query.wi, query.extent, query.lod);
    answers[2 * thread.x] = float4(place.uv, place.height, lit);
    const float3 normal = neuralReliefNormal(map, place.uv, query.extent, query.lod);
    answers[2 * thread.x + 1] = float4(normal, neuralReliefTurned(normal, normal).z);
}
""",
)


@pytest.fixture(scope="module")
def heights():
    return make_height_map(bumpy_heights())


@pytest.mark.parametrize("level", [0, 2])
def test_the_shader_sees_what_numpy_sees(heights, software, level):
    uv, wo, extent = rays(COUNT)
    _, wi, _ = rays(COUNT, seed=7)
    queries = np.zeros((COUNT, 12), np.float32)
    for start, values in ((0, uv), (2, extent), (4, wo), (8, wi)):
        queries[:, start : start + values.shape[1]] = values
    queries[:, 7] = level + 0.5
    answers = software.new_space(2 * COUNT, 16)
    software.dispatch(
        software.new_kernels().get((SHADER,), "look"),
        COUNT,
        {
            "queries": software.new_buffer(queries, 48),
            "answers": answers,
            "heights": upload_texture(software, RGBA8, heights.levels),
            "size": [*heights.size, len(heights.levels)],
            "levels": [heights.scale, heights.midlevel],
            "count": COUNT,
        },
    )
    found = answers.to_numpy().view(np.float32).reshape(COUNT, 8)
    uv, wo, extent, wi = (each.astype(np.float32) for each in (uv, wo, extent, wi))
    expected = relief.relief(heights, uv, wo, extent, level)
    off = np.abs(found[:, 2] - expected.height) / heights.scale
    # a ray that grazes an edge may miss it in single floats
    assert np.quantile(off, 0.995) < 1e-3
    np.testing.assert_allclose(found[off < 1e-3, :2], expected.uv[off < 1e-3], atol=2e-3)
    own = relief.Relief(found[:, :2].astype(np.float64), found[:, 2].astype(np.float64))
    lit = relief.lit(heights, own, wi, extent, level)
    assert (found[:, 3] == lit).mean() > 0.995 and 0.2 < lit.mean() < 0.9
    normals = relief.normal(heights, own.uv, extent, level)
    np.testing.assert_allclose(found[:, 4:7], normals, atol=2e-3)
    np.testing.assert_allclose(found[:, 7], 1, atol=1e-5)


def test_a_bundle_keeps_its_heights(heights, tmp_path):
    bundle = make_bundle(tmp_path / "bumps.vdg", relief=heights)
    found = open_bundle(bundle.folder).relief()
    for own, stored in zip(heights.levels, found.levels, strict=True):
        np.testing.assert_array_equal(own, stored)
    assert (found.scale, found.midlevel) == (heights.scale, heights.midlevel)
    path = bundle.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    assert manifest["relief"]["width"] == 128 and manifest["relief"]["format"] == RGBA8
    manifest["relief"]["scale"] = -1.0
    path.write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match=r"relief.scale is -1.0: it must be from"):
        open_bundle(bundle.folder)


def test_verify_finds_extrema_that_cut_the_surface(heights, tmp_path):
    bundle = make_bundle(tmp_path / "bumps.vdg", relief=heights)
    rows = {row.what: row.holds for row in verify(bundle).rows}
    assert rows["extrema of heights"] and rows["means of heights"]
    levels = [level.copy() for level in heights.levels]
    levels[1][..., 3] //= 2
    bundle = make_bundle(tmp_path / "cut.vdg", relief=replace(heights, levels=levels))
    rows = {row.what: row.holds for row in verify(bundle).rows}
    assert not rows["extrema of heights"] and rows["means of heights"]


def test_cost_and_inspect_tell_of_relief(heights, tmp_path, software):
    bundle = make_bundle(tmp_path / "bumps.vdg", relief=heights)
    cost = cost_of_bundle(bundle, software)
    assert cost.maps_bytes == sum(level.nbytes for level in heights.levels)
    assert cost.relief.place > 0
    _, out, _ = run_command(["inspect", bundle.folder])
    assert "relief    128 x 64, 8 levels, heights from -0.0298 to 0.0698" in out
