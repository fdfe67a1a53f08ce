"""manifest.json: what a bundle holds and what it means. The words are those of docs/FORMAT.md."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verdigris.core.base.json_fields import Fields, parse_json, refuse
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.arithmetic import Arithmetic, parse_arithmetic
from verdigris.core.bundle.files.manifest_network import network_json, parse_network
from verdigris.core.bundle.files.manifest_parts import (
    EMISSION_FORMATS,
    LARGEST_REFERENCE,
    LARGEST_WEIGHTS,
    OPACITY_FORMATS,
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
)
from verdigris.core.network.spec import NetworkSpec

FORMAT = "verdigris.material"
# Of a bundle's folder.
SUFFIX = ".vdg"
SCENE_FORMAT = "verdigris.scene"
MAJOR, MINOR = 4, 0
LARGEST_MANIFEST = 4 << 20
LARGEST_PREVIEW = 64 << 20
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


@dataclass(frozen=True)
class Manifest:
    """Everything that manifest.json says."""

    name: str
    """Of the material."""
    spec: NetworkSpec
    """The decoder's shape."""
    weights: FileRecord
    """The file of the tensors."""
    tensors: tuple[Tensor, ...]
    """Where each lies in it."""
    latents: LatentFacts
    """The latent texture."""
    reference: FileRecord
    """Values that a decoder checks itself against."""
    reference_count: int
    """How many."""
    bounds: Bounds = field(default_factory=Bounds)
    """How close it must come."""
    arithmetic: Arithmetic | None = None
    """Which arithmetic it asks for, where that is known."""
    emission: MapFacts | None = None
    """Light that the material gives off, where it does."""
    opacity: MapFacts | None = None
    """Coverage, where it is not 1 everywhere."""
    preview: FileRecord | None = None
    """A picture: reference, neural, heat map."""
    runtime: tuple[FileRecord, ...] = ()
    """Shaders that evaluate it."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """What was baked, with what."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """What of it was kept, approximated and dropped."""
    errors: Mapping[str, Any] = field(default_factory=dict)
    """As measured on these very numbers."""
    cost: Mapping[str, Any] = field(default_factory=dict)
    """Bytes, and operations of an evaluation."""

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """Of every file that the manifest names."""
        return tuple(self.named_records.values())

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """The same by field."""
        maps = {"emission": self.emission, "opacity": self.opacity}
        return {
            "weights": self.weights,
            "latents": self.latents.record,
            **{name: facts.record for name, facts in maps.items() if facts},
            "reference": self.reference,
            **({"preview": self.preview} if self.preview else {}),
            **named_runtime(self.runtime),
        }

    def encode(self) -> bytes:
        """The file's bytes."""
        return (json.dumps(_as_json(self), indent=1, allow_nan=False) + "\n").encode()


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
        "version": f"{MAJOR}.{MINOR}",
        "name": manifest.name,
        "network": network_json(manifest.spec),
        "weights": {
            **manifest.weights.as_json(),
            "tensors": [tensor.as_json() for tensor in manifest.tensors],
        },
        "latents": manifest.latents.as_json(),
    }
    for name in ("emission", "opacity"):
        facts: MapFacts | None = getattr(manifest, name)
        if facts:
            document[name] = facts.as_json()
    document["reference"] = {**manifest.reference.as_json(), "count": manifest.reference_count}
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
    """Reads what encode() writes; everything that is wrong is an error with its field."""
    fields = parse_json(data, file)
    is_newer = require_format(fields, FORMAT, "a bundle's")
    name = fields.material_name()
    require_response(fields)
    spec = parse_network(fields)
    weights = fields.table("weights")
    reference = fields.table("reference")
    preview = fields.table("preview") if "preview" in fields else None
    bounds = parse_bounds(fields.table("bounds"))
    manifest = Manifest(
        name=name,
        spec=spec,
        weights=parse_record(weights, LARGEST_WEIGHTS),
        tensors=parse_tensors(weights, spec),
        latents=parse_latents(fields.table("latents")),
        reference=parse_record(reference, LARGEST_REFERENCE),
        reference_count=parse_count(reference),
        bounds=bounds,
        arithmetic=parse_arithmetic(fields, bounds, is_newer),
        emission=parse_map(fields, "emission", EMISSION_FORMATS),
        opacity=parse_map(fields, "opacity", OPACITY_FORMATS),
        preview=parse_record(preview, LARGEST_PREVIEW) if preview else None,
        runtime=parse_runtime(fields),
        **{each: fields.table(each).values for each in ("source", "report", "errors", "cost")},
    )
    require_own_files(manifest.named_records, file)
    return manifest


def require_format(fields: Fields, name: str, whose: str) -> bool:
    """The kind of file, and a version that this can read; whether its minor one is beyond this."""
    found = fields.text("format")
    remedy = f"{whose} is {name!r}"
    if found == SCENE_FORMAT:
        remedy += ": name a bundle that the scene was packed of; verify alone takes scenes"
    fields.require(found == name, "format", remedy)
    version = _VERSION.fullmatch(fields.text("version"))
    if version is None:
        fields.refuse("version", "it must be MAJOR.MINOR")
    major = int(version[1])
    if major > MAJOR:
        fields.refuse("version", f"this reads {MAJOR}.x: take a newer Verdigris")
    if major < MAJOR:
        again = "materials again, and pack them" if name == SCENE_FORMAT else "material again"
        fields.refuse("version", f"this reads {MAJOR}.x: bake the {again}")
    return int(version[2]) > MINOR


def require_response(fields: Fields) -> None:
    """There is one; its words are for people."""
    fields.value("response")


def require_own_files(named: Mapping[str, FileRecord], file: str) -> None:
    """No file is of two things, also where a system does not tell capitals from small letters."""
    owners: dict[str, str] = {}
    for name, record in named.items():
        field_name, key = f"{name}.file", record.file.lower()
        if key == MANIFEST_FILE:
            refuse(file, field_name, record.file, "that is the manifest itself")
        if key in owners:
            refuse(file, field_name, record.file, f"{owners[key]} is the same file")
        owners[key] = field_name
