"""Writes bundles: their files and their manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.outputs import MANIFEST_FILE, WEIGHTS_FILE
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import version
from verdigris.core.bundle.files.arithmetic import Arithmetic
from verdigris.core.bundle.files.ktx2 import BC6H, R8, RGBA8, RGBA8_SRGB, RGBA16F, write_ktx2
from verdigris.core.bundle.files.manifest import Manifest, parse_manifest
from verdigris.core.bundle.files.manifest_parts import (
    RUNTIME_FOLDER,
    Bounds,
    FileRecord,
    LatentFacts,
    MapFacts,
    ReliefFacts,
    TransmittedFacts,
    proxy_facts,
)
from verdigris.core.bundle.files.read import record_of
from verdigris.core.bundle.files.reference import (
    Reference,
    Textures,
    encode_reference,
    make_reference,
    with_textures,
)
from verdigris.core.bundle.files.replace_folder import Dispose, replace_folder
from verdigris.core.bundle.files.stored_textures import (
    Exported,
    emission_blocks,
    emission_of_blocks,
    export_numbers,
)
from verdigris.core.bundle.files.weights import constant_floats, pack_weights
from verdigris.core.material.live_inputs.live_input import LiveInput, unnamed_inputs
from verdigris.core.network.parameters import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
    from verdigris.core.geometry.height_map import HeightMap
    from verdigris.core.material.domain import Tiles

LATENTS_FILE = "latents.ktx2"
CONSTANTS_FILE = "constants.bin"
TRANSMITTED_FILE = "transmitted.bin"
TRANSMITTED_CONSTANTS_FILE = "transmitted_constants.bin"
TRANSMITTED_REFERENCE_FILE = "transmitted_reference.json"
TRANSMITTED_ALBEDO_FILE = "transmitted_albedo.ktx2"
EMISSION_FILE = "emission.ktx2"
OPACITY_FILE = "opacity.ktx2"
RELIEF_FILE = "height.ktx2"
PROXIES_FILE = "proxies.ktx2"
REFERENCE_FILE = "reference.json"
PREVIEW_FILE = "preview.png"


@dataclass(frozen=True)
class Contents:
    """The contents of a bundle beside its numbers."""

    name: str = "material"
    """Name of the material."""
    source: Mapping[str, Any] = field(default_factory=dict)
    """The baked document, the settings, and versions."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """What the bake kept, approximated and dropped."""
    errors: Mapping[str, Any] = field(default_factory=dict)
    """Errors measured on the exported numbers."""
    bounds: Bounds = field(default_factory=Bounds)
    """Largest allowed differences from the reference."""
    arithmetic: Arithmetic | None = None
    """The advised arithmetic, for which `runtime` is compiled."""
    live: tuple[LiveInput, ...] = ()
    """Names, ranges and defaults of live inputs; by default numbers from 0 to 1."""
    tiles: Tiles | None = None
    """UDIM tiles, if the unit square is their atlas."""
    reference: Reference | None = None
    """By default it is made from the exported numbers, without a teacher."""
    transmitted_reference: Reference | None = None
    """The same for light from below."""
    preview: bytes | None = None
    """A PNG."""
    emission: Sequence[NDArray[Any]] | None = None
    """Mip levels [height, width, 4] in half floats, finest first."""
    emission_format: str = RGBA16F
    """One of formats_of("emission")."""
    opacity: Sequence[NDArray[Any]] | None = None
    """Mip levels [height, width, 1] in bytes, finest first."""
    relief: HeightMap | None = None
    """Heights, if the material displaces its surface."""
    proxies: Proxies | None = None
    """Albedo, normal and roughness as textures."""
    transmitted_albedo: TransmittedAlbedo | None = None
    """The mean share of light from below that passes, as a texture."""
    runtime: Mapping[str, bytes] = field(default_factory=dict)
    """Shaders by file name."""


@profiled("write bundle")
def write_bundle(
    path: Path, exported: Exported | Parameters, contents: Contents, dispose: Dispose | None = None
) -> Path:
    """Writes the folder `path`. A bundle that exists there stays until the new one is complete.
    Then `dispose` gets it, or it is removed."""
    if isinstance(exported, Parameters):
        exported = export_numbers(exported)
    return replace_folder(Path(path), _files(exported, contents), dispose=dispose)


def _files(exported: Exported, contents: Contents) -> dict[str, bytes]:
    """Every file of the bundle by name, the manifest last."""
    spec, layout = exported.parameters.spec, exported.parameters.layout
    writer = f"verdigris {version()}"
    blocks = None
    if contents.emission is not None and contents.emission_format == BC6H:
        blocks = emission_blocks(contents.emission)
        height, width = contents.emission[0].shape[:2]
        contents = replace(contents, emission=emission_of_blocks(blocks, width, height))
    reference = with_textures(
        contents.reference or make_reference(exported.exact.sides[0]),
        Textures(contents.proxies, contents.emission, contents.opacity),
    )
    weights, tensors = pack_weights(exported.parameters)
    latents = exported.latents
    below = exported.parameters.transmitted
    files = {
        WEIGHTS_FILE: weights,
        CONSTANTS_FILE: constant_floats(spec, tensors, weights),
        LATENTS_FILE: write_ktx2(latents.format, latents.levels, writer, latents.size),
        REFERENCE_FILE: encode_reference(reference),
        **{f"{RUNTIME_FOLDER}{name}": data for name, data in contents.runtime.items()},
    }
    if below:
        rows = contents.transmitted_reference or make_reference(exported.exact.sides[1])
        packed, _ = pack_weights(exported.parameters.sides[1])
        files |= {
            TRANSMITTED_FILE: packed,
            TRANSMITTED_CONSTANTS_FILE: constant_floats(spec, tensors, packed),
            TRANSMITTED_REFERENCE_FILE: encode_reference(rows),
        }
        if albedo := contents.transmitted_albedo:
            files[TRANSMITTED_ALBEDO_FILE] = write_ktx2(RGBA8_SRGB, albedo.levels, writer)
    if contents.preview:
        files[PREVIEW_FILE] = contents.preview
    maps = _add_maps(files, contents, blocks, writer)
    if contents.relief:
        files[RELIEF_FILE] = write_ktx2(RGBA8, contents.relief.levels, writer)
    if contents.proxies:
        files[PROXIES_FILE] = write_ktx2(RGBA8_SRGB, contents.proxies.levels, writer)
    records = {name: record_of(name, data) for name, data in files.items()}
    manifest = Manifest(
        name=contents.name,
        spec=spec,
        weights=records[WEIGHTS_FILE],
        tensors=tensors,
        constants=records[CONSTANTS_FILE],
        latents=LatentFacts(
            records[LATENTS_FILE],
            *(layout.width, layout.height, layout.levels),
            latents.format,
            tuple(latents.scale.tolist()),
            tuple(latents.offset.tolist()),
        ),
        live=contents.live or unnamed_inputs(exported.parameters.live),
        tiles=contents.tiles,
        reference=records[REFERENCE_FILE],
        reference_count=len(reference),
        bounds=contents.bounds,
        transmitted=_transmitted_facts(below.index, records, contents) if below else None,
        arithmetic=contents.arithmetic,
        emission=maps.get(EMISSION_FILE),
        opacity=maps.get(OPACITY_FILE),
        relief=relief_facts(records[RELIEF_FILE], contents.relief) if contents.relief else None,
        proxies=proxy_facts(records[PROXIES_FILE], contents.proxies) if contents.proxies else None,
        preview=records.get(PREVIEW_FILE),
        runtime=tuple(records[f"{RUNTIME_FOLDER}{name}"] for name in contents.runtime),
        source=contents.source,
        report=contents.report,
        errors=contents.errors,
        cost=_cost(exported.parameters, files),
    )
    files[MANIFEST_FILE] = manifest.encode()
    # never write a bundle that cannot be read back
    parse_manifest(files[MANIFEST_FILE], MANIFEST_FILE)
    return files


def _transmitted_facts(
    index: float, records: Mapping[str, FileRecord], contents: Contents
) -> TransmittedFacts:
    weights, constants, reference = (
        records[name]
        for name in (TRANSMITTED_FILE, TRANSMITTED_CONSTANTS_FILE, TRANSMITTED_REFERENCE_FILE)
    )
    albedo = None
    if stored := contents.transmitted_albedo:
        height, width, _ = stored.levels[0].shape
        record = records[TRANSMITTED_ALBEDO_FILE]
        albedo = MapFacts(record, width, height, len(stored.levels), RGBA8_SRGB)
    return TransmittedFacts(index, weights, constants, reference, albedo)


def relief_facts(record: FileRecord, heights: HeightMap) -> ReliefFacts:
    size = *heights.size, len(heights.levels)
    return ReliefFacts(record, *size, RGBA8, heights.scale, heights.midlevel)


def _add_maps(
    files: dict[str, bytes], contents: Contents, blocks: Sequence[NDArray[Any]] | None, writer: str
) -> dict[str, MapFacts]:
    """Adds the files of existing maps to `files`, and returns their manifest entries."""
    maps: dict[str, MapFacts] = {}
    for name, levels, format_name in (
        (EMISSION_FILE, contents.emission, contents.emission_format),
        (OPACITY_FILE, contents.opacity, R8),
    ):
        if levels:
            height, width, _ = levels[0].shape
            stored = blocks if blocks and name == EMISSION_FILE else levels
            files[name] = write_ktx2(format_name, stored, writer, (height, width))
            record = record_of(name, files[name])
            maps[name] = MapFacts(record, width, height, len(levels), format_name)
    return maps


def _cost(parameters: Parameters, files: Mapping[str, bytes]) -> dict[str, int]:
    """Bytes that an engine loads, and operations of one evaluation."""
    loaded = [name for name in (WEIGHTS_FILE, TRANSMITTED_FILE) if name in files]
    maps = [name for name in (EMISSION_FILE, OPACITY_FILE, RELIEF_FILE) if name in files]
    smaller = [name for name in (PROXIES_FILE, TRANSMITTED_ALBEDO_FILE) if name in files]
    proxies = {"proxies_bytes": sum(len(files[name]) for name in smaller)} if smaller else {}
    return {
        "weights_bytes": len(files[WEIGHTS_FILE]),
        "latents_bytes": len(files[LATENTS_FILE]),
        "maps_bytes": sum(len(files[name]) for name in maps),
        "loaded_bytes": sum(len(files[name]) for name in (*loaded, LATENTS_FILE, *maps)),
        **proxies,
        "multiply_adds": parameters.spec.multiply_adds,
        "activations": parameters.spec.hidden_layers * parameters.spec.hidden_width,
    }
