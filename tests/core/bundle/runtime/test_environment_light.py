"""neural_environment.slang against its oracle in numpy, and both against quadrature."""

from functools import partial

import numpy as np
import pytest
from cube_map import CubeMap, directions_of_texels, solid_angles

from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.bundle.runtime.device_materials import DeviceMaterials
from verdigris.core.network.light.environment_light import (
    environment_light,
    environment_light_proxies,
    environment_light_split,
)
from verdigris.core.network.light.sampler import lobes_of, look_at
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.spec import PRESETS

from ..bundles import made_up, stored
from .smooth_environment import SLANG, Smooth

COUNT = 200
SHADER = (
    """
import bundle.runtime.neural_environment;
import bundle.runtime.neural_material;
import bundle.runtime.neural_record;
"""
    + SLANG
    + """
struct Place { float2 uv; float2 random; float3 wo; float roughness; }

StructuredBuffer<Place> places;
StructuredBuffer<NeuralRecord> neuralRecords;
ByteAddressBuffer neuralWeights;
Texture2DArray<float4> neuralLatents[1];
RWStructuredBuffer<float4> lights;
uniform uint count;

[shader("compute")] [numthreads(64, 1, 1)]
void light(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= count)
        return;
    const Place place = places[thread.x];
    const NeuralMaterial material = { neuralRecords[0], neuralWeights, neuralLatents[0] };
    const NeuralSurface surface = prepare(material, place.uv, 0.0, place.wo);
    const Smooth map = {};
    lights[4 * thread.x] = float4(environmentLight(material, surface, map, 16, place.random), 0.0);
    lights[4 * thread.x + 1] = float4(environmentLightSplit(material, surface, map), 0.0);
    const float3 normal = normalize(float3(place.random - 0.5, 2.0));
    lights[4 * thread.x + 2] = float4(environmentLightProxies(
        float3(0.1, 0.2, 0.3), float3(0.5, 0.4, 0.2), normal, place.roughness, place.wo, map), 0.0);
    const float3 passing = float3(0.6, 0.3, 0.1);
    lights[4 * thread.x + 3] = float4(environmentLightProxies(float3(0.1, 0.2, 0.3),
        float3(0.5, 0.4, 0.2), normal, place.roughness, passing, place.wo, map), 0.0);
}
"""
)
CUBE_SHADER = """
import bundle.runtime.neural_environment;
struct Query { float3 direction; float solidAngle; }
StructuredBuffer<Query> queries;
TextureCube<float4> radianceMap;
TextureCube<float4> irradianceMap;
SamplerState trilinear;
RWStructuredBuffer<float4> lights;
uniform float3x3 toWorld;
uniform float width;
uniform uint count;

[shader("compute")] [numthreads(64, 1, 1)]
void look(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= count)
        return;
    const NeuralCubeMap map = { radianceMap, irradianceMap, trilinear, width, toWorld };
    const Query query = queries[thread.x];
    lights[thread.x] = float4(map.radiance(query.direction, query.solidAngle), 0.0);
}
"""


@pytest.fixture(scope="module")
def surfaces():
    """A material, and places of it: uv, wo, two random numbers."""
    exported = made_up(PRESETS["2x16"], seed=5)
    random = np.random.default_rng(2)
    uv, wo = random.random((COUNT, 2)), hemisphere(random, COUNT, 0.02)
    wo[0] = 0, 0, 1
    both = (uv.astype(np.float32), wo.astype(np.float32), random.random((COUNT, 2), np.float32))
    return exported, *both


def prepared(exported, uv, wo):
    """Lobes, and the response as a function of a direction for each place."""
    numbers = exported.parameters.with_double_decoder()
    latents = latents_at_lod(numbers, uv.T.astype(float), np.zeros(len(uv)))
    lobes = lobes_of(numbers, look_at(numbers, latents, wo.T.astype(float)))

    def shade(wi):
        return evaluate_at_lod(numbers, uv, np.zeros(len(uv)), wi.T, wo).T

    return lobes, shade


def test_the_shader_is_the_oracle(software, surfaces):
    exported, uv, wo, random = surfaces
    roughness = random[:, :1]
    materials = DeviceMaterials([stored(exported)], software)
    rows = np.concatenate([uv, random, wo, roughness], 1).astype(np.float32)
    output = materials.device.new_space(4 * COUNT, 16)
    software.dispatch(
        materials.kernel((Source("environment_light_of_tests", SHADER),), "light"),
        COUNT,
        {
            "places": materials.device.new_buffer(rows, 32),
            "count": COUNT,
            "lights": output,
            **materials.bindings(),
        },
    )
    found = output.to_numpy().view(np.float32).reshape(COUNT, 4, 4)[..., :3]
    lobes, shade = prepared(exported, uv, wo)
    numbers = exported.parameters.with_double_decoder()
    normal = np.stack([*(random.T - 0.5), np.full(COUNT, 2.0)]).astype(float)
    normal /= np.linalg.norm(normal, axis=0)
    wide = [np.array(each)[:, None] for each in ((0.1, 0.2, 0.3), (0.5, 0.4, 0.2))]
    passing = np.array([[0.6], [0.3], [0.1]])
    wanted = [
        environment_light(lobes, shade, Smooth(), 16, random.T.astype(float)),
        environment_light_split(numbers, lobes, shade, Smooth(), wo.T.astype(float)),
        environment_light_proxies(*wide, normal, roughness[:, 0], wo.T, Smooth()),
        environment_light_proxies(*wide, normal, roughness[:, 0], wo.T, Smooth(), passing),
    ]
    errors = np.abs(np.moveaxis(found, 0, -1) - wanted) / (np.abs(wanted) + 0.01)
    # a sample on the border of two lobes can fall into the other in single floats
    assert np.percentile(errors, 99, axis=(1, 2)).max() < 1e-3
    assert np.median(errors, axis=(1, 2)).max() < 1e-5


