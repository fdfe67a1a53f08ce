"""The parts of a manifest that bundles and scene packs share, and their readers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from verdigris.core.base.json_fields import Fields, refuse
from verdigris.core.bundle.files.ktx2 import FORMATS, RGBA8_SRGB, TextureShape, formats_of
from verdigris.core.bundle.proxies.proxy_texture import (
    COSINES,
    LAYERS,
    VIEW_COSINES,
    AlbedoCurves,
    Proxies,
)
from verdigris.core.material.sides import INDICES
from verdigris.core.network.spec import LAYER_CHANNELS, LatentLayout, NetworkSpec

LARGEST_WEIGHTS = 16 << 20
# The type of a tensor's numbers.
HALF = np.dtype("<f2")
LARGEST_MAP = 2 << 30
LARGEST_REFERENCE = 8 << 20
FEWEST_REFERENCES = 256
MOST_REFERENCES = 1 << 14
RUNTIME_FOLDER = "runtime/"
LARGEST_RUNTIME_FILE = 16 << 20
MOST_RUNTIME_FILES = 64
MOST_TENSORS = 64
LARGEST_SIDE = 8192
LARGEST_LATENT = 1e30
# The smallest normal single float: many readers flush smaller ones to zero.
SMALLEST_SCALE = float(np.finfo(np.float32).tiny)
_OPTIONAL_BOUNDS = ("teacher_log_mae", "albedo", "transmitted_albedo")
# For people; docs/WRITING.md has the definition.
_SEMANTICS = (
    "0: diffuse albedo, roughness; 1 to 4: albedo seen under cosines[0] to cosines[3]; "
    "alpha of 1 and 2: x and y of the mean normal, by 2 a - 1"
)
# The largest power in curves of older bundles.
_MOST_POWER = 64
_POWERS_ARE = f"they must be from 0 to {_MOST_POWER}"


class FileRecord(NamedTuple):
    """A file of the bundle as the manifest records it."""

    file: str
    bytes: int
    sha256: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


@dataclass(frozen=True)
class Tensor:
    """A matrix or vector of half floats in weights.bin."""

    name: str
    """Name in the network."""
    shape: tuple[int, ...]
    """Rows and columns of a matrix, or length of a vector."""
    offset: int
    """First byte in the file."""
    row_stride: int
    """Bytes from row to row; for a vector, its length in bytes, which nothing uses."""
    type: str = "float16"
    """Type of a number."""
    place: str = field(default="weights.tensors", compare=False)
    """Path of its table in the manifest, for errors."""

    @property
    def is_matrix(self) -> bool:
        return len(self.shape) == 2

    @property
    def end(self) -> int:
        """One past the last byte, with the padding of a matrix's last row."""
        length = self.row_stride if self.is_matrix else HALF.itemsize
        return self.offset + self.shape[0] * length

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "shape": list(self.shape),
            "type": self.type,
            "offset": self.offset,
            "row_stride": self.row_stride,
        }


@dataclass(frozen=True)
class TransmittedFacts:
    """The decoder for light from below: files like those of the bundle's own decoder."""

    index: float
    """The index of the medium below; 1 for a thin wall."""
    weights: FileRecord
    """Tensors at the places of weights.tensors."""
    constants: FileRecord
    reference: FileRecord
    """With mirrored directions of light, and as many rows as the other reference."""
    albedo: MapFacts | None = None
    """The transmitted albedo; some bundles have none."""

    @property
    def records(self) -> dict[str, FileRecord]:
        names = "weights", "constants", "reference"
        found = {f"transmission.{name}": getattr(self, name) for name in names}
        return found | ({"transmission.albedo": self.albedo.record} if self.albedo else {})

    def as_json(self) -> dict[str, Any]:
        files = {name.partition(".")[2]: each.as_json() for name, each in self.records.items()}
        albedo = {"albedo": self.albedo.as_json()} if self.albedo else {}
        return {"index": self.index, **files, **albedo}


