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
from verdigris.core.bundle.proxies.proxy_texture import (
    COSINES,
    LAYERS,
    POWER_SETS,
    Powers,
    Proxies,
    interpolation,
)

# For people; docs/WRITING.md is the definition.
_SEMANTICS = (
    "0: diffuse albedo, roughness; 1 to 4: albedo seen under cosines[0] to cosines[3]; "
    "alpha of 1 and 2: x and y of the mean normal, by 2 a - 1"
)
_SAME_NUMBER = 1e-6


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
    powers: Powers
    """Of 1 - cosine, between the albedos."""

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
            "powers": list(self.powers),
            "weights": interpolation(self.powers).round(9).tolist(),
            "semantics": _SEMANTICS,
        }


def proxy_facts(record: FileRecord, proxies: Proxies) -> ProxyFacts:
    _, height, width, _ = proxies.levels[0].shape
    return ProxyFacts(record, width, height, len(proxies.levels), proxies.powers)


def texels_a_proxy(latents: LatentFacts, facts: ProxyFacts) -> int:
    """Width of the latents by that of the proxies."""
    return max(latents.layout.width, latents.layout.height) // max(facts.width, facts.height)


def parse_proxies(fields: Fields, latents: LatentFacts) -> ProxyFacts | None:
    """None in bundles that have none, as of versions before 4.2."""
    if "proxies" not in fields:
        return None
    table = fields.table("proxies")
    powers = _parse_powers(table)
    facts = ProxyFacts(parse_record(table, LARGEST_MAP), *parse_size(table), powers)
    table.whole("layers", LAYERS, LAYERS)
    table.chosen("format", (RGBA8_SRGB,))
    for name, wanted in (("cosines", np.array(COSINES)), ("weights", interpolation(powers))):
        found = table.numbers(name, *wanted.shape)
        holds = bool((np.abs(found - wanted) <= _SAME_NUMBER).all())
        table.require(holds, name, f"this reads {wanted.round(6).tolist()}")
    ratio = texels_a_proxy(latents, facts)
    sides = [
        max(1, side // max(1, ratio)) for side in (latents.layout.width, latents.layout.height)
    ]
    is_part = ratio >= 1 and ratio & (ratio - 1) == 0 and sides == [facts.width, facts.height]
    remedy = "width and height must be those of the latents divided by one power of two"
    table.require(is_part, "width", remedy)
    return facts


def _parse_powers(table: Fields) -> Powers:
    found = table.numbers("powers", len(COSINES))
    chosen = next((each for each in POWER_SETS if np.array_equal(found, each)), None)
    if chosen is None:
        table.refuse("powers", f"this reads {', '.join(str([*each]) for each in POWER_SETS)}")
    return chosen
