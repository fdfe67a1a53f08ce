"""Pictures of networks that numpy draws, against those of the device's own kernels."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.geometry.shapes import shape_mesh
from verdigris.core.lighting.environment import Environment
from verdigris.core.lighting.named_environments import make_sky
from verdigris.core.material.evaluator import POINT, Footprint
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.network.student import Student
from verdigris.core.pictures import environment_render
from verdigris.core.pictures import render as studio
from verdigris.core.pictures.environment_render import EnvironmentLighting, render_under
from verdigris.core.pictures.listed_light import NetworkLight, network_of
from verdigris.core.pictures.render import Lighting, render

from ..bundle.bundles import made_up, make_bundle


@pytest.fixture(scope="module")
def software():
    return open_device("software")


@pytest.fixture(scope="module")
def glowing(software, tmp_path_factory):
    """A bundle with holes, a glow and a live input."""
    glow = np.zeros((2, 2, 4), np.float16)
    glow[0, 0, :3], glow[1, 1, :3] = (0.4, 0.2, 0.1), (0, 0, 0.8)
    levels = [glow, glow.mean((0, 1), keepdims=True).astype(np.float16)]
    opacity = [np.uint8([[[255], [51]]]), np.full((1, 1, 1), 153, np.uint8)]
    exported = made_up(NetworkSpec(6, 2, "silu", live_inputs=1))
    wetness = LiveInput("wetness", "float", (0.0,), (2.0,), 0.25)
    path = tmp_path_factory.mktemp("glowing") / "a.vdg"
    bundle = make_bundle(path, exported, live=(wetness,), emission=levels, opacity=opacity)
    material = BundleMaterial(bundle, software)
    material.live = (0.9,)
    return material


def second_of_two(software, activation):
    """The second material of a network with two, on its second level."""
    spec = NetworkSpec(16, 2, activation)
    parameters = initialise(spec, LatentLayout(16, 8, 4, 2), 5)
    parameters.latents *= 8
    return Student(parameters, software, material=1, level=1.0)


def both_ways(draw, monkeypatch):
    in_numpy = draw()
    for module in (environment_render, studio):
        monkeypatch.setattr(module, "network_of", lambda *_: None)
    return in_numpy, draw()


def check_same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=5e-3, atol=1e-3)
    assert wanted[..., :3].std() > 0.02


def in_small_parts(monkeypatch):
    for module in (environment_render, studio):
        monkeypatch.setattr(module, "DIRECTIONS_ON_CPU", 5000)
    monkeypatch.setattr(environment_render, "PIXELS_ON_CPU", 700)


@pytest.mark.parametrize("shape", ["sphere", "ball"])
def test_under_a_sky_with_shadows_numpy_draws_what_the_device_draws(glowing, shape, monkeypatch):
    in_small_parts(monkeypatch)
    # the device's kernel of a network does not know its highlights
    monkeypatch.setattr(
        NetworkLight, "highlights", lambda self, uv: np.zeros((len(uv), 8), np.float32)
    )
    mesh = None if shape == "sphere" else shape_mesh(shape)
    lighting = EnvironmentLighting.upload(glowing.device, make_sky().turned(30), mesh)
    found, wanted = both_ways(
        lambda: render_under(glowing, lighting, shape, 20, mesh, 16, is_flat=True), monkeypatch
    )
    check_same(found, wanted)
    inside = wanted[..., 3]
    assert 0 < inside[10, 10] < 1


def test_in_the_studio_numpy_draws_what_the_device_draws(software, monkeypatch):
    in_small_parts(monkeypatch)
    material = second_of_two(software, "leaky_smelu")
    found, wanted = both_ways(
        lambda: render(material, "plane", 24, None, Lighting(samples=11), is_flat=True), monkeypatch
    )
    check_same(found, wanted)


def test_emission_and_coverage_count_in_the_studio(glowing, monkeypatch):
    lighting = Lighting(environment=0.0, emission=0.5)
    found, wanted = both_ways(
        lambda: render(glowing, "plane", 16, None, lighting, is_flat=True), monkeypatch
    )
    check_same(found, wanted)


def test_the_kernel_of_a_network_is_not_compiled(software, monkeypatch):
    material = second_of_two(software, "silu")

    def kernel(*_):
        pytest.fail("the kernel of the network was compiled")

    monkeypatch.setattr(material, "kernel", kernel)
    lighting = EnvironmentLighting.upload(software, Environment.of(np.ones((8, 16, 3), "f4")))
    lit = render_under(material, lighting, "sphere", 8, samples=4, is_flat=True)
    assert (lit[4, 4] > 0).all()
    assert (render(material, "sphere", 8, is_flat=True)[4, 4] > 0).all()


def test_other_levels_and_means_over_places_stay_on_the_device(software, glowing):
    student = second_of_two(software, "silu")
    assert network_of(student, POINT) is not None
    assert network_of(student, Footprint(0.1, 4)) is None
    student.level = 1.5
    assert network_of(student, POINT) is None
    glowing.lod = 1.0
    assert network_of(glowing, POINT) is None
    glowing.lod = 0.0
    assert network_of(glowing, POINT) is not None
