"""Evaluates portable.wgsl with wgpu, that is by naga or Tint, on the software device."""

import importlib

import numpy as np
import pytest

QUERY = np.dtype(
    [
        *(("uv", "<f4", 2), ("lod", "<f4"), ("is_sampled", "<u4")),
        *(("wi", "<f4", 3), ("random", "<f4"), ("wo", "<f4", 3), ("random2", "<f4")),
    ]
)
COMPILERS = {"wgpu": "naga", "wgpudawn": "Tint"}


def open_gpu(package):
    """The package, and its device."""
    gpu = pytest.importorskip(package, reason=f"{package} is not installed")
    if package == "wgpu":
        importlib.import_module("wgpu.backends.wgpu_native")
    adapter = gpu.gpu.request_adapter_sync(power_preference="low-power")
    if adapter is None:
        pytest.skip(f"{package} finds no device")
    return gpu, adapter.request_device_sync()


def evaluate_wgsl(opened, code, stored, constants, queries):
    """The answers [N, 12] of portable.wgsl."""
    gpu, device = opened
    texels, latents = stored.latents.levels, stored.latents
    height, width = texels[0].shape[1:3]
    texture = device.create_texture(
        size=(width, height, 2),
        mip_level_count=len(texels),
        format="rgba8unorm",
        usage=gpu.TextureUsage.COPY_DST | gpu.TextureUsage.TEXTURE_BINDING,
    )
    for level, data in enumerate(texels):
        layers, rows, columns = data.shape[:3]
        device.queue.write_texture(
            {"texture": texture, "mip_level": level},
            np.ascontiguousarray(data),
            {"bytes_per_row": 4 * columns, "rows_per_image": rows},
            (columns, rows, layers),
        )
    record = np.zeros(32, "<u4")
    record[:8] = np.float32(latents.scale).view("<u4")
    record[8:16] = np.float32(latents.offset).view("<u4")
    record[16:19] = width, height, len(texels)
    uniform, storage = gpu.BufferUsage.UNIFORM, gpu.BufferUsage.STORAGE
    answers = device.create_buffer(size=48 * len(queries), usage=storage | gpu.BufferUsage.COPY_SRC)
    sampler = device.create_sampler(
        mag_filter="linear",
        min_filter="linear",
        mipmap_filter="linear",
        address_mode_u="repeat",
        address_mode_v="repeat",
    )

    def buffer(data, usage):
        return {"buffer": device.create_buffer_with_data(data=data, usage=usage)}

    bound = [
        buffer(record, uniform),
        buffer(np.frombuffer(constants, np.uint8), uniform),
        texture.create_view(dimension="2d-array"),
        sampler,
        buffer(queries, storage),
        {"buffer": answers},
        buffer(np.uint32([len(queries), 0, 0, 0]), uniform),
    ]
    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "evaluateQueries"}
    )
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[{"binding": place, "resource": each} for place, each in enumerate(bound)],
    )
    encoder = device.create_command_encoder()
    commands = encoder.begin_compute_pass()
    commands.set_pipeline(pipeline)
    commands.set_bind_group(0, group)
    commands.dispatch_workgroups(-(-len(queries) // 64))
    commands.end()
    device.queue.submit([encoder.finish()])
    found = device.queue.read_buffer(answers)
    return np.frombuffer(found, "<f4").reshape(-1, 12).astype(float)
