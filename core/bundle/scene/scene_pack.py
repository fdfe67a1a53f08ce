"""A scene pack: bundles with one architecture, for one compiled shader.

The folder contains manifest.json, weights.bin with each different decoder once, the textures and
the reference of each material, and shaders. docs/WRITING.md describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import BundleError
from verdigris.core.base.inputs import require_working_folder_for
from verdigris.core.base.json_fields import parse_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.arithmetic import parse_pack_arithmetic
from verdigris.core.bundle.files.manifest import (
    LARGEST_MANIFEST,
    RESPONSE,
    SCENE_FORMAT,
    VERSION,
    has_sampler,
    parse_known_tensors,
    require_distinct_files,
    require_format,
    require_response,
)
from verdigris.core.bundle.files.manifest_network import (
    has_older_lobes,
    network_json,
    parse_network,
    sampler_json,
)
from verdigris.core.bundle.files.manifest_parts import (
    LARGEST_WEIGHTS,
    FileRecord,
    Tensor,
    named_runtime,
    parse_constants,
    parse_record,
    parse_runtime,
    require_twice,
)
from verdigris.core.bundle.files.read import (
    check_constants,
    check_length,
    find_bundle_folder,
    read_emission,
    read_latents,
    read_proxies,
    read_recorded,
    read_relief,
    read_texture,
    read_transmitted_albedo,
    read_whole,
)
from verdigris.core.bundle.files.reference import (
    Reference,
    Textures,
    parse_reference,
    with_sampler_rows,
)
from verdigris.core.bundle.files.weights import (
    FILE_ALIGNMENT,
    StoredNumbers,
    check_tensors,
    constant_floats,
    unpack_weights,
)
from verdigris.core.bundle.runtime.device_materials import StoredMaterial, relayout_weights
from verdigris.core.bundle.scene.scene_material import SceneMaterial, parse_material
from verdigris.core.network.parameters import Parameters, TransmittedSide
from verdigris.core.network.spec import NetworkSpec

if TYPE_CHECKING:
    from verdigris.core.bundle.proxies.proxy_texture import TransmittedAlbedo
    from verdigris.core.geometry.height_map import HeightMap

MOST_MATERIALS = 4096
# Bytes of all different decoders; well within 32-bit offsets.
LARGEST_SCENE_WEIGHTS = 1 << 30
LARGEST_SCENE_MANIFEST = 4 * LARGEST_MANIFEST


@dataclass(frozen=True)
class ScenePack:
    """A scene pack with a checked manifest. Its other files are read on demand."""

    folder: Path
    spec: NetworkSpec
    weights: FileRecord
    tensors: tuple[Tensor, ...]
    decoder_bytes: int
    materials: tuple[SceneMaterial, ...]
    runtime: tuple[FileRecord, ...] = ()
    advised: str | None = None
    """The arithmetic that suits every material, if known."""
    constants: FileRecord | None = None
    """The decoders as shaders read them from constants."""
    has_older_lobes: bool = False
    """Whether the references' rows of samplers are of lobes that differ at grazing views."""

    @property
    def decoders(self) -> int:
        """The decoders of all materials, where a shared one counts for each."""
        return sum(len(material.sides) for material in self.materials)

    def stored(self, chosen: Sequence[SceneMaterial] | None = None) -> list[StoredMaterial]:
        """The stored numbers of these materials, or of all in the order of the manifest."""
        file = str(self.folder / self.weights.file)
        data = read_recorded(self.folder, self.weights)

        def weights(place: int) -> bytes:
            return relayout_weights(self.spec, self.tensors, self._decoder(place, data), file)

        return [
            StoredMaterial(
                self.spec,
                weights(material.weights_offset),
                read_latents(self.folder, material.latents),
                tuple(each.default for each in material.live),
                *((weights(below.weights_offset), below.index) if below else ()),
            )
            for material in (self.materials if chosen is None else chosen)
            for below in (material.transmitted,)
        ]

    def parameters(self) -> Iterator[Parameters]:
        """The values of each material's stored numbers, in single floats."""
        data = read_recorded(self.folder, self.weights)
        for material in self.materials:
            yield self._parameters(material, data)

    def _parameters(self, material: SceneMaterial, weights: bytes) -> Parameters:
        def numbers(place: int) -> StoredNumbers:
            file = str(self.folder / self.weights.file)
            return unpack_weights(self.spec, self.tensors, self._decoder(place, weights), file)

        stored, transmitted = numbers(material.weights_offset), None
        if below := material.transmitted:
            side = numbers(below.weights_offset)
            transmitted = TransmittedSide(side.decoder, below.index, side.head)
        values = read_latents(self.folder, material.latents).values()
        layout = material.latents.layout
        live = tuple(each.default for each in material.live)
        return Parameters(self.spec, layout, stored.decoder, values, stored.head, live, transmitted)

    def check_files(self) -> None:
        """Checks length and digest of each file, and reads the textures that no decoder reads."""
        for record in self.records:
            read_recorded(self.folder, record)
        if self.constants:
            data = read_recorded(self.folder, self.weights)
            wanted = b"".join(
                constant_floats(self.spec, self.tensors, data[begin : begin + self.decoder_bytes])
                for begin in range(0, len(data), self.decoder_bytes)
            )
            check_constants(self.folder, self.constants, wanted)
        for material in self.materials:
            self.textures(material)
            self.transmitted_albedo(material)
            self.relief(material)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """Records of every file beside the manifest."""
        return tuple(self.named_records.values())

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """The same, by field."""
        return {
            "weights": self.weights,
            **({"constants": self.constants} if self.constants else {}),
            **named_runtime(self.runtime),
            **{
                f"materials[{index}].{name}": record
                for index, material in enumerate(self.materials)
                for name, record in material.named_records.items()
            },
        }

    def reference(self, material: SceneMaterial) -> Reference:
        data = read_recorded(self.folder, material.reference)
        found = parse_reference(
            data,
            material.reference_count,
            str(self.folder / material.reference.file),
            self.spec.live_inputs,
        )
        if not self.has_older_lobes:
            return found
        weights = read_recorded(self.folder, self.weights)
        return with_sampler_rows(found, self._parameters(material, weights))

    def textures(self, material: SceneMaterial) -> Textures:
        """Proxies, emission and opacity of a material, if it has them."""
        glow, cover = material.emission, material.opacity
        return Textures(
            read_proxies(self.folder, material.proxies, material.latents),
            read_emission(self.folder, glow) if glow else None,
            read_texture(self.folder, cover.record, cover.texture) if cover else None,
        )

    def relief(self, material: SceneMaterial) -> HeightMap | None:
        """The height map of a material that displaces its surface."""
        return read_relief(self.folder, material.relief)

    def transmitted_albedo(self, material: SceneMaterial) -> TransmittedAlbedo | None:
        """The mean share of light from below that passes, if the material has it."""
        below = material.transmitted
        albedo = below.albedo if below else None
        return read_transmitted_albedo(self.folder, albedo, material.latents)

    def encode(self) -> bytes:
        """The manifest's bytes."""
        document: dict[str, Any] = {
            "format": SCENE_FORMAT,
            "version": VERSION,
            "network": network_json(self.spec),
            **({"sampler": sampler_json(self.spec)} if has_sampler(self.tensors) else {}),
            "weights": {
                **self.weights.as_json(),
                "decoder_bytes": self.decoder_bytes,
                "tensors": [tensor.as_json() for tensor in self.tensors],
            },
            **({"constants": self.constants.as_json()} if self.constants else {}),
            "materials": [material.as_json() for material in self.materials],
            **({"arithmetic": {"advised": self.advised}} if self.advised else {}),
            "runtime": [record.as_json() for record in self.runtime],
            "response": RESPONSE,
        }
        return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()

    def _decoder(self, place: int, data: bytes) -> bytes:
        return data[place : place + self.decoder_bytes]


