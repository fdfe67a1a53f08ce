"""The teacher: a material as a function of place and two directions, evaluated on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from verdigris.core.device import Device, Source, open_device
from verdigris.core.errors import DocumentError
from verdigris.core.material.generate import GeneratedMaterial, generate
from verdigris.core.material.textures import TexturePool

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray
    from verdigris.core.material.document import Document, Material

    Floats = NDArray[np.float32]

EVALUATE = Source("teacher/evaluate")
DEFAULT_SLOPE_STEP = 1.0 / 1024.0
_LARGEST_DISPATCH = 1 << 22


@dataclass(frozen=True)
class Frames:
    """Points with a place and a frame of their own, (N, 3) each: how 3D patterns see a mesh."""

    position: Floats
    tangent: Floats
    bitangent: Floats
    normal: Floats

    def packed(self) -> Floats:
        parts = (self.position, self.tangent, self.bitangent, self.normal)
        return np.concatenate(parts, axis=1).astype(np.float32)


class Teacher:
    """One material, compiled and with its textures on a device.

    Directions are unit vectors in the tangent frame of the surface, z along the normal. Without
    `frames` the surface is the unit square. See `shaders/teacher/interface.slang` for what each
    function means.
    """

    def __init__(
        self, document: Document, material: Material | None = None, device: Device | None = None
    ) -> None:
        self.document = document
        self.material = material or document.require_material()
        self.device = device or open_device()
        self.generated: GeneratedMaterial = generate(document, self.material)
        self.kernels = self.device.new_kernels()
        self.source = Source(f"material_{self.generated.digest}", self.generated.source)
        pool = TexturePool(self.device, document.search)
        self._bound = {slot.uniform: pool.bind(slot) for slot in self.generated.textures}

    def bindings(self) -> dict[str, Any]:
        """What every kernel linked with this material must be given beside its own variables."""
        block: dict[str, Any] = {name: bound.uniform() for name, bound in self._bound.items()}
        block.update(self.generated.uniforms)
        return {"pixelCB": block} if block else {}

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        """A kernel that evaluates this material, compiled or taken from the cache."""
        import slangpy

        try:
            return self.kernels.get((source, self.source), entry)
        except (RuntimeError, slangpy.SlangCompileError) as failure:
            raise DocumentError(
                f"{self.document.name}: material {self.material.name!r} does not compile for "
                f"{self.device}: {_first_error(str(failure))}"
            ) from None

    def response(self, uv: Floats, wi: Floats, wo: Floats, frames: Frames | None = None) -> Floats:
        """Reflected light with the cosine, (N, 3), of a unit light from `wi` towards `wo`."""
        return self._evaluate("evaluateResponse", uv, wi, wo, frames)

    def emission(self, uv: Floats, wo: Floats, frames: Frames | None = None) -> Floats:
        """Light given off towards `wo`, (N, 3)."""
        return self._evaluate("evaluateEmission", uv, wo, wo, frames)

    def opacity(self, uv: Floats, wo: Floats, frames: Frames | None = None) -> Floats:
        """Coverage, (N,)."""
        return self._evaluate("evaluateOpacity", uv, wo, wo, frames)[:, 0]

    def _evaluate(
        self, entry: str, uv: Floats, wi: Floats, wo: Floats, frames: Frames | None
    ) -> Floats:
        kernel = self.kernel(EVALUATE, entry)
        packed = frames.packed() if frames else None
        count = len(uv)
        result = np.empty((count, 3), np.float32)
        for start in range(0, count, _LARGEST_DISPATCH):
            part = slice(start, min(count, start + _LARGEST_DISPATCH))
            result[part] = self._dispatch(
                kernel, uv[part], wi[part], wo[part], None if packed is None else packed[part]
            )
        return result

    def _dispatch(
        self,
        kernel: slangpy.ComputeKernel,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        packed: Floats | None,
    ) -> Floats:
        count = len(uv)
        frames = np.zeros(12, np.float32) if packed is None else packed
        output = self.buffer(3 * count, None)
        kernel.dispatch(
            thread_count=[count * self.generated.lanes_per_sample, 1, 1],
            vars={
                "gParameters": {
                    "count": count,
                    "slopeStep": DEFAULT_SLOPE_STEP,
                    "hasFrames": int(packed is not None),
                },
                "gUv": self.buffer(2 * count, uv),
                "gFrames": self.buffer(frames.size, frames),
                "gIncoming": self.buffer(3 * count, wi),
                "gOutgoing": self.buffer(3 * count, wo),
                "gResult": output,
                **self.bindings(),
            },
        )
        return np.asarray(output.to_numpy().view(np.float32).reshape(count, 3))

    def buffer(self, count: int, data: Floats | None, stride: int = 4) -> slangpy.Buffer:
        """A buffer of `count` 32-bit floats, filled with `data` if there is any."""
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        if data is None:
            return self.device.gpu.create_buffer(
                element_count=count * 4 // stride, struct_size=stride, usage=usage
            )
        flat = np.ascontiguousarray(data, np.float32)
        if flat.size != count:
            raise ValueError(f"expected {count} numbers, got an array of shape {data.shape}")
        return self.device.gpu.create_buffer(
            element_count=count * 4 // stride, struct_size=stride, usage=usage, data=flat
        )


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    return lines[0] if lines else text.strip().splitlines()[0]
