"""A scene: several bundles of one decoder architecture, for one compiled shader.

NAME.vdg/ holds manifest.json, weights.bin with every different decoder once, each material's
textures and references, and the shaders. docs/FORMAT.md describes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.arithmetic import (
    Arithmetic,
    judge,
    most_careful,
    parse_arithmetic,
    parse_scene_advice,
)
from verdigris.core.bundle.device_materials import Stored, as_shader_reads, stored_of
from verdigris.core.bundle.fields import Fields, parse_json
from verdigris.core.bundle.files import read_recorded, read_whole, record_of, size_inside
from verdigris.core.bundle.ktx2 import TextureShape, read_ktx2
from verdigris.core.bundle.latents import LatentTexture
from verdigris.core.bundle.manifest import (
    EMISSION_FORMATS,
    LARGEST_MANIFEST,
    LARGEST_REFERENCE,
    LARGEST_WEIGHTS,
    MAJOR,
    MINOR,
    OPACITY_FORMATS,
    RESPONSE,
    RUNTIME_FOLDER,
    SCENE_FORMAT,
    Bounds,
    FileRecord,
    LatentFacts,
    MapFacts,
    Tensor,
    named_runtime,
    parse_bounds,
    parse_count,
    parse_latents,
    parse_map,
    parse_record,
    parse_runtime,
    parse_tensors,
    require_format,
    require_own_files,
    require_response,
)
from verdigris.core.bundle.network import network_json, parse_network
from verdigris.core.bundle.read import Bundle, find_bundle_folder
from verdigris.core.bundle.reference import Reference, parse_reference
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.weights import (
    FILE_ALIGNMENT,
    check_tensors,
    plan_tensors,
    unpack_weights,
)
from verdigris.core.bundle.write import WEIGHTS_FILE, put_folder
from verdigris.core.errors import BundleError, SettingsError
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.outputs import MANIFEST_FILE

MOST_MATERIALS = 4096
# All different decoders together: what a 32-bit offset reaches with room to spare.
LARGEST_SCENE_WEIGHTS = 1 << 30
LARGEST_SCENE_MANIFEST = 4 * LARGEST_MANIFEST
_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class SceneMaterial:
    """One material of a scene."""

    name: str
    """For people; `pack` names its files so."""
    weights_offset: int
    """First byte of its decoder in the weights' file."""
    latents: LatentFacts
    """Its latent texture."""
    reference: FileRecord
    """Values that a decoder checks itself against."""
    reference_count: int
    """How many."""
    emission: MapFacts | None = None
    """Light that it gives off, where it does."""
    opacity: MapFacts | None = None
    """Coverage, where it is not 1 everywhere."""
    bounds: Bounds = field(default_factory=Bounds)
    """How close a decoder must come to the reference."""
    arithmetic: Arithmetic | None = None
    """Which arithmetic it asks for; version 1.0 did not say."""

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """By field."""
        maps = {"emission": self.emission, "opacity": self.opacity}
        return {
            "latents": self.latents.record,
            **{name: facts.record for name, facts in maps.items() if facts},
            "reference": self.reference,
        }

    def as_json(self) -> dict[str, Any]:
        maps = {"emission": self.emission, "opacity": self.opacity}
        return {
            "name": self.name,
            "weights_offset": self.weights_offset,
            "latents": self.latents.as_json(),
            **{name: facts.as_json() for name, facts in maps.items() if facts},
            "reference": {**self.reference.as_json(), "count": self.reference_count},
            "bounds": self.bounds.as_json(),
            **({"arithmetic": self.arithmetic.as_json()} if self.arithmetic else {}),
        }