@dataclass(frozen=True)
class MapFacts:
    """A texture: the emission map or the opacity map, and the base of the others."""

    record: FileRecord
    """Its KTX 2.0 file."""
    width: int
    """Texels in u."""
    height: int
    """Texels in v."""
    levels: int
    """Mip levels, the finest included."""
    format: str
    """One of FORMATS."""

    @property
    def layers(self) -> int:
        """0 for a texture that is not an array."""
        return 0

    @property
    def texture(self) -> TextureShape:
        """Required format and size of its file."""
        return TextureShape(FORMATS[self.format], self.width, self.height, self.levels, self.layers)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.record.as_json(),
            "width": self.width,
            "height": self.height,
            "levels": self.levels,
            **({"layers": self.layers} if self.layers else {}),
            "format": self.format,
        }


@dataclass(frozen=True)
class LatentFacts(MapFacts):
    """The latent texture."""

    scale: tuple[float, ...]
    """By channel: latent = offset + scale x stored."""
    offset: tuple[float, ...]
    """By channel."""

    @property
    def layout(self) -> LatentLayout:
        """Its size and mip levels."""
        return LatentLayout(self.width, self.height, self.levels, materials=1)

    @property
    def layers(self) -> int:
        """Number of layers with four channels."""
        return len(self.scale) // LAYER_CHANNELS

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"scale": list(self.scale), "offset": list(self.offset)}


@dataclass(frozen=True)
class ReliefFacts(MapFacts):
    """The height map."""

    scale: float
    """Height in world units between the stored values 0 and 1."""
    midlevel: float
    """Stored value of the base surface."""

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"scale": self.scale, "midlevel": self.midlevel}


@dataclass(frozen=True)
class ProxyFacts(MapFacts):
    """The texture of proxies."""

    curves: AlbedoCurves
    """Curves between the stored albedos."""

    @property
    def layers(self) -> int:
        return LAYERS

    def as_json(self) -> dict[str, Any]:
        return {
            **super().as_json(),
            "cosines": list(COSINES),
            **_curves_as_json(self.curves),
            "semantics": _SEMANTICS,
        }


@dataclass(frozen=True)
class Bounds:
    """Largest allowed differences between a decoder and the reference."""

    relative: float = 0.01
    """Largest |a - b| / b for b of at least `floor`."""
    floor: float = 0.01
    """Responses below it are compared by `absolute`. It is above 0."""
    absolute: float = 1e-4
    """Largest |a - b| for responses below the floor."""
    teacher_log_mae: float | None = None
    """Largest mean |log(1 + a) - log(1 + t)| against the source's own graph."""
    albedo: float | None = None
    """Largest median relative error of the proxies' albedo against quadrature."""
    transmitted_albedo: float | None = None
    """The same for the transmitted albedo."""

    def as_json(self) -> dict[str, float]:
        values = {"relative": self.relative, "floor": self.floor, "absolute": self.absolute}
        for name in _OPTIONAL_BOUNDS:
            if getattr(self, name) is not None:
                values[name] = getattr(self, name)
        return values


def parse_record(fields: Fields, most: int, folder: str = "") -> FileRecord:
    return FileRecord(
        fields.file_name("file", folder), fields.whole("bytes", 1, most), fields.sha256("sha256")
    )


def parse_constants(fields: Fields, most: int) -> FileRecord | None:
    """constants.bin, which bundles before 4.3 do not have."""
    return parse_record(fields.table("constants"), most) if "constants" in fields else None


def parse_transmitted(fields: Fields, latents: LatentFacts) -> TransmittedFacts | None:
    """The decoder for light from below, which bundles before 4.8 and opaque ones do not have."""
    if "transmission" not in fields:
        return None
    table = fields.table("transmission")
    return TransmittedFacts(
        parse_index(table),
        parse_record(table.table("weights"), LARGEST_WEIGHTS),
        parse_record(table.table("constants"), 2 * LARGEST_WEIGHTS),
        parse_record(table.table("reference"), LARGEST_REFERENCE),
        parse_transmitted_albedo(table, latents),
    )


