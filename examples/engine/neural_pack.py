"""Loads a scene pack as an engine would: from its files, by docs/FORMAT.md and docs/RUNTIME.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import slangpy as spy

# of KTX 2.0: the format, type of a number, side of a block of texels, numbers of a block
FORMATS = {
    37: (spy.Format.rgba8_unorm, np.dtype("u1"), 1, 4),
    97: (spy.Format.rgba16_float, np.dtype("<f2"), 1, 4),
    145: (spy.Format.bc7_unorm, np.dtype("u1"), 4, 16),
}
RECORD = np.dtype(
    [
        ("scale", "<f4", 8),
        ("offset", "<f4", 8),
        ("size", "<u4", 3),
        ("texture", "<u4"),
        ("weights", "<u4"),
        ("matrices", "<u4", 8),
        ("reserved", "<u4", 3),
    ]
)
# of a constant buffer, on most devices
CONSTANT_BYTES = 1 << 16
# NEURAL_CAREFUL of the runtime's shaders
CAREFUL = {"cooperative": 0, "careful": 1, "exacting": 2}


class PackError(Exception):
    """A scene pack that cannot be drawn."""


class NeuralPack:
    """Records, weights and latent textures on a device."""

    def __init__(self, gpu: spy.Device, folder: Path) -> None:
        self._gpu, self.folder = gpu, folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
        except (OSError, ValueError) as failure:
            raise PackError(f"{folder}: this is no scene pack: {failure}") from None
        if self.manifest.get("format") != "verdigris.scene":
            raise PackError(f"{folder}: this is no scene pack: make one with `verdigris pack`")
        if not self.manifest["version"].startswith("4."):
            raise PackError(f"{folder}: version {self.manifest['version']} is not known here")
        self.materials: list[dict[str, Any]] = self.manifest["materials"]
        self.names = [each["name"] for each in self.materials]
        for names, what in (
            (("emission", "opacity"), "no emission or opacity"),
            (("transmission",), "no light from below"),
            (("relief",), "no height maps"),
        ):
            found = [each["name"] for each in self.materials if {*names} & {*each}]
            if found:
                raise PackError(f"{', '.join(found)}: this renderer draws {what}")
        if "sampler" not in self.manifest:
            raise PackError(
                f"{folder}: these materials have no sampler: bake all of them again, with "
                "Verdigris of format 4.2 or later"
            )
        advised = self.manifest.get("arithmetic", {}).get("advised", "cooperative")
        has_vectors = gpu.has_feature(spy.Feature.cooperative_vector)
        self.is_cooperative = has_vectors and advised != "portable"
        self.careful = CAREFUL.get(advised, 0)
        self.records = np.zeros(len(self.materials), RECORD)
        self.textures = [self._fill(*each) for each in enumerate(self.materials)]
        self.weights = self._upload_weights()
        # several materials can share a decoder
        starts, decoders = np.unique(self.records["weights"], return_inverse=True)
        # compilers for processors take minutes for each decoder
        is_quick = len(starts) == 1 or not gpu.has_feature(spy.Feature.software_device)
        self.has_constants = is_quick and 2 * self._decoder_bytes <= CONSTANT_BYTES
        self.decoders = decoders.tolist() if self.has_constants else [0] * len(decoders)
        usage = spy.BufferUsage.shader_resource
        self.record_buffer = gpu.create_buffer(
            struct_size=RECORD.itemsize, data=self.records.view(np.uint8), usage=usage
        )

    def defines(self) -> dict[str, str]:
        """Definitions for the runtime's shaders."""
        return {
            "NEURAL_COOPERATIVE": str(int(self.is_cooperative)),
            "NEURAL_OPTIMAL": str(int(self.is_cooperative)),
            "NEURAL_CAREFUL": str(self.careful),
            "NEURAL_CONSTANTS": str(int(self.has_constants)),
            "ENGINE_MATERIALS": str(len(self.materials)),
        }

    def definitions(self, material: int, name: str) -> str:
        """For decoder.slang: the decoder of a material, with a name for its constant buffer."""
        if not self.has_constants:
            return ""
        record = self.records[material]
        matrices = [f"material.record.matrix{k} = {at};" for k, at in enumerate(record["matrices"])]
        definitions = {
            "ENGINE_FLOATS": name,
            "ENGINE_WEIGHTS": record["weights"],
            "ENGINE_MATRICES": " ".join(matrices),
        }
        return "".join(f"#define {key} {value}\n" for key, value in definitions.items())

    def constants(self, material: int, name: str) -> dict[str, Any]:
        """What is bound for these definitions. NeuralFloats are all halves of a decoder, but hidden
        layers 1, 3, … are transposed."""
        if not self.has_constants:
            return {}
        weights = self.manifest["weights"]
        data = (self.folder / weights["file"]).read_bytes()
        start = self.materials[material]["weights_offset"]
        floats = np.frombuffer(data, "<f2", self._decoder_bytes // 2, start).astype(np.float32)
        tensors = {tensor["name"]: tensor for tensor in weights["tensors"]}
        for layer in range(1, len(self.manifest["network"]["layers"]) - 1, 2):
            tensor = tensors[f"layer{layer}.weights"]
            rows, columns = tensor["shape"]
            first, stride = tensor["offset"] // 2, tensor["row_stride"] // 2
            matrix = floats[first : first + rows * stride].reshape(rows, stride)[:, :columns]
            matrix[:] = matrix.T.copy()
        return {name: {"quads": floats.reshape(-1, 4).tolist()}}

    def bindings(self) -> dict[str, Any]:
        return {
            "gRecords": self.record_buffer,
            "gWeights": self.weights,
            "gLatents": self.textures,
            "gLatentSampler": self._gpu.create_sampler(),
        }

    def _fill(self, index: int, material: dict[str, Any]) -> spy.Texture:
        """A record but for its matrices, and the texture."""
        latents = material["latents"]
        record = self.records[index]
        # 4 or 8 channels; a record has places for 8
        channels = len(latents["scale"])
        for name in ("scale", "offset"):
            record[name][:channels] = latents[name]
        record["size"] = latents["width"], latents["height"], latents["levels"]
        record["texture"] = index
        record["weights"] = material["weights_offset"]
        return self._read_ktx2(self.folder / latents["file"])

    def _read_ktx2(self, path: Path) -> spy.Texture:
        data = path.read_bytes()
        header = np.frombuffer(data, "<u4", 8, 12).tolist()
        kind, _, width, height, _, layers, _, levels = header
        if kind not in FORMATS:
            raise PackError(f"{path}: VkFormat {kind} is not known here, only {[*FORMATS]}")
        form, dtype, side, numbers = FORMATS[kind]
        texture = self._gpu.create_texture(
            type=spy.TextureType.texture_2d_array,
            format=form,
            width=width,
            height=height,
            array_length=layers,
            mip_count=levels,
            usage=spy.TextureUsage.shader_resource,
        )
        places = np.frombuffer(data, "<u8", 3 * levels, 80).reshape(-1, 3)
        for level, (start, _, _) in enumerate(places):
            blocks = [-(-max(size >> level, 1) // side) for size in (height, width)]
            shape = layers, *blocks, numbers
            texels = np.frombuffer(data, dtype, int(np.prod(shape)), int(start)).reshape(shape)
            for layer, part in enumerate(texels):
                texture.copy_from_numpy(part.copy(), layer=layer, mip=level)
        return texture

    def _upload_weights(self) -> spy.Buffer:
        """All decoders, then their matrices in the device's own layout."""
        weights = self.manifest["weights"]
        data = np.frombuffer((self.folder / weights["file"]).read_bytes(), np.uint8)
        tensors = {tensor["name"]: tensor for tensor in weights["tensors"]}
        hidden = len(self.manifest["network"]["layers"]) - 1
        matrices = [tensors[f"layer{layer}.weights"] for layer in range(hidden)]
        for index, tensor in enumerate(matrices):
            self.records["matrices"][:, index] = self.records["weights"] + tensor["offset"]
        return self._convert(data, matrices) if self.is_cooperative else self._buffer(data)

    @property
    def _decoder_bytes(self) -> int:
        return self.manifest["weights"]["decoder_bytes"]

    def _convert(self, data: np.ndarray, matrices: list[dict[str, Any]]) -> spy.Buffer:
        layouts, half = spy.CoopVecMatrixLayout, spy.DataType.float16
        describe = self._gpu.create_coop_vec_matrix_desc
        sources, targets, end = [], [], 0
        for index, tensor in enumerate(matrices):
            shape, places = tensor["shape"], self.records["matrices"][:, index]
            moved = {}
            for place in np.unique(places):
                sources.append(
                    describe(*shape, layouts.row_major, half, int(place), tensor["row_stride"])
                )
                targets.append(describe(*shape, layouts.inferencing_optimal, half, end))
                moved[place] = len(data) + end
                end += -(-targets[-1].size // 128) * 128
            places[:] = [moved[place] for place in places]
        converted = self._buffer(np.zeros(end, np.uint8))
        encoder = self._gpu.create_command_encoder()
        encoder.convert_coop_vec_matrices(converted, targets, self._buffer(data), sources)
        self._gpu.submit_command_buffer(encoder.finish())
        return self._buffer(np.concatenate([data, converted.to_numpy().view(np.uint8)[:end]]))

    def _buffer(self, data: np.ndarray) -> spy.Buffer:
        usage = spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access
        return self._gpu.create_buffer(struct_size=4, data=data.copy(), usage=usage)