@dataclass(frozen=True)
class Scene:
    """A scene whose manifest was read and checked; its other files are read when asked for."""

    folder: Path
    spec: NetworkSpec
    weights: FileRecord
    tensors: tuple[Tensor, ...]
    decoder_bytes: int
    materials: tuple[SceneMaterial, ...]
    runtime: tuple[FileRecord, ...] = ()
    advised: str | None = None
    """The arithmetic that suits every material; version 1.0 did not say."""

    def stored(self) -> list[Stored]:
        """Every material's numbers, in the order of the manifest."""
        file = str(self.folder / self.weights.file)
        data = read_recorded(self.folder, self.weights)
        return [
            Stored(
                self.spec,
                as_shader_reads(self.spec, self.tensors, self._decoder(material, data), file),
                self._latents(material),
            )
            for material in self.materials
        ]

    def parameters(self, material: SceneMaterial) -> Parameters:
        """What a material's stored numbers mean, in single floats."""
        data = self._decoder(material, read_recorded(self.folder, self.weights))
        decoder = unpack_weights(
            self.spec, self.tensors, data, str(self.folder / self.weights.file)
        )
        values = self._latents(material).values()
        return Parameters(self.spec, material.latents.layout, decoder, values)

    def check_files(self) -> None:
        """Every file that the manifest names is there and is the one that was written with it, and
        its maps can be read, which no decoder reads."""
        for record in self.records:
            read_recorded(self.folder, record)
        for material in self.materials:
            for facts in (material.emission, material.opacity):
                if facts:
                    self._texture(facts.record, facts.texture)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """Every file beside the manifest."""
        return tuple(self.named_records.values())

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """The same by field."""
        return {
            "weights": self.weights,
            **named_runtime(self.runtime),
            **{
                f"materials[{index}].{name}": record
                for index, material in enumerate(self.materials)
                for name, record in material.named_records.items()
            },
        }

    def reference(self, material: SceneMaterial) -> Reference:
        data = read_recorded(self.folder, material.reference)
        return parse_reference(
            data, material.reference_count, str(self.folder / material.reference.file)
        )

    def _decoder(self, material: SceneMaterial, data: bytes) -> bytes:
        begin = material.weights_offset
        return data[begin : begin + self.decoder_bytes]

    def _latents(self, material: SceneMaterial) -> LatentTexture:
        facts = material.latents
        levels = self._texture(facts.record, facts.texture)
        scale, offset = (np.array(each, np.float32) for each in (facts.scale, facts.offset))
        return LatentTexture(levels, scale, offset)

    def _texture(self, record: FileRecord, shape: TextureShape) -> list[NDArray[Any]]:
        return read_ktx2(read_recorded(self.folder, record), shape, str(self.folder / record.file))


def pack(bundles: Sequence[Bundle], path: Path) -> Scene:
    """Writes a scene of these bundles, whole or not at all."""
    spec = require_one_architecture(bundles)
    names = _require_names(bundles)
    places: dict[bytes, int] = {}
    files: dict[str, bytes] = {}
    materials = []
    for name, bundle in zip(names, bundles, strict=True):
        bundle.check_files()
        # copied as it is, and so read first
        reference = bundle.reference()
        weights = stored_of(bundle).weights
        place = places.setdefault(weights, sum(map(len, places)))
        manifest = bundle.manifest

        def take(record: FileRecord, what: str, name: str = name, bundle: Bundle = bundle) -> Any:
            file = f"{name}.{what}"
            files[file] = read_recorded(bundle.folder, record)
            return record._replace(file=file)

        maps: dict[str, MapFacts] = {}
        for what in ("emission", "opacity"):
            facts: MapFacts | None = getattr(manifest, what)
            if facts:
                record = take(facts.record, f"{what}.ktx2")
                maps[what] = MapFacts(record, *_shape(facts))
        materials.append(
            SceneMaterial(
                name,
                place,
                _renamed(manifest.latents, take(manifest.latents.record, "latents.ktx2")),
                take(manifest.reference, "reference.json"),
                manifest.reference_count,
                bounds=manifest.bounds,
                # of version 1.0
                arithmetic=manifest.arithmetic
                or judge(bundle.parameters(), reference, manifest.bounds),
                **maps,
            )
        )
    files[WEIGHTS_FILE] = b"".join(places)
    advised = most_careful(each.arithmetic.advised for each in materials if each.arithmetic)
    shaders = runtime_files(spec, advised)
    files |= {f"{RUNTIME_FOLDER}{name}": data for name, data in shaders.items()}
    tensors, size = plan_tensors(spec)
    scene = Scene(
        path,
        spec,
        record_of(WEIGHTS_FILE, files[WEIGHTS_FILE]),
        tensors,
        size,
        tuple(materials),
        tuple(record_of(f"{RUNTIME_FOLDER}{name}", data) for name, data in shaders.items()),
        advised,
    )
    files[MANIFEST_FILE] = _encode(scene)
    # what would not be read back is not written
    _parse(files[MANIFEST_FILE], MANIFEST_FILE, path)
    return open_scene(put_folder(path, files, SCENE_FORMAT))


def require_one_architecture(bundles: Sequence[Bundle]) -> NetworkSpec:
    """One shader is compiled for one network; anything else is listed."""
    if not bundles:
        raise BundleError("there is no bundle to pack: name some")
    spec = bundles[0].spec
    if any(bundle.spec != spec for bundle in bundles):
        listed = "; ".join(f"{bundle.folder}: {describe(bundle.spec)}" for bundle in bundles)
        raise BundleError(
            f"these bundles have several decoder architectures: {listed}: pack those of one, or "
            "bake them again with one network and activation"
        )
    return spec


def describe(spec: NetworkSpec) -> str:
    """An architecture in a few words."""
    text = f"{spec.name} {spec.activation}, {spec.frame_count} frames"
    plain = NetworkSpec()
    if (spec.output_shift, spec.output_limit) != (plain.output_shift, plain.output_limit):
        text += f", exp(min(raw - {spec.output_shift:g}, {spec.output_limit:g}))"
    return text


