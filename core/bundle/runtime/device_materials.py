"""Uploads materials for the runtime shader: weights in one buffer, records, textures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_CONSTANT_BYTES, Device
from verdigris.core.base.errors import BundleError, DeviceError, SettingsError
from verdigris.core.base.kernels import Kernels, Source
from verdigris.core.bundle.files.arithmetic import COOPERATIVE, PORTABLE, careful_level
from verdigris.core.bundle.files.ktx2 import BC7, FORMATS
from verdigris.core.bundle.files.manifest_network import weights_name
from verdigris.core.bundle.files.stored_textures import LatentTexture
from verdigris.core.bundle.files.weights import (
    align,
    constant_floats,
    pack_weights,
    plan_tensors,
    unpack_weights,
)
from verdigris.core.bundle.runtime.network_module import (
    NETWORK_MODULE,
    fits_in_constants,
    network_source,
)
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.settings.bake_settings import MORE_LATENTS

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.bundle.files.manifest_parts import Tensor
    from verdigris.core.bundle.files.read import Bundle

DECODERS = ("portable", "cooperative")
# Name -> NEURAL_FILTER of evaluate_queries.slang.
FILTERS = {"trilinear": 0, "sampler": 1, "stochastic": 2}
# Alignment of a matrix in the device's own layout.
OPTIMAL_ALIGNMENT = 128
# NeuralRecord of neural_record.slang, which has one size for all numbers of channels.
RECORD = np.dtype(
    [
        ("scale", "<f4", MORE_LATENTS),
        ("offset", "<f4", MORE_LATENTS),
        ("width", "<u4"),
        ("height", "<u4"),
        ("levels", "<u4"),
        ("texture", "<u4"),
        ("weights", "<u4"),
        ("matrices", "<u4", 8),
        ("live", "<f4", 3),
    ]
)


@dataclass(frozen=True)
class RuntimeChoice:
    """Compile-time choices of the runtime shader."""

    decoder: str = "portable"
    """One of DECODERS."""
    filter: str = "trilinear"
    """One of FILTERS."""
    is_optimal: bool = True
    """Convert matrices for cooperative vectors to the device's own layout."""
    from_registers: bool = False
    """Compute latents instead of fetching them, to time the decoder alone."""
    is_constant: bool = False
    """Read plain layers from a constant buffer, which holds one decoder."""
    way: int = COOPERATIVE
    """Value of WAYS: NEURAL_CAREFUL of neural_decoder.slang."""
    has_maps: bool = False
    """Sample emission and opacity maps."""
    is_together: bool = False
    """Evaluate the points of a group of threads together, with cooperative matrices."""
    transmits: bool = False
    """Evaluate light from below with the second of two decoders."""
    in_pairs: bool = False
    """Evaluate materials of a scene pack, some of which transmit: each has two records."""

    def __post_init__(self) -> None:
        for name, known in (("decoder", DECODERS), ("filter", tuple(FILTERS))):
            value = getattr(self, name)
            if value not in known:
                raise SettingsError(f"{name} is {value!r}: use one of {', '.join(known)}")

    @property
    def is_cooperative(self) -> bool:
        return self.decoder == "cooperative"

    @property
    def has_sides(self) -> bool:
        return self.transmits or self.in_pairs

    def defines(self, device: Device, textures: int, has_live: bool = False) -> dict[str, str]:
        values = {
            "NEURAL_ROLLED": device.is_software,
            "NEURAL_COOPERATIVE": self.is_cooperative,
            "NEURAL_OPTIMAL": self.is_optimal,
            "NEURAL_CONSTANTS": self.is_constant,
            "NEURAL_CAREFUL": self.way,
            "NEURAL_REGISTERS": self.from_registers,
            "NEURAL_MAPS": self.has_maps,
            "NEURAL_MATRICES": self.is_together,
            "NEURAL_FILTER": FILTERS[self.filter],
            "NEURAL_TEXTURES": textures,
            "NEURAL_LIVE": has_live,
            # other shaders are those of before
            **({"NEURAL_SIDES": 2 if self.in_pairs else 1} if self.has_sides else {}),
        }
        return {name: str(int(value)) for name, value in values.items()}


@dataclass(frozen=True)
class StoredMaterial:
    """The stored numbers of one material."""

    spec: NetworkSpec
    weights: bytes
    latents: LatentTexture
    live: tuple[float, ...] = ()
    """Values of live inputs from 0 to 1, in evaluations without values."""
    below: bytes | None = None
    """The weights for light from below, in a scene pack that transmits."""
    index: float = 0.0
    """The index of the medium below; 0 for an opaque surface."""

    @property
    def decoders(self) -> tuple[bytes, ...]:
        return (self.weights,) if self.below is None else (self.weights, self.below)


def read_stored(bundle: Bundle) -> StoredMaterial:
    """Reads a bundle's weights and latents."""
    return StoredMaterial(
        bundle.spec, shader_weights(bundle), bundle.latents(), bundle.manifest.live_defaults
    )


