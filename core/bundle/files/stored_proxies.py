"""The entry of a manifest for proxies.ktx2, and its reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from verdigris.core.base.json_fields import Fields
from verdigris.core.bundle.files.ktx2 import FORMATS, RGBA8_SRGB, TextureShape
from verdigris.core.bundle.files.manifest_parts import (
    LARGEST_MAP,
    FileRecord,
    LatentFacts,
    parse_record,
    parse_size,
)
from verdigris.core.bundle.proxies.albedo_curves import COSINES, VIEW_COSINES, AlbedoCurves
from verdigris.core.bundle.proxies.proxy_texture import LAYERS, Proxies

# For people; docs/WRITING.md is the definition.
_SEMANTICS = (
    "0: diffuse albedo, roughness; 1 to 4: albedo seen under cosines[0] to cosines[3]; "
    "alpha of 1 and 2: x and y of the mean normal, by 2 a - 1"
)
# Of older bundles.
_MOST_POWER = 64
_POWERS_ARE = f"they must be from 0 to {_MOST_POWER}"


@dataclass(frozen=True)
class ProxyFacts:
    """The texture of proxies."""

    record: FileRecord
    """Its KTX 2.0 file."""
    width: int
    """Texels in u."""
    height: int
    """Texels in v."""
    levels: int
    """Mip levels, the finest included."""
    curves: AlbedoCurves
    """Between the albedos."""

    @property
    def texture(self) -> TextureShape:
        """Required format and size of its file."""
        return TextureShape(FORMATS[RGBA8_SRGB], self.width, self.height, self.levels, LAYERS)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.record.as_json(),
            "width": self.width,
            "height": self.height,
            "levels": self.levels,
            "layers": LAYERS,
            "format": RGBA8_SRGB,
            "cosines": list(COSINES),
            **_curves_as_json(self.curves),
            "semantics": _SEMANTICS,
        }


def proxy_facts(record: FileRecord, proxies: Proxies) -> ProxyFacts:
    _, height, width, _ = proxies.levels[0].shape
    return ProxyFacts(record, width, height, len(proxies.levels), proxies.curves)


def texels_a_proxy(latents: LatentFacts, facts: ProxyFacts) -> int:
    """Width of the latents by that of the proxies."""
    return max(latents.layout.width, latents.layout.height) // max(facts.width, facts.height)


def parse_proxies(fields: Fields, latents: LatentFacts) -> ProxyFacts | None:
    """None in bundles that have none, as of versions before 4.2."""
    if "proxies" not in fields:
        return None
    table = fields.table("proxies")
    facts = ProxyFacts(parse_record(table, LARGEST_MAP), *parse_size(table), _parse_curves(table))
    table.whole("layers", LAYERS, LAYERS)
    table.chosen("format", (RGBA8_SRGB,))
    holds = np.array_equal(table.numbers("cosines", len(COSINES)), COSINES)
    table.require(holds, "cosines", f"this reads {[*COSINES]}")
    ratio = texels_a_proxy(latents, facts)
    sides = [
        max(1, side // max(1, ratio)) for side in (latents.layout.width, latents.layout.height)
    ]
    is_part = ratio >= 1 and ratio & (ratio - 1) == 0 and sides == [facts.width, facts.height]
    remedy = "width and height must be those of the latents divided by one power of two"
    table.require(is_part, "width", remedy)
    return facts


def _curves_as_json(curves: AlbedoCurves) -> dict[str, Any]:
    if curves.powers:
        return {"powers": [*curves.powers], "weights": curves.table.tolist()}
    return {"curves": curves.table.tolist()}


def _parse_curves(table: Fields) -> AlbedoCurves:
    stored = len(COSINES)
    if "curves" in table or "powers" not in table:
        return AlbedoCurves(table.numbers("curves", 3, len(VIEW_COSINES), stored))
    powers = table.numbers("powers", stored)
    table.require(bool(((powers >= 0) & (powers <= _MOST_POWER)).all()), "powers", _POWERS_ARE)
    return AlbedoCurves(table.numbers("weights", stored, stored), tuple(powers.tolist()))