class Contradicted(Smooth):
    """Radiance without a filter, and an irradiance that is not of it."""

    def radiance(self, directions, solid_angle):
        return super().radiance(directions, 0)


class White:
    """Radiance 1 from everywhere."""

    def radiance(self, directions, solid_angle):
        return np.ones_like(directions)

    def irradiance(self, normals):
        return np.full_like(normals, np.pi)


def test_under_a_white_sky_the_samples_are_the_albedo(surfaces):
    """By quadrature over the hemisphere, without the sampler. In a white sky nothing is filtered:
    with many samples the estimate is the integral."""
    exported, uv, wo, random = (
        each[:12] if isinstance(each, np.ndarray) else each for each in surfaces
    )
    lobes, shade = prepared(exported, uv, wo)
    count = 1024
    index = np.arange(count)
    cosine, turn = (index + 0.5) / count, np.pi * (3 - np.sqrt(5)) * index
    sine = np.sqrt(1 - cosine**2)
    total = np.zeros((3, len(uv)))
    for wi in np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], 1):
        total += shade(np.repeat(wi[:, None], len(uv), 1))
    wanted = 2 * np.pi / count * total
    light = partial(environment_light, lobes, shade, White())
    errors = {
        samples: np.abs(light(samples, random.T.astype(float)) / wanted - 1).mean()
        for samples in (16, 256)
    }
    assert errors[256] < 0.03
    assert errors[16] < 0.15


def test_the_control_variate_moves_no_mean(surfaces):
    """A white diffuse surface: the samples' own cosine lobe is taken away as it is added. What is
    left is the difference of irradiances, times the lobe's share."""
    exported, uv, wo, random = surfaces
    lobes, _ = prepared(exported, uv, wo)

    def diffuse(wi):
        return np.tile(np.maximum(wi[2], 0) / np.pi, (3, 1))

    light = environment_light(lobes, diffuse, Contradicted(), 128, random.T.astype(float))
    # of (c + d) cosine / pi over the hemisphere: c + 2/3 along z
    wanted = np.array([1.5, 2.0, 1.2 + 2 / 3])
    share = lobes.weights[-2:].sum(0)
    offset = (3 + np.array([0, 0, 1])) / np.pi - wanted
    np.testing.assert_allclose(light.mean(1), wanted + offset * share.mean(), rtol=0.02)


def texel_levels(cube):
    return [np.concatenate([level, np.ones((*level.shape[:3], 1))], -1) for level in cube.levels]


def upload_cube(gpu, levels):
    import slangpy

    texture = gpu.create_texture(
        type=slangpy.TextureType.texture_cube,
        format=slangpy.Format.rgba32_float,
        width=len(levels[0][0]),
        height=len(levels[0][0]),
        mip_count=len(levels),
        usage=slangpy.TextureUsage.shader_resource,
    )
    for mip, level in enumerate(levels):
        for layer, texels in enumerate(level):
            texture.copy_from_numpy(texels.astype(np.float32).copy(), layer=layer, mip=mip)
    return texture


def test_the_cube_map_is_that_of_a_texture_unit(software):
    """Faces, edges between them and levels, with smooth numbers. Only corners, where three
    texels meet, are each unit's own."""
    cube = CubeMap.of(lambda d: np.exp(d @ np.array([[1.0, 0, -1], [0, 2, 0.5], [0.5, 0, 1]])), 16)
    random = np.random.default_rng(4)
    directions = random.standard_normal((2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    solid_angle = 10 ** random.uniform(-3, 0, 2000)
    rotation = np.linalg.qr(random.standard_normal((3, 3)))[0]
    materials = DeviceMaterials([stored(made_up(PRESETS["2x16"]))], software)
    output = materials.device.new_space(2000, 16)
    queries = np.concatenate([directions, solid_angle[:, None]], 1).astype(np.float32)
    texture = upload_cube(software.gpu, texel_levels(cube))
    software.dispatch(
        materials.kernel((Source("cube_map_of_tests", CUBE_SHADER),), "look"),
        2000,
        {
            "queries": materials.device.new_buffer(queries, 16),
            "radianceMap": texture,
            "irradianceMap": texture,
            "trilinear": materials.sampler,
            "lights": output,
            "toWorld": rotation.astype(np.float32),
            "width": 16.0,
            "count": 2000,
        },
    )
    found = output.to_numpy().view(np.float32).reshape(-1, 4)[:, :3]
    wanted = cube.radiance(directions @ rotation.T, solid_angle)
    errors = np.abs(found / wanted - 1).max(1)
    fine = solid_angle < 0.03
    assert np.percentile(errors[fine], 98) < 1e-5
    assert np.percentile(errors, 90) < 0.01


def test_texels_of_a_cube_map_look_where_they_are_and_cover_the_sphere():
    size = 8
    cube = CubeMap.of(lambda d: d, size, samples=1)
    np.testing.assert_allclose(cube.levels[0], directions_of_texels(size), atol=1e-12)
    centres = directions_of_texels(size).reshape(-1, 3)
    found = cube.radiance(centres, np.full(len(centres), 1e-6))
    np.testing.assert_allclose(found, centres, atol=1e-12)
    assert solid_angles(size).sum() * 6 == pytest.approx(4 * np.pi)
    assert [len(level[0]) for level in cube.levels] == [8, 4, 2, 1]