def shader_weights(bundle: Bundle) -> bytes:
    """Reads a bundle's weights, in the shader's layout."""
    manifest = bundle.manifest
    file = str(bundle.folder / manifest.weights.file)
    return relayout_weights(bundle.spec, manifest.tensors, bundle.weights_bytes(), file)


def relayout_weights(
    spec: NetworkSpec, tensors: tuple[Tensor, ...], data: bytes, file: str
) -> bytes:
    """Moves tensors to the places that the shader's constants expect, with zeros between. Other
    writers may place them elsewhere."""
    stored = unpack_weights(spec, tensors, data, file)
    latents = np.zeros((1, spec.latent_channels), np.float32)
    return pack_weights(Parameters(spec, LatentLayout(1, 1), stored.decoder, latents, stored.head))[
        0
    ]


def _constant_quads(material: StoredMaterial) -> dict[str, Any]:
    """NeuralFloats of neural_weights.slang."""
    spec = material.spec
    floats = constant_floats(spec, plan_tensors(spec)[0], material.weights)
    return {"quads": np.frombuffer(floats, "<f4").reshape(-1, 4).tolist()}


def has_cooperative_vectors(device: Device) -> bool:
    import slangpy

    return bool(device.gpu.has_feature(slangpy.Feature.cooperative_vector))


def fastest_advised(device: Device, advised: str | None) -> RuntimeChoice:
    """Cooperative vectors as advised, or plain code if that is advised or the device has no
    cooperative vectors. Without advice, cooperative vectors as shipped."""
    if advised == PORTABLE or not has_cooperative_vectors(device):
        return RuntimeChoice()
    return RuntimeChoice("cooperative", way=careful_level(advised))


