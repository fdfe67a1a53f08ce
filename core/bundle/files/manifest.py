"""manifest.json of a bundle: writing and reading. docs/WRITING.md describes every field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verdigris.core.base.json_fields import Fields, parse_json, refuse
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.arithmetic import Arithmetic, parse_arithmetic
from verdigris.core.bundle.files.manifest_network import (
    has_older_lobes,
    head_names,
    network_json,
    parse_network,
    parse_sampler,
    sampler_json,
    tensor_names,
)
from verdigris.core.bundle.files.manifest_parts import (
    LARGEST_REFERENCE,
    LARGEST_WEIGHTS,
    Bounds,
    FileRecord,
    LatentFacts,
    MapFacts,
    ProxyFacts,
    ReliefFacts,
    Tensor,
    TransmittedFacts,
    named_runtime,
    parse_bounds,
    parse_constants,
    parse_count,
    parse_latents,
    parse_map,
    parse_proxies,
    parse_record,
    parse_relief,
    parse_runtime,
    parse_tensors,
    parse_transmitted,
)
from verdigris.core.material.domain import Tiles, parse_tiles
from verdigris.core.material.live_inputs.live_input import LiveInput, live_json, parse_live
from verdigris.core.network.spec import NetworkSpec

FORMAT = "verdigris.material"
# Suffix of a bundle's folder.
SUFFIX = ".vdg"
SCENE_FORMAT = "verdigris.scene"
TEXTURES_FORMAT = "verdigris.textures"
MAJOR, MINOR = 4, 9
VERSION = f"{MAJOR}.{MINOR}"
# Textures beside the latents, by their field.
MAPS = ("emission", "opacity", "relief", "proxies")
LARGEST_MANIFEST = 4 << 20
LARGEST_PREVIEW = 64 << 20
_VERSION_PATTERN = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json."""

    name: str
    """Name of the material."""
    spec: NetworkSpec
    """The decoder's architecture."""
    weights: FileRecord
    """The file of the tensors."""
    tensors: tuple[Tensor, ...]
    """Their places in the file."""
    latents: LatentFacts
    """The latent texture."""
    reference: FileRecord
    """Responses that decoders are checked with."""
    reference_count: int
    """Number of rows in the reference."""
    has_older_lobes: bool = False
    """Whether it has rows of an older version's lobes, which differ at grazing views."""
    live: tuple[LiveInput, ...] = ()
    """Names, ranges and defaults of the decoder's live inputs."""
    tiles: Tiles | None = None
    """UDIM tiles, if the unit square is their atlas."""
    bounds: Bounds = field(default_factory=Bounds)
    """Largest allowed differences from the reference."""
    constants: FileRecord | None = None
    """The weights as shaders read them from constants; bundles before 4.3 have none."""
    transmitted: TransmittedFacts | None = None
    """The decoder for light from below, if the surface transmits."""
    arithmetic: Arithmetic | None = None
    """The advised arithmetic, if known."""
    emission: MapFacts | None = None
    """Emission map, if the material emits light."""
    opacity: MapFacts | None = None
    """Opacity map, if the material is not opaque everywhere."""
    relief: ReliefFacts | None = None
    """Height map, if the material displaces its surface."""
    proxies: ProxyFacts | None = None
    """Albedo, normal and roughness as textures, if the bundle has them."""
    preview: FileRecord | None = None
    """Picture of reference, neural material and heat map."""
    runtime: tuple[FileRecord, ...] = ()
    """Shaders that evaluate the bundle."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The baked document, the settings, and versions."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """What the bake kept, approximated and dropped."""
    errors: Mapping[str, Any] = field(default_factory=dict)
    """Errors measured on the stored numbers."""
    cost: Mapping[str, Any] = field(default_factory=dict)
    """Bytes, and operations of one evaluation."""

    @property
    def live_defaults(self) -> tuple[float, ...]:
        """Values of the live inputs in evaluations without values."""
        return tuple(each.default for each in self.live)

    @property
    def has_sampler(self) -> bool:
        """Whether the bundle has the head of a sampler; bundles before 4.2 have none."""
        return has_sampler(self.tensors)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """Records of every file that the manifest names."""
        return tuple(self.named_records.values())

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """The same, by field."""
        maps = {name: getattr(self, name) for name in MAPS}
        return {
            "weights": self.weights,
            **({"constants": self.constants} if self.constants else {}),
            "latents": self.latents.record,
            **{name: facts.record for name, facts in maps.items() if facts},
            "reference": self.reference,
            **(self.transmitted.records if self.transmitted else {}),
            **({"preview": self.preview} if self.preview else {}),
            **named_runtime(self.runtime),
        }

    def encode(self) -> bytes:
        """The file's bytes."""
        # names are not escaped: decoders in C show the text of the file as it is
        text = json.dumps(_as_json(self), indent=1, allow_nan=False, ensure_ascii=False)
        # characters that are not Unicode become escapes
        return (text + "\n").encode(errors="backslashreplace")


RESPONSE = {
    "quantity": "BSDF times the cosine between the normal and wi; the light is left out",
    "color_space": "linear Rec.709",
    "range": "scene-linear, from 0 up",
    "directions": "unit vectors from the surface: wi to the light, wo to the viewer",
    "frame": "x = tangent (dP/du), y = bitangent, z = normal",
    "horizon": "zero where wi.z <= 0 or wo.z <= 0",
    "uv": "wraps; texel (i, j) of a level is centred at ((i + 0.5) / width, (j + 0.5) / height)",
}