def open_scene(path: Path) -> ScenePack:
    """Reads and checks a manifest, and the lengths of the files that it names."""
    path = Path(path)
    folder = find_bundle_folder(path)
    if folder is None:
        require_working_folder_for(path)
        raise BundleError(f"{path}: there is no such scene pack")
    data = read_whole(folder, MANIFEST_FILE, LARGEST_SCENE_MANIFEST)
    scene = parse_scene(data, str(folder / MANIFEST_FILE), folder)
    for record in scene.records:
        check_length(folder, record)
    return scene


def is_scene(path: Path) -> bool:
    """Whether the path has the manifest of a scene pack. open_scene reports other errors."""
    try:
        folder = find_bundle_folder(path)
        if folder is None:
            return False
        data = read_whole(folder, MANIFEST_FILE, LARGEST_SCENE_MANIFEST)
        return parse_json(data, MANIFEST_FILE).text("format") == SCENE_FORMAT
    except (BundleError, OSError):
        return False


def parse_scene(data: bytes, file: str, folder: Path) -> ScenePack:
    """Reads what encode() writes. An error names file and field."""
    fields = parse_json(data, file)
    is_newer = require_format(fields, SCENE_FORMAT, "a scene pack's")
    require_response(fields)
    spec = parse_network(fields)
    weights = fields.table("weights")
    record = parse_record(weights, LARGEST_SCENE_WEIGHTS)
    size = weights.whole("decoder_bytes", FILE_ALIGNMENT, LARGEST_WEIGHTS)
    for name, length in (("bytes", record.bytes), ("decoder_bytes", size)):
        whole = length % FILE_ALIGNMENT == 0
        weights.require(whole, name, f"it must be a multiple of {FILE_ALIGNMENT}")
    holds = size <= record.bytes
    weights.require(holds, "decoder_bytes", f"weights.bytes is {record.bytes}, less than a decoder")
    constants = parse_constants(fields, 2 * LARGEST_SCENE_WEIGHTS)
    require_twice(constants, record, file)
    tensors = parse_known_tensors(fields, spec, is_newer)
    check_tensors(spec, tensors, size, file)
    materials = tuple(
        parse_material(each, spec, record.bytes - size, is_newer)
        for each in fields.tables("materials", MOST_MATERIALS)
    )
    advised = parse_pack_arithmetic(fields, [each.arithmetic for each in materials], is_newer)
    scene = ScenePack(
        folder,
        spec,
        record,
        tensors,
        size,
        materials,
        parse_runtime(fields),
        advised,
        constants,
        has_older_lobes(fields),
    )
    require_distinct_files(scene.named_records, file)
    names = [material.name for material in materials]
    fields.require(len({*names}) == len(names), "materials", "their names must differ")
    return scene