class DeviceMaterials:
    """Uploaded materials with one architecture, and the kernels that evaluate them."""

    def __init__(
        self,
        materials: Sequence[StoredMaterial],
        device: Device,
        choice: RuntimeChoice | None = None,
    ) -> None:
        self.device = device
        self.choice = choice or RuntimeChoice()
        if not materials:
            raise BundleError("there is no material to evaluate: name at least one")
        self.spec = materials[0].spec
        if any(each.spec != self.spec for each in materials):
            raise BundleError("the materials have several architectures: evaluate them one by one")
        if self.choice.is_constant:
            self._check_constants(materials)
        if self.choice.is_cooperative and not has_cooperative_vectors(device):
            raise DeviceError(f"{device} has no cooperative vectors: use the portable decoder")
        # bundles with one architecture share compiled kernels
        self._kernels: Kernels = device.shared_kernels(
            self.choice.defines(device, len(materials), self.spec.live_inputs > 0),
            [Source(NETWORK_MODULE, network_source(self.spec))],
        )
        self.records = np.zeros(len(materials) * (1 + self.choice.in_pairs), RECORD)
        self.textures = [self._upload(each.latents) for each in materials]
        self.sampler = device.gpu.create_sampler()
        self.weights = device.new_buffer(self._place_weights(materials), 4)
        for index, each in enumerate(materials):
            self._fill_record(index, each)
        self.record_buffer = device.new_buffer(self.records)
        self.floats = _constant_quads(materials[0]) if self.choice.is_constant else None

    def _check_constants(self, materials: Sequence[StoredMaterial]) -> None:
        decoders = len({each.weights for each in materials})
        if decoders > 1:
            raise BundleError(
                f"the materials have {decoders} decoders, and a constant buffer holds one: "
                "evaluate them one by one or without it"
            )
        if not fits_in_constants(self.spec):
            raise BundleError(
                f"the decoder {self.spec.name} is larger than a constant buffer of "
                f"{MOST_CONSTANT_BYTES} bytes: evaluate it without one"
            )

    def kernel(self, sources: Sequence[Source], entry: str) -> slangpy.ComputeKernel:
        return self._kernels.get(sources, entry)

    def bindings(self) -> dict[str, Any]:
        """The variables of evaluate_queries.slang that hold the materials."""
        bound: dict[str, Any] = {
            "neuralRecords": self.record_buffer,
            "neuralWeights": self.weights,
            "neuralLatents": self.textures if len(self.textures) > 1 else self.textures[0],
        }
        if self.choice.filter == "sampler":
            bound["neuralSampler"] = self.sampler
        if self.floats:
            bound["neuralFloats"] = self.floats
        return bound

    def live_of_queries(self, given: NDArray[Any] | None, count: int) -> NDArray[Any] | None:
        """Live values [count, inputs], by default the first material's; None without inputs."""
        if not self.spec.live_inputs:
            return None
        own = self.records["live"][0, : self.spec.live_inputs]
        return np.broadcast_to(own, (count, len(own))) if given is None else given

    def _place_weights(self, materials: Sequence[StoredMaterial]) -> NDArray[np.uint8]:
        """All different decoders one after another, then converted matrices."""
        places: dict[bytes, int] = {}
        for each in materials:
            for decoder in each.decoders if self.choice.in_pairs else (each.weights,):
                places.setdefault(decoder, sum(map(len, places)))
        if self.choice.in_pairs:
            self.records["weights"][::2] = [places[each.weights] for each in materials]
            self.records["weights"][1::2] = [places[each.decoders[-1]] for each in materials]
        else:
            self.records["weights"] = [places[each.weights] for each in materials]
        matrices = [
            tensor
            for index in range(self.spec.hidden_layers)
            for tensor in plan_tensors(self.spec)[0]
            if tensor.name == weights_name(index)
        ]
        data = np.frombuffer(b"".join(places), np.uint8)
        for index, tensor in enumerate(matrices):
            self.records["matrices"][:, index] = self.records["weights"] + tensor.offset
        if not (self.choice.is_cooperative and self.choice.is_optimal):
            return data
        return self._convert(data)

    def _convert(self, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Appends the matrices in the device's own layout and points the records to them."""
        import slangpy

        gpu = self.device.gpu
        layouts = slangpy.CoopVecMatrixLayout
        half = slangpy.DataType.float16
        sources, targets = [], []
        end = 0
        for index, layer in enumerate(self.spec.layers[: self.spec.hidden_layers]):
            shape = layer.outputs, layer.inputs
            stride = align(2 * layer.inputs, 16)
            column = self.records["matrices"][:, index]
            moved = {}
            for place in np.unique(column):
                sources.append(
                    gpu.create_coop_vec_matrix_desc(
                        *shape, layouts.row_major, half, int(place), stride
                    )
                )
                target = gpu.create_coop_vec_matrix_desc(
                    *shape, layouts.inferencing_optimal, half, end
                )
                targets.append(target)
                moved[int(place)] = len(data) + end
                end = align(end + target.size, OPTIMAL_ALIGNMENT)
            self.records["matrices"][:, index] = [moved[int(place)] for place in column]
        source = self.device.new_buffer(data, 4)
        converted = self.device.new_buffer(np.zeros(end, np.uint8), 4)
        encoder = gpu.create_command_encoder()
        encoder.convert_coop_vec_matrices(converted, targets, source, sources)
        gpu.submit_command_buffer(encoder.finish())
        return np.concatenate([data, converted.to_numpy().view(np.uint8)[:end]])

    def _fill_record(self, index: int, material: StoredMaterial) -> None:
        latents = material.latents
        layout = latents.layout
        record = self.records[2 * index if self.choice.in_pairs else index]
        channels = len(latents.scale)
        record["scale"][:channels], record["offset"][:channels] = latents.scale, latents.offset
        record["width"], record["height"] = layout.width, layout.height
        record["levels"], record["texture"] = layout.levels, index
        record["live"][: len(material.live)] = material.live
        if self.choice.in_pairs:
            below = self.records[2 * index + 1]
            for name in ("scale", "offset", "width", "height", "levels", "texture"):
                below[name] = record[name]
            below["live"] = material.index, 0, 0
            if material.below is None:
                self.records[2 * index + 1] = np.zeros((), RECORD)

    def _upload(self, latents: LatentTexture) -> slangpy.Texture:
        if latents.format == BC7 and not has_blocks(self.device):
            latents = latents.decoded()
        return upload_texture(self.device, latents.format, latents.levels, latents.size)


def has_blocks(device: Device) -> bool:
    """Whether the device samples textures of BC7."""
    import slangpy

    support = device.gpu.get_format_support(slangpy.Format.bc7_unorm)
    return bool(support & slangpy.FormatSupport.shader_load)


def upload_texture(
    device: Device,
    format_name: str,
    levels: Sequence[NDArray[Any]],
    size: tuple[int, int] | None = None,
) -> slangpy.Texture:
    """Mip levels [height, width, channels], or [layers, height, width, channels] of an array; of
    blocks with the height and width in texels."""
    import slangpy

    is_array = levels[0].ndim == 4
    height, width = size or levels[0].shape[-3:-1]
    types = slangpy.TextureType
    texture = device.gpu.create_texture(
        type=types.texture_2d_array if is_array else types.texture_2d,
        format=getattr(slangpy.Format, FORMATS[format_name].device),
        width=width,
        height=height,
        array_length=len(levels[0]) if is_array else 1,
        mip_count=len(levels),
        usage=slangpy.TextureUsage.shader_resource,
    )
    for mip, level in enumerate(levels):
        for layer, texels in enumerate(level if is_array else [level]):
            # slangpy takes a single channel without its axis
            plain = texels[..., 0] if texels.shape[-1] == 1 else texels
            # a copy: slangpy refuses the strides of a view of one row or column
            texture.copy_from_numpy(plain.copy(), layer=layer, mip=mip)
    return texture
