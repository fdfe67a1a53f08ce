"""A material of a scene pack: its entry in the manifest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from verdigris.core.base.json_fields import Fields
from verdigris.core.bundle.files.arithmetic import Arithmetic, parse_arithmetic
from verdigris.core.bundle.files.manifest import MAPS
from verdigris.core.bundle.files.manifest_parts import (
    LARGEST_REFERENCE,
    Bounds,
    FileRecord,
    LatentFacts,
    MapFacts,
    ProxyFacts,
    ReliefFacts,
    parse_bounds,
    parse_count,
    parse_index,
    parse_latents,
    parse_map,
    parse_proxies,
    parse_record,
    parse_relief,
    parse_transmitted_albedo,
)
from verdigris.core.bundle.files.weights import FILE_ALIGNMENT
from verdigris.core.material.live_inputs.live_input import LiveInput, live_json, parse_live
from verdigris.core.network.spec import NetworkSpec


@dataclass(frozen=True)
class SceneTransmission:
    """The decoder of a material for light from below."""

    index: float
    """The index of the medium below; 1 for a thin wall."""
    weights_offset: int
    """First byte of the decoder in weights.bin."""
    reference: FileRecord
    """With mirrored directions of light, and as many rows as the other reference."""
    albedo: MapFacts | None = None
    """The transmitted albedo; some materials have none."""

    @property
    def records(self) -> dict[str, FileRecord]:
        """Records of its files, by field."""
        albedo = {"transmission.albedo": self.albedo.record} if self.albedo else {}
        return {"transmission.reference": self.reference, **albedo}

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "weights_offset": self.weights_offset,
            "reference": self.reference.as_json(),
            **({"albedo": self.albedo.as_json()} if self.albedo else {}),
        }


@dataclass(frozen=True)
class SceneMaterial:
    """One material of a scene pack."""

    name: str
    """Name for people; `pack` begins file names with it."""
    weights_offset: int
    """First byte of its decoder in weights.bin."""
    latents: LatentFacts
    """Its latent texture."""
    reference: FileRecord
    """Responses that decoders are checked with."""
    reference_count: int
    """Number of rows in the reference."""
    live: tuple[LiveInput, ...] = ()
    """Names, ranges and defaults of live inputs."""
    emission: MapFacts | None = None
    """Emission map, if the material emits light."""
    opacity: MapFacts | None = None
    """Opacity map, if the material is not opaque everywhere."""
    relief: ReliefFacts | None = None
    """Height map, if the material displaces its surface."""
    proxies: ProxyFacts | None = None
    """Albedo, normal and roughness as textures, if it has them."""
    transmitted: SceneTransmission | None = None
    """The decoder for light from below, if the surface transmits."""
    bounds: Bounds = field(default_factory=Bounds)
    """Largest allowed differences from the reference."""
    arithmetic: Arithmetic | None = None
    """The advised arithmetic, if known."""

    @property
    def maps(self) -> dict[str, MapFacts]:
        """Textures beside the latents, by field."""
        found = {name: getattr(self, name) for name in MAPS}
        return {name: facts for name, facts in found.items() if facts}

    @property
    def named_records(self) -> dict[str, FileRecord]:
        """Records of its files, by field."""
        return {
            "latents": self.latents.record,
            **{name: facts.record for name, facts in self.maps.items()},
            "reference": self.reference,
            **(self.transmitted.records if self.transmitted else {}),
        }

    @property
    def sides(self) -> tuple[SceneMaterial, ...]:
        """Light from above, and from below if it transmits, each as a material of one side: the
        second has mirrored directions."""
        above, below = replace(self, transmitted=None), self.transmitted
        if below is None:
            return (above,)
        place, reference = below.weights_offset, below.reference
        return above, replace(above, weights_offset=place, reference=reference)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "weights_offset": self.weights_offset,
            **live_json(self.live),
            "latents": self.latents.as_json(),
            **{name: facts.as_json() for name, facts in self.maps.items()},
            "reference": {**self.reference.as_json(), "count": self.reference_count},
            **({"transmission": self.transmitted.as_json()} if self.transmitted else {}),
            "bounds": self.bounds.as_json(),
            **({"arithmetic": self.arithmetic.as_json()} if self.arithmetic else {}),
        }


def parse_material(fields: Fields, spec: NetworkSpec, last: int, is_newer: bool) -> SceneMaterial:
    """Reads what as_json() writes. `last` is the largest first byte of a decoder."""
    reference = fields.table("reference")
    # defaults of the format
    bounds = parse_bounds(fields.table("bounds")) if "bounds" in fields else Bounds()
    latents = parse_latents(fields.table("latents"), spec)
    return SceneMaterial(
        name=fields.material_name(),
        weights_offset=_parse_place(fields, last),
        latents=latents,
        reference=parse_record(reference, LARGEST_REFERENCE),
        reference_count=parse_count(reference),
        live=parse_live(fields, spec.live_inputs),
        emission=parse_map(fields, "emission"),
        opacity=parse_map(fields, "opacity"),
        relief=parse_relief(fields),
        proxies=parse_proxies(fields, latents),
        transmitted=_parse_transmission(fields, latents, last),
        bounds=bounds,
        arithmetic=parse_arithmetic(fields, bounds, is_newer),
    )


def _parse_transmission(
    fields: Fields, latents: LatentFacts, last: int
) -> SceneTransmission | None:
    if "transmission" not in fields:
        return None
    table = fields.table("transmission")
    return SceneTransmission(
        parse_index(table),
        _parse_place(table, last),
        parse_record(table.table("reference"), LARGEST_REFERENCE),
        parse_transmitted_albedo(table, latents),
    )


def _parse_place(fields: Fields, last: int) -> int:
    place = fields.whole("weights_offset", 0, last)
    remedy = f"it must be a multiple of {FILE_ALIGNMENT}"
    fields.require(place % FILE_ALIGNMENT == 0, "weights_offset", remedy)
    return place
