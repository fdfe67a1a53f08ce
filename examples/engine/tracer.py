"""Acceleration structures, pipelines and frames of the path tracer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import room
import slangpy as spy
from graphs import Graph
from neural_pack import NeuralPack
from room import Placed

SHADERS = Path(__file__).parent / "shaders"
VERTEX = np.dtype([("position", "<f4", 3), ("u", "<f4"), ("normal", "<f4", 3), ("v", "<f4")])
BOUNCES = 4
PAYLOAD_BYTES = 128
_INSTANCE = np.dtype([("numbers", "<u4", 4), ("rows", "<f4", (3, 4))])


class Scene:
    """The room on a device. `materials` gives the material of each slot."""

    def __init__(self, gpu: spy.Device, placed: Sequence[Placed], materials: Sequence[int]) -> None:
        self._gpu = gpu
        meshes = list({id(each.mesh): each.mesh for each in placed}.values())
        starts = {}
        vertices, indices = [], []
        points = triangles = 0
        for mesh in meshes:
            vertex = np.zeros(len(mesh.points), VERTEX)
            vertex["position"], vertex["normal"] = mesh.points, mesh.normals
            vertex["u"], vertex["v"] = mesh.uvs.T
            vertices.append(vertex)
            indices.append(mesh.triangles)
            starts[id(mesh)] = points, 3 * triangles
            points, triangles = points + len(mesh.points), triangles + len(mesh.triangles)
        self.triangles = sum(len(each.mesh.triangles) for each in placed)
        inputs = spy.BufferUsage.acceleration_structure_build_input
        usage = spy.BufferUsage.shader_resource
        self._vertices = gpu.create_buffer(
            struct_size=32, data=np.concatenate(vertices).view(np.uint8), usage=usage | inputs
        )
        self._indices = gpu.create_buffer(
            struct_size=4, data=np.concatenate(indices).reshape(-1), usage=usage | inputs
        )
        slots = [materials[each.slot] for each in placed]
        instances = np.zeros(len(placed), _INSTANCE)
        for instance, each, slot in zip(instances, placed, slots, strict=True):
            instance["numbers"] = *starts[id(each.mesh)], slot, 0
            instance["rows"] = each.transform()
        self._instances = gpu.create_buffer(
            struct_size=_INSTANCE.itemsize, data=instances.view(np.uint8), usage=usage
        )
        self._bottom = {id(mesh): self._build_mesh(mesh, *starts[id(mesh)]) for mesh in meshes}
        self.top = self._build_top(placed, slots)

    def bindings(self) -> dict[str, Any]:
        return {
            "gScene": self.top,
            "gVertices": self._vertices,
            "gIndices": self._indices,
            "gInstances": self._instances,
        }

    def _build_mesh(self, mesh, first_vertex: int, first_index: int) -> spy.AccelerationStructure:
        geometry = spy.AccelerationStructureBuildInputTriangles()
        geometry.vertex_buffers = [spy.BufferOffsetPair(self._vertices, 32 * first_vertex)]
        geometry.vertex_format = spy.Format.rgb32_float
        geometry.vertex_count = len(mesh.points)
        geometry.vertex_stride = 32
        geometry.index_buffer = spy.BufferOffsetPair(self._indices, 4 * first_index)
        geometry.index_format = spy.IndexFormat.uint32
        geometry.index_count = 3 * len(mesh.triangles)
        geometry.flags = spy.AccelerationStructureGeometryFlags.opaque
        return self._build([geometry])

    def _build_top(self, placed: Sequence[Placed], slots: list[int]) -> spy.AccelerationStructure:
        instances = self._gpu.create_acceleration_structure_instance_list(len(placed))
        for index, (each, slot) in enumerate(zip(placed, slots, strict=True)):
            instances.write(
                index,
                {
                    "transform": spy.float3x4(each.transform()),
                    "instance_id": index,
                    "instance_mask": 0xFF,
                    # a hit group for each material
                    "instance_contribution_to_hit_group_index": slot,
                    "flags": spy.AccelerationStructureInstanceFlags.none,
                    "acceleration_structure": self._bottom[id(each.mesh)].handle,
                },
            )
        return self._build([instances.build_input_instances()])

    def _build(self, inputs: list[Any]) -> spy.AccelerationStructure:
        gpu = self._gpu
        desc = spy.AccelerationStructureBuildDesc()
        desc.inputs = inputs
        sizes = gpu.get_acceleration_structure_sizes(desc)
        scratch = gpu.create_buffer(size=sizes.scratch_size, usage=spy.BufferUsage.unordered_access)
        built = gpu.create_acceleration_structure(size=sizes.acceleration_structure_size)
        encoder = gpu.create_command_encoder()
        encoder.build_acceleration_structure(desc=desc, dst=built, src=None, scratch_buffer=scratch)
        gpu.submit_command_buffer(encoder.finish())
        gpu.wait()
        return built


@dataclass(frozen=True)
class Shaders:
    """The hit shaders of the materials, by the index of the material."""

    sources: dict[str, str]
    """Of a module for each entry point."""
    entries: Sequence[str]
    """Of each material."""
    bindings: dict[str, Any]

    @classmethod
    def neural(cls, pack: NeuralPack) -> Shaders:
        """One for each decoder."""
        return cls._for_decoders(pack, "shade_neural.slang")

    @classmethod
    def plain(cls, pack: NeuralPack) -> Shaders:
        """Rays and sampling, without materials."""
        return cls._for_decoders(pack, "shade_plain.slang")

    @classmethod
    def _for_decoders(cls, pack: NeuralPack, file: str) -> Shaders:
        sources, bindings = {}, {}
        for material, decoder in enumerate(pack.decoders):
            entry, name = f"shadeDecoder{decoder}", f"floats{decoder}"
            if entry not in sources:
                hit = f'#define ENGINE_HIT_SHADER {entry}\n#include "{file}"\n'
                sources[entry] = pack.definitions(material, name) + hit
                bindings |= pack.constants(material, name)
        return cls(sources, [f"shadeDecoder{decoder}" for decoder in pack.decoders], bindings)

    @classmethod
    def of_graphs(cls, graphs: Sequence[Graph]) -> Shaders:
        sources = {graph.entry: graph.source for graph in graphs}
        bindings = {name: value for graph in graphs for name, value in graph.bindings.items()}
        return cls(sources, list(sources), bindings)


class Tracer:
    """A compiled path tracer for one kind of hit shaders."""

    def __init__(
        self,
        gpu: spy.Device,
        include: Sequence[Path],
        scene: Scene,
        pack: NeuralPack,
        shaders: Shaders,
        has_simple_sampler: bool = False,
        is_reordered: bool = False,
    ) -> None:
        self._gpu = gpu
        session = create_session(
            gpu, include, pack,
            ENGINE_SIMPLE_SAMPLER=int(has_simple_sampler),
            ENGINE_REORDER=int(is_reordered),
            ENGINE_MATERIAL_BITS=len(pack.materials).bit_length(),
        )  # fmt: skip
        names = ["tracePaths", "missScene", "missLight"]
        base, rays = session.load_module("path_trace"), session.load_module("rays")
        points = [base.entry_point(name) for name in names[:2]] + [rays.entry_point(names[2])]
        hits = {
            entry: session.load_module_from_source(f"module_{entry}", source)
            for entry, source in shaders.sources.items()
        }
        points += [module.entry_point(entry) for entry, module in hits.items()]
        program = session.link_program([base, rays, *hits.values()], points)
        groups = [
            spy.HitGroupDesc(hit_group_name=f"group_{name}", closest_hit_entry_point=name)
            for name in hits
        ]
        self._pipeline = gpu.create_ray_tracing_pipeline(
            program=program, hit_groups=groups, max_recursion=1,
            max_ray_payload_size=PAYLOAD_BYTES,
        )  # fmt: skip
        self._table = gpu.create_shader_table(
            program=program,
            ray_gen_entry_points=names[:1],
            miss_entry_points=names[1:],
            hit_group_names=[f"group_{name}" for name in shaders.entries],
        )
        self._bindings = {**scene.bindings(), **pack.bindings(), "gLights": lights()}
        self._bindings |= shaders.bindings

    def trace(self, sums: spy.Buffer, size: tuple[int, int], frames: int = 1, samples: int = 1,
              first: int = 0, bounces: int = BOUNCES, seed: int = 1) -> float:  # fmt: skip
        """Adds samples to `sums`, some for each frame. Returns the seconds of a frame."""
        encoder = self._gpu.create_command_encoder()
        for frame in range(frames):
            with encoder.begin_ray_tracing_pass() as rays:
                cursor = spy.ShaderCursor(rays.bind_pipeline(self._pipeline, self._table))
                cursor.write(self._bindings)
                cursor.gSums = sums
                cursor.gFrame = {
                    "camera": camera(size[0] / size[1]), "firstSample": first + frame * samples,
                    "samples": samples, "bounces": bounces, "seed": seed,
                }  # fmt: skip
                rays.dispatch_rays(0, [*size, 1])
        return seconds_of(self._gpu, encoder) / frames


def create_session(
    gpu: spy.Device, include: Sequence[Path], pack: NeuralPack, **defines: int
) -> spy.SlangSession:
    is_software = gpu.has_feature(spy.Feature.software_device)
    defines |= {"NEURAL_ROLLED": int(is_software), "ENGINE_ROLLED": int(is_software)}
    options: dict[str, Any] = {
        "include_paths": [SHADERS, pack.folder / "runtime", *include],
        "defines": pack.defines() | {name: str(value) for name, value in defines.items()},
    }
    if is_software:
        # its own compiler optimises
        options["optimization"] = spy.SlangOptimizationLevel.none
    return gpu.create_slang_session(compiler_options=options)


def seconds_of(gpu: spy.Device, encoder: spy.CommandEncoder) -> float:
    """Submits the commands, and waits for their end."""
    commands = encoder.finish()
    gpu.wait()
    start = time.perf_counter()
    gpu.submit_command_buffer(commands)
    gpu.wait()
    return time.perf_counter() - start


def create_sums(gpu: spy.Device, size: tuple[int, int]) -> spy.Buffer:
    usage = spy.BufferUsage.unordered_access | spy.BufferUsage.shader_resource
    data = np.zeros(4 * size[0] * size[1], np.float32)
    return gpu.create_buffer(struct_size=16, data=data, usage=usage)


def picture_of(sums: spy.Buffer, size: tuple[int, int], samples: int) -> np.ndarray:
    """Mean light, and mean squared luminance, (height, width, 4)."""
    return sums.to_numpy().view(np.float32).reshape(size[1], size[0], 4) / samples


def camera(aspect: float) -> dict[str, Any]:
    position, target = np.array([3.35, 1.5, 4.4]), np.array([1.95, 0.86, 1.5])
    forward = target - position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    half = np.tan(np.radians(54.0) / 2.0)
    return {
        "position": spy.float3(*position), "forward": spy.float3(*forward),
        "right": spy.float3(*(half * right)), "up": spy.float3(*(half / aspect * up)),
    }  # fmt: skip


def lights() -> dict[str, Any]:
    y, z, height, width = room.WINDOW
    sun = np.array([-0.78, 0.42, 0.2])
    sun /= np.linalg.norm(sun)
    return {
        "window": {"origin": spy.float3(-0.1, y, z), "height": height, "width": width},
        "sun": spy.float3(*sun),
        "sunIrradiance": spy.float3(66.0, 54.0, 41.0),
        "sunCosine": float(np.cos(np.radians(0.6))),
        "zenith": spy.float3(8.0, 10.5, 14.5),
        "horizon": spy.float3(17.0, 18.0, 18.5),
        "ground": spy.float3(9.0, 8.2, 6.6),
    }