def _as_json(manifest: Manifest) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": manifest.name,
        **live_json(manifest.live),
        **({"tiles": manifest.tiles.as_json()} if manifest.tiles else {}),
        "network": network_json(manifest.spec),
        **({"sampler": sampler_json(manifest.spec)} if manifest.has_sampler else {}),
        "weights": {
            **manifest.weights.as_json(),
            "tensors": [tensor.as_json() for tensor in manifest.tensors],
        },
        **({"constants": manifest.constants.as_json()} if manifest.constants else {}),
        "latents": manifest.latents.as_json(),
    }
    for name in MAPS:
        facts: MapFacts | None = getattr(manifest, name)
        if facts:
            document[name] = facts.as_json()
    document["reference"] = {**manifest.reference.as_json(), "count": manifest.reference_count}
    if manifest.transmitted:
        document["transmission"] = manifest.transmitted.as_json()
    if manifest.preview:
        document["preview"] = manifest.preview.as_json()
    if manifest.runtime:
        document["runtime"] = [record.as_json() for record in manifest.runtime]
    document["response"] = RESPONSE
    document["bounds"] = manifest.bounds.as_json()
    if manifest.arithmetic:
        document["arithmetic"] = manifest.arithmetic.as_json()
    for name in ("source", "report", "errors", "cost"):
        document[name] = dict(getattr(manifest, name))
    return document


def parse_manifest(data: bytes, file: str) -> Manifest:
    """Reads what encode() writes. An error names file and field."""
    fields = parse_json(data, file)
    is_newer = require_format(fields, FORMAT, "a bundle's")
    name = fields.material_name()
    require_response(fields)
    spec = parse_network(fields)
    weights = fields.table("weights")
    reference = fields.table("reference")
    preview = fields.table("preview") if "preview" in fields else None
    bounds = parse_bounds(fields.table("bounds"))
    latents = parse_latents(fields.table("latents"), spec)
    manifest = Manifest(
        name=name,
        spec=spec,
        weights=parse_record(weights, LARGEST_WEIGHTS),
        tensors=parse_known_tensors(fields, spec, is_newer),
        latents=latents,
        live=parse_live(fields, spec.live_inputs),
        tiles=parse_tiles(fields),
        constants=parse_constants(fields, 2 * LARGEST_WEIGHTS),
        reference=parse_record(reference, LARGEST_REFERENCE),
        reference_count=parse_count(reference),
        has_older_lobes=has_older_lobes(fields),
        bounds=bounds,
        transmitted=parse_transmitted(fields, latents),
        arithmetic=parse_arithmetic(fields, bounds, is_newer),
        emission=parse_map(fields, "emission"),
        opacity=parse_map(fields, "opacity"),
        relief=parse_relief(fields),
        proxies=parse_proxies(fields, latents),
        preview=parse_record(preview, LARGEST_PREVIEW) if preview else None,
        runtime=parse_runtime(fields),
        **{each: fields.table(each).values for each in ("source", "report", "errors", "cost")},
    )
    require_distinct_files(manifest.named_records, file)
    return manifest


def has_sampler(tensors: Iterable[Tensor]) -> bool:
    return any(tensor.name in head_names() for tensor in tensors)


def parse_known_tensors(manifest: Fields, spec: NetworkSpec, is_newer: bool) -> tuple[Tensor, ...]:
    """The tensors of the decoder, and of the sampler if there is one."""
    heads = head_names() if parse_sampler(manifest, spec, is_newer) else ()
    return parse_tensors(manifest.table("weights"), (*tensor_names(spec), *heads))


def require_format(fields: Fields, name: str, whose: str) -> bool:
    """Checks kind and version; returns whether the minor version is above MINOR."""
    found = fields.text("format")
    remedy = f"{whose} is {name!r}"
    if found == SCENE_FORMAT:
        remedy += ": this is a scene pack, which only verify reads: name one of its bundles"
    fields.require(found == name, "format", remedy)
    version = _VERSION_PATTERN.fullmatch(fields.text("version"))
    if version is None:
        fields.refuse("version", "it must be MAJOR.MINOR")
    major = int(version[1])
    if major > MAJOR:
        fields.refuse("version", f"this reads {MAJOR}.x: use a newer Verdigris")
    if major < MAJOR:
        again = "materials again, and pack them" if name == SCENE_FORMAT else "material again"
        fields.refuse("version", f"this reads {MAJOR}.x: bake the {again}")
    return int(version[2]) > MINOR


def require_response(fields: Fields) -> None:
    """Checks only that there is a table `response`: its text is for people."""
    fields.value("response")


def require_distinct_files(named: Mapping[str, FileRecord], file: str) -> None:
    """Refuses two fields that name one file. Case is ignored, as by some file systems."""
    owners: dict[str, str] = {}
    for name, record in named.items():
        field_name, key = f"{name}.file", record.file.lower()
        if key == MANIFEST_FILE:
            refuse(file, field_name, record.file, "this is the manifest itself")
        if key in owners:
            refuse(file, field_name, record.file, f"{owners[key]} names the same file")
        owners[key] = field_name
