"""A texture unit has the texels of BC7 blocks that the decoder in numpy has, to the bit."""

import numpy as np
import slangpy

from verdigris.core.bundle.files.ktx2 import BC7
from verdigris.core.bundle.runtime.device_materials import has_blocks, upload_texture
from verdigris.core.network.latents import bc7
from verdigris.core.network.latents.block_lines import decode

from ...network.latents.test_bc7 import random_blocks

# Of two layers, down to levels that are smaller than a block, and of sizes between blocks.
HEIGHT, WIDTH, LEVELS = 13, 22, 5
SHADER = """
[shader("compute")]
[numthreads(8, 8, 1)]
void readTexels(
    uint3 place: SV_DispatchThreadID,
    uniform Texture2DArray<float4> source,
    uniform RWStructuredBuffer<float4> found,
    uniform uint2 size,
    uniform int level)
{
    if (all(place.xy < size))
        found[(place.z * size.y + place.y) * size.x + place.x]
            = source.Load(int4(int3(place), level));
}
"""


def test_every_level_of_odd_sizes_decodes_to_the_bit(software):
    assert has_blocks(software)
    sizes = [(max(1, HEIGHT >> level), max(1, WIDTH >> level)) for level in range(LEVELS)]
    counts = [tuple(map(bc7.blocks_of, size)) for size in sizes]
    levels = [
        random_blocks(2 * rows * columns, seed).reshape(2, rows, columns, 16)
        for seed, (rows, columns) in enumerate(counts)
    ]
    texture = upload_texture(software, BC7, levels, (HEIGHT, WIDTH))
    gpu = software.gpu
    module = gpu.load_module_from_source("texels_of_blocks", SHADER)
    program = gpu.link_program([module], [module.entry_point("readTexels")])
    kernel = gpu.create_compute_kernel(program)
    usage = slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.copy_source
    for number, (height, width) in enumerate(sizes):
        buffer = gpu.create_buffer(size=32 * height * width, struct_size=16, usage=usage)
        kernel.dispatch(
            [width, height, 2],
            source=texture,
            found=buffer,
            size=slangpy.uint2(width, height),
            level=number,
        )
        found = np.array(buffer.to_numpy()).reshape(-1).view(np.uint8).view(np.float32)
        expected = decode(levels[number], height, width) / np.float32(255)
        np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-7)
