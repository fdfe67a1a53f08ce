"""Pictures of relief against displaced meshes, and its shadows against numpy."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
from verdigris.core.geometry import relief
from verdigris.core.geometry.displaced_mesh import base_mesh, displace
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.lighting.environment import Environment
from verdigris.core.pictures.backdrop import Ground
from verdigris.core.pictures.compare.metrics import ldr_flip
from verdigris.core.pictures.environment_render import EnvironmentLighting, render_under
from verdigris.core.pictures.gbuffer import Camera, make_gbuffer
from verdigris.core.pictures.relief import DeviceHeights
from verdigris.core.pictures.render import Lighting, shade

SIZE, TEXELS = 72, 64
CODE = """import material.teacher.interface;
struct Tiles : ITeacher
{
    static float4 look(SurfacePoint point, float3 wi, float3 wo, bool isLit)
    {
        const float2 tile = floor(8.0 * point.uv);
        const bool isDark = (int(tile.x + tile.y) & 1) != 0;
        const float3 colour = isDark ? float3(0.3, 0.1, 0.1) : float3(0.8, 0.7, 0.5);
        return float4(isLit ? colour * max(wi.z, 0.0) / 3.14159265 : float3(0.0), 1.0);
    }
}
export struct Material : ITeacher = Tiles;
export static const uint kLanesPerSample = 1;
"""


class Tiles(Ground):
    """A diffuse chequerboard."""

    def kernel(self, source, entry):
        return self._kernels.get((source, Source("test_tiles", CODE)), entry)


@pytest.fixture(scope="module")
def tiles():
    return Tiles(open_device("software"))


@pytest.fixture(scope="module")
def heights():
    """Rounded cobbles, 6 hundredths high."""
    v, u = (np.mgrid[0:TEXELS, 0:TEXELS] + 0.5) * 5 / TEXELS
    away = np.maximum(np.abs(u % 1 - 0.5), np.abs(v % 1 - 0.5))
    return make_height_map((0.06 * np.clip(1.2 - (2.2 * away) ** 4, 0, 1)).astype(np.float32))


@pytest.mark.parametrize(("angle", "zoom"), [(30, 1.8), (45, 2.0), (70, 3.5)])
def test_relief_looks_like_the_displaced_mesh(tiles, heights, angle, zoom):
    texels = np.full((16, 32, 3), 0.4, np.float32)
    texels[3:5, 6:9] = 12
    camera = Camera(pitch=-angle, zoom=zoom)

    def seen(shown):
        occluder = shown if isinstance(shown, Mesh) else None
        lit = EnvironmentLighting.upload(tiles.device, Environment.of(texels), occluder)
        return render_under(
            tiles, lit, "plane", SIZE, None, 24, 1, is_flat=True, camera=camera, relief=shown
        )

    mesh = displace(base_mesh("plane", None), heights)
    flat, found, expected = map(seen, (None, DeviceHeights.upload(tiles.device, heights), mesh))
    # silhouettes, which relief does not have, are outside
    inside = slice(12, -12)
    pictures = [each[inside, inside, :3] for each in (flat, found, expected)]
    assert all(each[inside, inside, 3].min() == 1 for each in (flat, found, expected))
    assert ldr_flip(pictures[0], pictures[2])[0] > 0.1
    assert ldr_flip(pictures[1], pictures[2])[0] < 0.04


@pytest.mark.parametrize("kind", ["plane", "sphere", "tile"])
def test_places_and_frames_are_those_of_the_displaced_mesh(heights, kind):
    device = open_device("software")
    low = replace(heights, scale=0.3 * heights.scale)
    camera = Camera(pitch=-20)
    found = make_gbuffer(kind, SIZE, None, camera, DeviceHeights.upload(device, low))
    mesh = displace(base_mesh(kind, None), low)
    expected = make_gbuffer(kind, SIZE, None, camera, mesh)
    _, one, other = np.intersect1d(found.pixel, expected.pixel, return_indices=True)
    assert len(one) > 0.9 * len(found.pixel)
    for name, most in (("position", 0.004), ("normal", 0.08), ("tangent", 0.08)):
        off = np.linalg.norm(getattr(found, name)[one] - getattr(expected, name)[other], axis=1)
        assert np.median(off) < most, name


def test_each_light_throws_the_shadows_of_the_relief(tiles, heights):
    uploaded = DeviceHeights.upload(tiles.device, heights)
    gbuffer = make_gbuffer("plane", SIZE, None, Camera(), uploaded)
    low = np.array([0.9, 0.2, 0.25])
    light = Lighting(tuple(low), environment=0.0)
    found = shade(tiles, gbuffer, light, is_flat=True)[:, 1] > 0
    place = relief.Relief(gbuffer.uv.astype(float), gbuffer.base[:, 13].astype(float))
    wi = np.tile(low / np.linalg.norm(low), (len(found), 1))
    expected = relief.lit(heights, place, wi, np.ones((len(wi), 2)))
    expected &= (gbuffer.normal @ wi[0]) > 0
    assert (found == expected).mean() > 0.99 and 0.2 < expected.mean() < 0.8