def parse_index(transmission: Fields) -> float:
    """The index of the medium below."""
    index = transmission.number("index")
    least, most = INDICES
    transmission.require(least <= index <= most, "index", f"it must be from {least:g} to {most:g}")
    return index


def parse_transmitted_albedo(fields: Fields, latents: LatentFacts) -> MapFacts | None:
    """The texture in the table `transmission`, if there is one."""
    if "albedo" not in fields:
        return None
    table = fields.table("albedo")
    record, size = parse_record(table, LARGEST_MAP), parse_size(table)
    facts = MapFacts(record, *size, table.chosen("format", (RGBA8_SRGB,)))
    _require_part(table, facts, latents)
    return facts


def require_twice(constants: FileRecord | None, weights: FileRecord, file: str) -> None:
    """Requires a single float in constants.bin for each half float."""
    if constants and constants.bytes != 2 * weights.bytes:
        remedy = f"it must be {2 * weights.bytes}, twice weights.bytes"
        refuse(file, "constants.bytes", constants.bytes, remedy)


def named_runtime(records: Iterable[FileRecord]) -> dict[str, FileRecord]:
    """Records of the shaders, by field."""
    return {f"runtime[{index}]": record for index, record in enumerate(records)}


def parse_count(reference: Fields) -> int:
    """Number of rows of a reference."""
    return reference.whole("count", FEWEST_REFERENCES, MOST_REFERENCES)


def parse_runtime(fields: Fields) -> tuple[FileRecord, ...]:
    if "runtime" not in fields:
        return ()
    tables = fields.tables("runtime", MOST_RUNTIME_FILES)
    return tuple(parse_record(each, LARGEST_RUNTIME_FILE, RUNTIME_FOLDER) for each in tables)


def parse_tensors(weights: Fields, names: Collection[str]) -> tuple[Tensor, ...]:
    """Tensors with these names. Newer writers may add others: only their names are read."""
    tables = weights.tables("tensors", MOST_TENSORS)
    return tuple(_parse_tensor(each) for each in tables if each.text("name") in names)


def _parse_tensor(fields: Fields) -> Tensor:
    shape = fields.wholes("shape", 2)
    fields.require(len(shape) in (1, 2), "shape", "it must have one or two sizes")
    return Tensor(
        fields.text("name"),
        shape,
        fields.whole("offset", 0, LARGEST_WEIGHTS),
        fields.whole("row_stride", 1, LARGEST_WEIGHTS),
        fields.text("type"),
        fields.path,
    )


def parse_latents(fields: Fields, spec: NetworkSpec) -> LatentFacts:
    """The table `latents`, for a decoder with this architecture."""
    fields.whole("layers", spec.latent_layers, spec.latent_layers)
    scale, offset = (fields.numbers(name, spec.latent_channels) for name in ("scale", "offset"))
    in_range = bool((scale >= SMALLEST_SCALE).all() and (scale < LARGEST_LATENT).all())
    remedy = f"each must be at least {SMALLEST_SCALE:.8g} and below {LARGEST_LATENT}"
    fields.require(in_range, "scale", remedy)
    in_range = bool((abs(offset) < LARGEST_LATENT).all())
    fields.require(in_range, "offset", f"each must be below {LARGEST_LATENT}")
    return LatentFacts(
        parse_record(fields, LARGEST_MAP),
        *parse_size(fields),
        _latent_format(fields),
        tuple(scale.tolist()),
        tuple(offset.tolist()),
    )


def _latent_format(fields: Fields) -> str:
    found = FORMATS.get(fields.text("format"))
    if found and found.is_device_only:
        remedy = "only devices decode it: name the bundle that it was exported from"
        fields.refuse("format", remedy)
    return fields.chosen("format", formats_of("latents"))


