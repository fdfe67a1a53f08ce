"""Frames whose hits are shaded by compute shaders, from a queue for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import slangpy as spy
from neural_pack import NeuralPack
from tracer import (
    BOUNCES,
    PAYLOAD_BYTES,
    Scene,
    Shaders,
    camera,
    create_session,
    lights,
    seconds_of,
)

# Path and Found of path_state.slang
_PATH_BYTES, _FOUND_BYTES = 128, 24


class WavefrontTracer:
    """As Tracer. A launch of rays and the shaders of all queues take turns."""

    def __init__(
        self,
        gpu: spy.Device,
        include: Sequence[Path],
        scene: Scene,
        pack: NeuralPack,
        shaders: Shaders,
        has_simple_sampler: bool = False,
    ) -> None:
        self._gpu = gpu
        session = create_session(gpu, include, pack, ENGINE_SIMPLE_SAMPLER=int(has_simple_sampler))
        base, rays = session.load_module("path_queues"), session.load_module("rays")
        points = [base.entry_point(name) for name in ("extendPaths", "missRay", "findRay")]
        program = session.link_program([base, rays], [*points, rays.entry_point("missLight")])
        hit = spy.HitGroupDesc(hit_group_name="found", closest_hit_entry_point="findRay")
        self._rays = gpu.create_ray_tracing_pipeline(
            program=program, hit_groups=[hit], max_recursion=1, max_ray_payload_size=PAYLOAD_BYTES
        )
        self._table = gpu.create_shader_table(
            program=program,
            ray_gen_entry_points=["extendPaths"],
            miss_entry_points=["missRay", "missLight"],
            hit_group_names=["found"] * len(shaders.entries),
        )
        self._queues = []
        for entry, source in shaders.sources.items():
            text = f"#define ENGINE_QUEUE_SHADER {entry}\n{source}"
            module = session.load_module_from_source(f"module_{entry}", text)
            linked = session.link_program([module], [module.entry_point(entry)])
            self._queues.append(gpu.create_compute_pipeline(program=linked))
        names = list(shaders.sources)
        shader_of = np.array([names.index(entry) for entry in shaders.entries], np.uint32)
        self._bindings = {
            **scene.bindings(),
            **pack.bindings(),
            **shaders.bindings,
            "gLights": lights(),
            "gShaders": len(names),
            "gShaderOf": gpu.create_buffer(
                struct_size=4, data=shader_of, usage=spy.BufferUsage.shader_resource
            ),
        }

    def trace(self, sums: spy.Buffer, size: tuple[int, int], frames: int = 1, samples: int = 1,
              first: int = 0, bounces: int = BOUNCES, seed: int = 1) -> float:  # fmt: skip
        """Adds samples to `sums`, some for each frame. Returns the seconds of a frame."""
        pixels, shaders = size[0] * size[1], len(self._queues)
        lengths = self._create_buffer(4, max(bounces, 1) * shaders)
        state = {
            "gSums": sums,
            "gPixels": pixels,
            "gLengths": lengths,
            "gPaths": self._create_buffer(_PATH_BYTES, pixels),
            "gFound": self._create_buffer(_FOUND_BYTES, pixels),
            "gQueues": self._create_buffer(4, pixels * shaders),
        }
        frame = {
            "camera": camera(size[0] / size[1]), "samples": 1, "bounces": bounces, "seed": seed,
        }  # fmt: skip
        encoder = self._gpu.create_command_encoder()
        for sample in range(first, first + frames * samples):
            encoder.clear_buffer(lengths)
            for bounce in range(bounces + 1):
                bound = {
                    **self._bindings, **state,
                    "gFrame": {**frame, "firstSample": sample, "bounce": bounce},
                }  # fmt: skip
                encoder.global_barrier()
                with encoder.begin_ray_tracing_pass() as rays:
                    _write(spy.ShaderCursor(rays.bind_pipeline(self._rays, self._table)), bound)
                    rays.dispatch_rays(0, [*size, 1])
                encoder.global_barrier()
                # after the last rays nothing is shaded
                for index, queue in enumerate(self._queues if bounce < bounces else ()):
                    with encoder.begin_compute_pass() as shading:
                        cursor = spy.ShaderCursor(shading.bind_pipeline(queue))
                        _write(cursor, bound | {"gShader": index})
                        shading.dispatch([pixels, 1, 1])
        return seconds_of(self._gpu, encoder) / frames

    def _create_buffer(self, size: int, count: int) -> spy.Buffer:
        usage = spy.BufferUsage.unordered_access | spy.BufferUsage.shader_resource
        return self._gpu.create_buffer(struct_size=size, size=size * count, usage=usage)


def _write(cursor: spy.ShaderCursor, bindings: dict[str, Any]) -> None:
    """Binds what the program has."""
    cursor.write({name: value for name, value in bindings.items() if cursor.has_field(name)})