def _require_names(bundles: Sequence[Bundle]) -> list[str]:
    """A plain name for each: that of its folder."""
    names = [_PLAIN.sub("_", bundle.folder.resolve().stem).strip("._-") for bundle in bundles]
    for index, name in enumerate(names):
        folder = bundles[index].folder
        if not name:
            raise BundleError(f"{folder}: has no plain name: rename it")
        same = [other.lower() for other in names].index(name.lower())
        if same != index:
            raise BundleError(
                f"{folder} and {bundles[same].folder} are both called {name}: rename one"
            )
    return names


def _renamed(facts: LatentFacts, record: FileRecord) -> LatentFacts:
    return LatentFacts(record, facts.layout, facts.format, facts.scale, facts.offset)


def _shape(facts: MapFacts) -> tuple[int, int, int, str]:
    return facts.width, facts.height, facts.levels, facts.format


def _encode(scene: Scene) -> bytes:
    document: dict[str, Any] = {
        "format": SCENE_FORMAT,
        "version": f"{MAJOR}.{MINOR}",
        "network": network_json(scene.spec),
        "weights": {
            **scene.weights.as_json(),
            "decoder_bytes": scene.decoder_bytes,
            "tensors": [tensor.as_json() for tensor in scene.tensors],
        },
        "materials": [material.as_json() for material in scene.materials],
        **({"arithmetic": {"advised": scene.advised}} if scene.advised else {}),
        "runtime": [record.as_json() for record in scene.runtime],
        "response": RESPONSE,
    }
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def open_scene(path: Path) -> Scene:
    """Reads a scene's manifest, checks it, and that its files have the lengths it says."""
    path = Path(path)
    folder = find_bundle_folder(path)
    if folder is None:
        raise BundleError(f"{path}: there is no such scene")
    data = read_whole(folder, MANIFEST_FILE, LARGEST_SCENE_MANIFEST)
    scene = _parse(data, str(folder / MANIFEST_FILE), folder)
    for record in scene.records:
        found = size_inside(folder, record.file)
        if found != record.bytes:
            raise BundleError(
                f"{folder / record.file}: bytes are {found}: the manifest says {record.bytes}"
            )
    return scene


def is_scene(path: Path) -> bool:
    """Whether there is a manifest that says so; whatever else is wrong is for its reader to say."""
    try:
        folder = find_bundle_folder(path)
        if folder is None:
            return False
        data = read_whole(folder, MANIFEST_FILE, LARGEST_SCENE_MANIFEST)
        return parse_json(data, MANIFEST_FILE).text("format") == SCENE_FORMAT
    except (BundleError, OSError):
        return False


def _parse(data: bytes, file: str, folder: Path) -> Scene:
    fields = parse_json(data, file)
    is_newer = require_format(fields, SCENE_FORMAT, "a scene's")
    require_response(fields)
    try:
        spec = parse_network(fields.table("network"))
    except SettingsError as failure:
        fields.refuse("network", str(failure))
    weights = fields.table("weights")
    record = parse_record(weights, LARGEST_SCENE_WEIGHTS)
    size = weights.whole("decoder_bytes", FILE_ALIGNMENT, LARGEST_WEIGHTS)
    whole = size % FILE_ALIGNMENT == 0
    weights.require(whole, "decoder_bytes", f"it must be a multiple of {FILE_ALIGNMENT}")
    tensors = parse_tensors(weights, spec)
    check_tensors(spec, tensors, size, file)
    materials = tuple(
        _material(each, record.bytes - size, is_newer)
        for each in fields.tables("materials", MOST_MATERIALS)
    )
    advised = parse_scene_advice(fields, [each.arithmetic for each in materials], is_newer)
    scene = Scene(folder, spec, record, tensors, size, materials, parse_runtime(fields), advised)
    require_own_files(scene.named_records, file)
    names = [material.name for material in materials]
    fields.require(len({*names}) == len(names), "materials", "each must have a name of its own")
    return scene


def _material(fields: Fields, last: int, is_newer: bool) -> SceneMaterial:
    place = fields.whole("weights_offset", 0, max(last, 0))
    fields.require(place % FILE_ALIGNMENT == 0, "weights_offset", "it must be a multiple of 128")
    reference = fields.table("reference")
    # scenes had none at first
    bounds = parse_bounds(fields.table("bounds")) if "bounds" in fields else Bounds()
    return SceneMaterial(
        fields.material_name(),
        place,
        parse_latents(fields.table("latents")),
        parse_record(reference, LARGEST_REFERENCE),
        parse_count(reference),
        parse_map(fields, "emission", EMISSION_FORMATS),
        parse_map(fields, "opacity", OPACITY_FORMATS),
        bounds,
        parse_arithmetic(fields, bounds, is_newer),
    )
