"""neural_environment_sides.slang against its oracle in numpy, and that against quadrature."""

import numpy as np
import pytest

from verdigris.core.base.kernels import Source
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.environment_sides import (
    environment_light_of_sides,
    environment_light_split_of_sides,
    leave_solid,
)
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod

from ..bundles import make_bundle
from .smooth_environment import SLANG, Smooth
from .test_sides import lively_sides

COUNT = 60
SHADER = Source(
    "test_environment_sides",
    """
import bundle.runtime.bundle_material;
import bundle.runtime.neural_environment;
import bundle.runtime.neural_environment_sides;
import bundle.runtime.neural_material;
import bundle.runtime.neural_sides;
"""
    + SLANG
    + """
struct Place { float2 uv; float2 random; float3 wo; float reserved; }

StructuredBuffer<Place> places;
RWStructuredBuffer<float4> lights;
uniform uint count;

[shader("compute")] [numthreads(64, 1, 1)]
void light(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= count)
        return;
    const Place place = places[thread.x];
    const NeuralSides sides = bundleSides();
    const NeuralSidesSurface surface = prepare(sides, place.uv, 0.0, place.wo);
    const Smooth map = {};
    lights[2 * thread.x] = float4(environmentLight(sides, surface, map, 16, place.random), 0.0);
    lights[2 * thread.x + 1] = float4(environmentLightSplit(sides, surface, map), 0.0);
}
""",
)


class Places:
    """A material that transmits, at places under views, in double precision."""

    def __init__(self, bundle):
        random = np.random.default_rng(6)
        cosine, turn = random.uniform(0.1, 1, COUNT), 2 * np.pi * random.random(COUNT)
        sine = np.sqrt(1 - cosine**2)
        self.wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], 1).astype("<f4")
        self.uv, self.random = random.random((2, COUNT, 2)).astype("<f4")
        self.numbers = bundle.exact_parameters().astype(np.float64)
        latents = latents_at_lod(self.numbers, self.uv.T.astype(float), np.zeros(COUNT))
        self.sampler = SphereSampler.at(self.numbers, latents, self.wo.T.astype(float))

    def shade(self, parameters):
        def shade(wi):
            return evaluate_at_lod(parameters, self.uv, np.zeros(COUNT), wi.T, self.wo).T

        return shade

    def sampled(self, samples, environment):
        shade, random = self.shade(self.numbers), self.random.T.astype(float)
        return environment_light_of_sides(self.sampler, shade, environment, samples, random)


@pytest.fixture(scope="module", params=[1.0, 1.5])
def bundle(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides") / "leaf.vdg"
    return make_bundle(folder, lively_sides(request.param))


@pytest.fixture(scope="module")
def places(bundle):
    return Places(bundle)


def test_the_shader_is_the_oracle(bundle, places, software):
    material = BundleMaterial(bundle, software)
    rows = np.concatenate([places.uv, places.random, places.wo, places.uv[:, :1]], 1)
    output = software.new_space(2 * COUNT, 16)
    given = {"places": software.new_buffer(rows.ravel(), 32), "lights": output, "count": COUNT}
    software.dispatch(material.kernel(SHADER, "light"), COUNT, given | material.bindings())
    found = output.to_numpy().view(np.float32).reshape(COUNT, 2, 4)[..., :3]
    shades = tuple(map(places.shade, places.numbers.sides))
    split = environment_light_split_of_sides(places.numbers, places.sampler, shades, Smooth())
    for number, wanted in enumerate((places.sampled(16, Smooth()), split)):
        errors = np.abs(found[:, number].T - wanted) / (np.abs(wanted) + 0.01)
        # a sample on the border of two lobes can fall into the other in single floats
        assert np.percentile(errors, 95) < 2e-3, number
        assert (wanted > 0.01).mean() > 0.9


class Linear:
    """Light that no filter changes, with its irradiance in closed form."""

    colour = np.array([[1.5], [2.0], [1.2]])

    def radiance(self, directions, solid_angle):
        return self.colour + 0.8 * directions

    def irradiance(self, normals):
        return np.pi * self.colour + 0.8 * 2 * np.pi / 3 * normals


def test_many_samples_are_the_integral_over_the_sphere(places):
    """Light below a solid comes from where it leaves it."""
    count, chosen = 20000, 12
    z = (2 * np.arange(count) + 1) / count - 1
    turn = 2 * np.pi * ((np.arange(count) * 0.6180339887498949) % 1)
    wi = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z])
    outside, share, _ = leave_solid(wi, places.sampler.index)
    light = 4 * np.pi / count * share * Linear().radiance(outside, 0.0)
    uv, wo = (np.repeat(each[:chosen], count, 0) for each in (places.uv, places.wo))
    many = np.tile(wi.T, (chosen, 1))
    found = evaluate_at_lod(places.numbers, uv, np.zeros(len(uv)), many, wo)
    exact = (found.reshape(chosen, count, 3) * light.T).sum(1)
    seen = places.sampled(512, Linear()).T[:chosen]
    assert np.median(np.abs(seen - exact) / exact) < 0.03
    assert seen.mean() / exact.mean() == pytest.approx(1, abs=0.02)
