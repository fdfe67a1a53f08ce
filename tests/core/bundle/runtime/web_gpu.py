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


def upload(opened, stored):
    """The latents' view, and the material's record."""
    gpu, device = opened
    latents = stored.latents
    count, height, width = latents.levels[0].shape[:3]
    texture = device.create_texture(
        size=(width, height, count),
        mip_level_count=len(latents.levels),
        format="rgba8unorm",
        usage=gpu.TextureUsage.COPY_DST | gpu.TextureUsage.TEXTURE_BINDING,
    )
    for level, data in enumerate(latents.levels):
        layers, rows, columns = data.shape[:3]
        device.queue.write_texture(
            {"texture": texture, "mip_level": level},
            np.ascontiguousarray(data),
            {"bytes_per_row": 4 * columns, "rows_per_image": rows},
            (columns, rows, layers),
        )
    record = np.zeros(32, "<u4")
    for start, numbers in ((0, latents.scale), (8, latents.offset)):
        record[start : start + len(numbers)] = np.float32(numbers).view("<u4")
    record[16:19] = width, height, len(latents.levels)
    return texture.create_view(dimension="2d-array"), record


def evaluate_wgsl(opened, code, stored, constants, queries, index=None):
    """The answers [N, 12] of portable.wgsl. With an index, `constants` has both decoders; 0 is an
    opaque surface in a scene pack."""
    gpu, device = opened
    view, record = upload(opened, stored)
    uniform, storage = gpu.BufferUsage.UNIFORM, gpu.BufferUsage.STORAGE
    sampler = device.create_sampler(
        mag_filter="linear",
        min_filter="linear",
        mipmap_filter="linear",
        address_mode_u="repeat",
        address_mode_v="repeat",
    )
    bound = [
        (record, uniform),
        (np.frombuffer(constants, np.uint8), uniform),
        view,
        sampler,
        (queries, storage),
        None,
        (np.uint32([len(queries), 0, 0, 0]), uniform),
    ]
    if index is not None:
        bound += [..., (second_record(record, len(stored.weights), index), uniform)]
    return run_shader(opened, code, "evaluateQueries", bound, len(queries))


def second_record(record, start, index):
    """Of a surface that transmits, with the decoder for light from below at `start`."""
    if index == 0:
        return np.zeros_like(record)
    below = record.copy()
    below[20] = start
    below[29:30] = np.float32([index]).view("<u4")
    return below


def evaluate_spirv(opened, code, stored, queries, index=None):
    """The same of portable.spv and of portable.glsl in SPIR-V, at the bindings of the guide. With
    an index, the weights are those of both decoders."""
    gpu = opened[0]
    view, record = upload(opened, stored)
    if index:
        below = second_record(record, len(stored.weights) // 2, index)
        record = np.concatenate([record, below])
    storage = gpu.BufferUsage.STORAGE
    bound = [
        (np.uint32([len(queries), 0, 0, 0]), gpu.BufferUsage.UNIFORM),
        (queries, storage),
        (record, storage),
        (np.frombuffer(stored.weights, np.uint8), storage),
        view,
        None,
    ]
    return run_shader(opened, code, "main", bound, len(queries))


def run_shader(opened, code, entry, bound, count, numbers=12):
    """Runs 64 threads a group. `bound` is by binding; the answers, so many numbers a thread, go
    where it has None, and nothing where it has an ellipsis."""
    gpu, device = opened
    usage = gpu.BufferUsage.STORAGE | gpu.BufferUsage.COPY_SRC
    answers = device.create_buffer(size=4 * numbers * count, usage=usage)

    def resource(each):
        if each is None:
            return {"buffer": answers}
        if isinstance(each, tuple):
            return {"buffer": device.create_buffer_with_data(data=each[0], usage=each[1])}
        return each

    module = device.create_shader_module(code=code)
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": entry}
    )
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[
            {"binding": place, "resource": resource(each)}
            for place, each in enumerate(bound)
            if each is not ...
        ],
    )
    encoder = device.create_command_encoder()
    commands = encoder.begin_compute_pass()
    commands.set_pipeline(pipeline)
    commands.set_bind_group(0, group)
    commands.dispatch_workgroups(-(-count // 64))
    commands.end()
    device.queue.submit([encoder.finish()])
    return (
        np.frombuffer(device.queue.read_buffer(answers), "<f4").reshape(-1, numbers).astype(float)
    )
