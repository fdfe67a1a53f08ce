"""Snapshots: of a finished bundle, and of a training.

A training has plain latents in bytes: blocks of BC7 take too long to fit. Its sampler is neutral,
because heads are fitted at the end: it draws broad lobes, with which pictures are right and have
more noise. Clients need no other shader for the finished bundle.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.json_fields import parse_json
from verdigris.core.base.outputs import MANIFEST_FILE, WEIGHTS_FILE
from verdigris.core.base.text import version
from verdigris.core.bundle.files.ktx2 import BC6H, R8, RGBA8, RGBA16F, write_ktx2
from verdigris.core.bundle.files.manifest import Manifest
from verdigris.core.bundle.files.manifest_parts import FileRecord, LatentFacts, MapFacts
from verdigris.core.bundle.files.read import open_bundle, read_recorded, record_of
from verdigris.core.bundle.files.stored_textures import emission_blocks, store_latents
from verdigris.core.bundle.files.weights import pack_weights
from verdigris.core.bundle.files.write import (
    EMISSION_FILE,
    LATENTS_FILE,
    OPACITY_FILE,
    RELIEF_FILE,
    TRANSMITTED_FILE,
    relief_facts,
)
from verdigris.core.link.protocol import Snapshot
from verdigris.core.network.light.sampler import all_head_views
from verdigris.core.network.spec import NetworkSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.bundle.files.manifest_parts import ReliefFacts
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.geometry.height_map import HeightMap
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.network.latents.quantise import LatentRange
    from verdigris.core.network.parameters import Parameters

# Tables of the manifest that clients get.
_FIELDS = (
    *("format", "version", "name", "live", "tiles", "network", "sampler", "weights", "latents"),
    *("emission", "opacity", "relief", "bounds"),
)
_FINAL_FIELDS = (*_FIELDS, "proxies", "transmission", "reference", "errors")
_NOTHING = FileRecord("reference.json", 1, "0" * 64)
# GGX alpha of a neutral sampler's lobes, before the stretch of frames.
_WIDTH = 0.15


def snapshot_of_bundle(folder: Path, name: str = "") -> Snapshot:
    """A finished bundle. `name` is the one by which clients ask for it."""
    bundle = open_bundle(folder)
    document = parse_json(bundle.manifest.encode(), MANIFEST_FILE).values
    manifest = {each: document[each] for each in _FINAL_FIELDS if each in document}
    return Snapshot(name or bundle.manifest.name, _files_of(bundle, manifest), manifest, True)


def _files_of(bundle: Bundle, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    wanted = {name.split(".")[0] for name in manifest}
    return {
        record.file: read_recorded(bundle.folder, record)
        for name, record in bundle.manifest.named_records.items()
        if name.split(".")[0] in wanted and not name.startswith("runtime")
    }


class SnapshotMaker:
    """Makes snapshots of one material while it trains. Maps of emission, opacity and heights are
    encoded once."""

    def __init__(
        self,
        name: str,
        live: Sequence[LiveInput] = (),
        emission: Sequence[NDArray[Any]] | None = None,
        emission_format: str = RGBA16F,
        opacity: Sequence[NDArray[Any]] | None = None,
        relief: HeightMap | None = None,
    ) -> None:
        self._name, self._live = name, tuple(live)
        self._writer = f"verdigris {version()}"
        self._maps: dict[str, tuple[MapFacts, bytes]] = {}
        if emission:
            stored = emission_blocks(emission) if emission_format == BC6H else emission
            self._add_map(EMISSION_FILE, emission_format, stored, emission[0].shape[:2])
        if opacity:
            self._add_map(OPACITY_FILE, R8, opacity, opacity[0].shape[:2])
        self._relief: ReliefFacts | None = None
        self._constant = {name: data for name, (_, data) in self._maps.items()}
        if relief:
            data = self._constant[RELIEF_FILE] = write_ktx2(RGBA8, relief.levels, self._writer)
            self._relief = relief_facts(record_of(RELIEF_FILE, data), relief)

    def _add_map(
        self, file: str, form: str, levels: Sequence[NDArray[Any]], size: tuple[int, ...]
    ) -> None:
        height, width = size
        data = write_ktx2(form, levels, self._writer, (height, width))
        facts = MapFacts(record_of(file, data), width, height, len(levels), form)
        self._maps[file] = facts, data

    def make(
        self,
        parameters: Parameters,
        known: LatentRange | None = None,
        texel_format: str = RGBA8,
        facts: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """The material with these numbers, which are its own. `known` is the range of latents in
        rounding-aware training."""
        spec, layout = parameters.spec, parameters.layout
        latents = store_latents(parameters.latents, layout, texel_format, known)
        head = _neutral_head(spec)
        own = parameters.with_heads(head, head)
        weights, tensors = pack_weights(own)
        files = {
            WEIGHTS_FILE: weights,
            LATENTS_FILE: write_ktx2(latents.format, latents.levels, self._writer, latents.size),
        }
        if own.transmitted:
            files[TRANSMITTED_FILE] = pack_weights(own.sides[1])[0]
        records = {name: record_of(name, data) for name, data in files.items()}
        latent_facts = LatentFacts(
            records[LATENTS_FILE],
            *(layout.width, layout.height, layout.levels),
            latents.format,
            tuple(latents.scale.tolist()),
            tuple(latents.offset.tolist()),
        )
        maps = {name: facts for name, (facts, _) in self._maps.items()}
        manifest = Manifest(
            name=self._name,
            spec=spec,
            weights=records[WEIGHTS_FILE],
            tensors=tensors,
            latents=latent_facts,
            reference=_NOTHING,
            reference_count=1,
            live=self._live,
            emission=maps.get(EMISSION_FILE),
            opacity=maps.get(OPACITY_FILE),
            relief=self._relief,
        )
        document = parse_json(manifest.encode(), MANIFEST_FILE).values
        chosen = {name: document[name] for name in _FIELDS if name in document}
        if own.transmitted:
            below = records[TRANSMITTED_FILE].as_json()
            chosen["transmission"] = {"index": own.transmitted.index, "weights": below}
        return Snapshot(self._name, files | self._constant, chosen, False, facts or {})


def _neutral_head(spec: NetworkSpec) -> NDArray[np.float32]:
    """A head of which all lobes have the same width and share, and the split's factors are 1."""
    head = np.zeros(spec.head_layers[-1].end, np.float32)
    widths = all_head_views(spec, head)[3]
    widths[: 2 * spec.frame_count] = np.log(_WIDTH)
    return head
