"""Blocks of BC6H: against the texture unit, and the size of maps."""

import numpy as np
import pytest
import slangpy

from verdigris.core.baking.measure.bundle_size import as_small_as_needed
from verdigris.core.bundle.files import bc6h

SHADER = """
Texture2D<float4> image;
RWStructuredBuffer<float4> found;
[shader("compute")]
[numthreads(1, 1, 1)]
void read(uint3 at: SV_DispatchThreadID)
{
    uint width, height;
    image.GetDimensions(width, height);
    found[at.y * width + at.x] = image[at.xy];
}
"""


def glows():
    """Maps of several kinds, [height, width, 3]."""
    random = np.random.default_rng(4)
    v, u = np.mgrid[0:16, 0:32] / 16
    ramp = np.stack([u, 2 * v, np.ones_like(u)], 2)
    spots = random.uniform(0, 1, (16, 16, 3)) ** 8 * 60
    return {
        "ramp": ramp,
        "spots": spots,
        "black": np.zeros((8, 8, 3)),
        "brightest": np.full((4, 4, 3), 65504.0),
        "edge": np.where(u[..., None] > 0.9, [5, 0, 0.1], 0),
    }


@pytest.mark.parametrize("name", glows())
def test_a_texture_unit_decodes_the_same_bits(name, software):
    level = glows()[name].astype(np.float16)
    height, width = level.shape[:2]
    blocks = bc6h.encode(level)
    assert bc6h.is_known(blocks).all() and blocks.shape == (height // 4, width // 4, 16)
    gpu = software.gpu
    texture = gpu.create_texture(
        width=width,
        height=height,
        format=slangpy.Format.bc6h_ufloat,
        usage=slangpy.TextureUsage.shader_resource,
    )
    texture.copy_from_numpy(blocks)
    usage = slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.shader_resource
    found = gpu.create_buffer(element_count=width * height, struct_size=16, usage=usage)
    module = gpu.load_module_from_source("read_bc6h", SHADER)
    program = gpu.link_program([module], [module.entry_point("read")])
    gpu.create_compute_kernel(program).dispatch(
        [width, height, 1], vars={"image": texture, "found": found}
    )
    texels = found.to_numpy().view(np.float32).reshape(height, width, 4)
    decoded = bc6h.decode(blocks, height, width)
    np.testing.assert_array_equal(texels[..., :3], decoded.astype(np.float32))


def test_smooth_glow_is_kept_and_black_stays_black():
    for name, most in (("ramp", 0.02), ("black", 0.0), ("brightest", 0.002), ("edge", 0.002)):
        level = glows()[name].astype(np.float16)
        found = bc6h.decode(bc6h.encode(level), *level.shape[:2]).astype(np.float64)
        wanted = level.astype(np.float64)
        assert np.abs(np.log1p(found) - np.log1p(wanted)).mean() <= most, name
    # a level below a block repeats its edge
    one = np.full((1, 2, 3), 0.5, np.float16)
    np.testing.assert_allclose(bc6h.decode(bc6h.encode(one), 1, 2), one, rtol=2e-3)


def test_a_map_keeps_the_texels_that_are_seen():
    flat = np.full((64, 64, 3), 2.0, np.float32)
    assert as_small_as_needed(flat).shape == (4, 4, 3)
    u = (np.arange(64) + 0.5) / 64
    wave = np.tile((1 + 0.1 * np.sin(2 * np.pi * u))[None], (64, 1)).astype(np.float32)
    assert 16 <= len(as_small_as_needed(wave)) <= 32
    noise = np.random.default_rng(1).random((32, 32)).astype(np.float32)
    assert as_small_as_needed(noise) is noise


def test_blocks_of_one_colour_are_nearer_than_endpoints_are_to_each_other():
    colours = 10 ** np.random.default_rng(3).uniform(-1.5, 2, (64, 64, 3))
    level = colours.repeat(4, 0).repeat(4, 1).astype(np.float16)
    found = bc6h.decode(bc6h.encode(level), 256, 256).astype(np.float64)
    change = np.abs(found / level.astype(np.float64) - 1)
    assert change.max() < 0.01 and change.mean() < 0.002