def parse_map(fields: Fields, name: str) -> MapFacts | None:
    """The entry of `emission` or `opacity`, if there is one."""
    if name not in fields:
        return None
    table = fields.table(name)
    width, height, levels = parse_size(table)
    return MapFacts(
        parse_record(table, LARGEST_MAP),
        width,
        height,
        levels,
        table.chosen("format", formats_of(name)),
    )


def parse_relief(fields: Fields) -> ReliefFacts | None:
    """The table `relief`, if there is one. Bundles before 4.9 have none."""
    if "relief" not in fields:
        return None
    table = fields.table("relief")
    record = parse_record(table, LARGEST_MAP)
    width, height, levels = parse_size(table)
    is_power = not width & (width - 1) and not height & (height - 1)
    table.require(is_power, "width", "width and height must be powers of two")
    scale, midlevel = table.number("scale"), table.number("midlevel")
    holds = SMALLEST_SCALE <= scale < LARGEST_LATENT
    table.require(holds, "scale", f"it must be from {SMALLEST_SCALE:.8g} to {LARGEST_LATENT}")
    table.require(abs(midlevel) < LARGEST_LATENT, "midlevel", f"it must be below {LARGEST_LATENT}")
    texels = table.chosen("format", formats_of("relief"))
    return ReliefFacts(record, width, height, levels, texels, scale, midlevel)


def proxy_facts(record: FileRecord, proxies: Proxies) -> ProxyFacts:
    _, height, width, _ = proxies.levels[0].shape
    return ProxyFacts(record, width, height, len(proxies.levels), RGBA8_SRGB, proxies.curves)


def texels_a_proxy(latents: LatentFacts, facts: MapFacts) -> int:
    """Width of the latents divided by that of the proxies."""
    return max(latents.layout.width, latents.layout.height) // max(facts.width, facts.height)


def parse_proxies(fields: Fields, latents: LatentFacts) -> ProxyFacts | None:
    """The table `proxies`, if there is one. Bundles before 4.2 have none."""
    if "proxies" not in fields:
        return None
    table = fields.table("proxies")
    facts = ProxyFacts(
        parse_record(table, LARGEST_MAP), *parse_size(table), RGBA8_SRGB, _parse_curves(table)
    )
    table.whole("layers", LAYERS, LAYERS)
    table.chosen("format", (RGBA8_SRGB,))
    holds = np.array_equal(table.numbers("cosines", len(COSINES)), COSINES)
    table.require(holds, "cosines", f"this reads {[*COSINES]}")
    _require_part(table, facts, latents)
    return facts


def _require_part(table: Fields, facts: MapFacts, latents: LatentFacts) -> None:
    """Requires a texture that is smaller than the latents by a power of two."""
    ratio = texels_a_proxy(latents, facts)
    sides = [
        max(1, side // max(1, ratio)) for side in (latents.layout.width, latents.layout.height)
    ]
    is_part = ratio >= 1 and ratio & (ratio - 1) == 0 and sides == [facts.width, facts.height]
    remedy = "width and height must be those of the latents divided by one power of two"
    table.require(is_part, "width", remedy)


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


def parse_size(fields: Fields) -> tuple[int, int, int]:
    """Width, height and levels of a full mip chain."""
    width = fields.whole("width", 1, LARGEST_SIDE)
    height = fields.whole("height", 1, LARGEST_SIDE)
    full = max(width, height).bit_length()
    levels = fields.whole("levels", full, full)
    return width, height, levels


def parse_bounds(fields: Fields) -> Bounds:
    values: dict[str, float] = {}
    for name in ("relative", "floor", "absolute", *_OPTIONAL_BOUNDS):
        if name in _OPTIONAL_BOUNDS and name not in fields:
            continue
        values[name] = fields.number(name)
        # comparisons divide by the floor
        holds = values[name] > 0 if name == "floor" else values[name] >= 0
        fields.require(holds, name, f"it must be {'above 0' if name == 'floor' else '0 or more'}")
    return Bounds(**values)
