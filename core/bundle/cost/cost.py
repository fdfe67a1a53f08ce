"""Cost of a neural material in an engine, compared with the graph and textures that it replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.text import counted, format_bytes
from verdigris.core.bundle.cost.source_bytes import SourceBytes, describe_larger, source_bytes
from verdigris.core.bundle.cost.time_relief import ReliefMilliseconds, time_relief
from verdigris.core.bundle.cost.time_responses import Nanoseconds, measure
from verdigris.core.bundle.files.arithmetic import IN_WORDS
from verdigris.core.bundle.files.ktx2 import FORMATS, TextureShape
from verdigris.core.bundle.files.stored_textures import TEXEL_FORMATS, LatentTexture
from verdigris.core.bundle.files.weights import pack_weights, round_decoder
from verdigris.core.bundle.runtime.device_materials import StoredMaterial, read_stored
from verdigris.core.material.evaluator import POINT, Footprint
from verdigris.core.network.latents import bc7
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# A smaller speed-up is not worth a bake.
WORTHWHILE = 1.2
# No bake averages more places.
_MOST_PLACES = 256


@dataclass(frozen=True)
class Cost:
    """The output of `verdigris cost`."""

    name: str
    """Name of the material."""
    is_forecast: bool
    """Measured with untrained numbers, before a bake."""
    network: str
    """The decoder's architecture and activation."""
    device: str
    """Name of the device."""
    is_software: bool
    """The device is a CPU, which does not predict a GPU."""
    weights_bytes: int
    """Bytes of the decoder."""
    latents_bytes: int
    """Bytes of the latents with mips."""
    maps_bytes: int
    """Bytes of the maps of emission, opacity and heights."""
    multiply_adds: int
    """Multiply-adds of the matrices in an evaluation."""
    activations: int
    """Activations in an evaluation."""
    nanoseconds: Nanoseconds
    """Time of an evaluation."""
    textures: int | None = None
    """Number of images that the graph reads."""
    textures_bytes: int | None = None
    """Bytes of the images with mips, in the channels and bits of their files."""
    textures_compressed_bytes: int | None = None
    """Bytes of the images with mips, block-compressed: see source_bytes.py."""
    textures_file_bytes: int | None = None
    """Bytes of the images' files."""
    may_be_smaller: bool = False
    """A forecast for a bake that chooses the size of the texture: this is the largest."""
    places: int | None = None
    """Places of a texel in `teacher_filtered`."""
    proxies_bytes: int = 0
    """Bytes of the proxies, which an engine loads only if it uses them."""
    advised: str | None = None
    """The advised arithmetic, with which cooperative vectors were measured."""
    relief: ReliefMilliseconds | None = None
    """Time of relief on a full screen, beside the decoder."""

    @property
    def loaded_bytes(self) -> int:
        return self.weights_bytes + self.latents_bytes + self.maps_bytes

    @property
    def excess(self) -> str:
        """A sentence on a bundle that is larger than the images that it replaces."""
        if self.may_be_smaller:
            return ""
        return describe_larger(self.loaded_bytes, self.textures_compressed_bytes or 0)

    @property
    def answer(self) -> str:
        """Yes or no in one sentence: whether a bake makes the material faster. Nothing without the
        time of the graph."""
        ratio = self.nanoseconds.ratio
        if ratio is None:
            return ""
        where = " on this CPU (a GPU may differ)" if self.is_software else ""
        if ratio >= WORTHWHILE:
            return f"Yes: baked, it is shaded {ratio:.1f} times faster{where}."
        filtered = self.nanoseconds.filtered_ratio
        if filtered is not None and filtered >= WORTHWHILE:
            return (
                f"Yes, if it is seen from afar: baked, it is {filtered:.1f} times faster than its "
                f"graph without aliasing{where}."
            )
        slower = f"{1 / ratio:.1f} times slower" if ratio < 1 / WORTHWHILE else "no faster"
        return f"No: its graph is cheap, and baked it would be {slower}{where}."

    @property
    def warning(self) -> str:
        """A sentence on a baked material that is slower than its graph, or nothing."""
        ratios = [
            each for each in (self.nanoseconds.ratio, self.nanoseconds.filtered_ratio) if each
        ]
        if not ratios or max(ratios) >= 1:
            return ""
        where = "CPU (a GPU may differ)" if self.is_software else "device"
        return (
            f"{self.name}'s own graph is {1 / max(ratios):.1f} times faster than the neural "
            f"material on this {where}: use the graph where speed counts"
        )

    @property
    def verdict(self) -> str:
        """One sentence on whether a bake is faster."""
        ratio = self.nanoseconds.ratio
        if ratio is None:
            return "use --source FILE to compare with the graph"
        filtered = self.nanoseconds.filtered_ratio
        here = " on this CPU; measure on the GPU" if self.is_software else ""
        here = f",{here}" if here and filtered is not None else here
        texel = f"averaged over {self.places} places of a texel, as"
        if ratio < WORTHWHILE:
            result = f"{1 / ratio:.1f} times slower" if ratio < 1 else "no faster"
            text = f"the source graph is cheap: baking it would make it {result}"
            if filtered is not None:
                text += (
                    f"; {texel} in the bake, the graph takes {filtered:.1f} times as long as the "
                    "decoder"
                )
            return text + here
        text = f"the neural material is {ratio:.1f} times faster than its graph"
        if filtered is not None:
            text += (
                f" at a point, and {filtered:.1f} times faster than the graph {texel} in the bake"
            )
        return text + here

    def as_json(self) -> dict[str, Any]:
        nanoseconds = asdict(self.nanoseconds)
        nanoseconds |= {"neural": self.nanoseconds.neural, "neural_way": self.nanoseconds.way}
        return asdict(self) | {
            "nanoseconds": nanoseconds,
            "loaded_bytes": self.loaded_bytes,
            "excess": self.excess,
            "ratio": self.nanoseconds.ratio,
            "filtered_ratio": self.nanoseconds.filtered_ratio,
            "verdict": self.verdict,
            "answer": self.answer,
        }


def cost_of_bundle(
    bundle: Bundle, device: Device, teacher: Teacher | None = None, is_brief: bool = False
) -> Cost:
    """The cost of a bundle, compared with its graph. `is_brief`: for a warning after a bake."""
    manifest = bundle.manifest
    maps = (manifest.emission, manifest.opacity, manifest.relief)
    heights = None if is_brief else bundle.relief()
    footprint = _bake_footprint(bundle.manifest.source, bundle.nominal_side)
    name = bundle.manifest.name
    cost = _cost(name, read_stored(bundle), device, teacher, footprint, bundle.advised, is_brief)
    sources = stored_sources(bundle.manifest.source)
    if teacher is None and sources is not None:
        cost = _with_sources(cost, sources)
    below = bundle.manifest.transmitted
    proxies = (bundle.manifest.proxies, below.albedo if below else None)
    return replace(
        cost,
        # each light is on one side: the nanoseconds are those of one decoder
        weights_bytes=cost.weights_bytes + (below.weights.bytes if below else 0),
        maps_bytes=sum(facts.texture.texel_bytes for facts in maps if facts),
        proxies_bytes=sum(facts.texture.texel_bytes for facts in proxies if facts),
        relief=time_relief(heights, device) if heights else None,
    )


def forecast(teacher: Teacher, settings: BakeSettings) -> Cost:
    """The cost before a bake, which does not depend on the trained numbers."""
    stored = untrained(settings)
    footprint = _footprint(settings.draw.finest_places, settings.resolution)
    cost = _cost(teacher.material.name, stored, teacher.device, teacher, footprint)
    if teacher.index_below:
        cost = replace(cost, weights_bytes=2 * cost.weights_bytes)
    return replace(cost, is_forecast=True, may_be_smaller=settings.size.is_open)


def _bake_footprint(source: Mapping[str, Any], width: int) -> Footprint:
    """The footprint of the bake, from an untrusted manifest; a point if unknown."""
    places: Any = source
    for name in ("settings", "draw", "finest_places"):
        places = places.get(name) if isinstance(places, Mapping) else None
    return _footprint(places, width)


def _footprint(places: Any, width: int) -> Footprint:
    is_known = type(places) is int and 1 <= places <= _MOST_PLACES
    return Footprint(1 / width, places) if is_known else POINT


def untrained(settings: BakeSettings) -> StoredMaterial:
    """A material with random numbers, in the size of these settings."""
    layout = settings.layout()
    parameters = initialise(settings.spec, LatentLayout(1, 1), settings.seed)
    parameters.decoder[:] = round_decoder(parameters.decoder)
    random = np.random.default_rng(settings.seed)
    channels = settings.spec.latent_channels
    texel = FORMATS[TEXEL_FORMATS[settings.latent_format]]
    shape = TextureShape(
        texel, layout.width, layout.height, layout.levels, settings.spec.latent_layers
    )
    sizes = map(shape.level, range(layout.levels))
    levels = [random.integers(0, 256, size, np.uint8) for size in sizes]
    for level in levels if texel.is_block else ():
        level[..., 0] = bc7.as_mode_4(level[..., 0])
    scale, offset = np.full(channels, 2, np.float32), np.full(channels, -1, np.float32)
    weights, _ = pack_weights(parameters)
    latents = LatentTexture(texel.name, layout, levels, scale, offset)
    return StoredMaterial(settings.spec, weights, latents)


def _cost(
    name: str,
    stored: StoredMaterial,
    device: Device,
    teacher: Teacher | None,
    footprint: Footprint,
    advised: str | None = None,
    is_brief: bool = False,
) -> Cost:
    spec = stored.spec
    cost = Cost(
        name=name,
        is_forecast=False,
        network=f"{spec.name} {spec.activation}",
        device=str(device),
        is_software=device.is_software,
        weights_bytes=len(stored.weights),
        latents_bytes=sum(level.nbytes for level in stored.latents.levels),
        maps_bytes=0,
        multiply_adds=spec.multiply_adds,
        activations=spec.hidden_layers * spec.hidden_width,
        nanoseconds=measure(stored, device, teacher, footprint, advised, is_brief),
        advised=advised,
    )
    if teacher is None:
        return cost
    cost = _with_sources(cost, source_bytes(teacher.document, teacher.material))
    return replace(cost, places=footprint.places if footprint.places > 1 else None)


def _with_sources(cost: Cost, sources: SourceBytes) -> Cost:
    return replace(
        cost,
        textures=sources.images,
        textures_file_bytes=sources.files,
        textures_bytes=sources.plain,
        textures_compressed_bytes=sources.compressed,
    )


def stored_sources(source: Mapping[str, Any]) -> SourceBytes | None:
    """The bytes of the images that a bundle was baked from, from an untrusted manifest."""
    found = source.get("images")
    names = [each.name for each in fields(SourceBytes)]
    values = [found.get(name) for name in names] if isinstance(found, Mapping) else [None]
    if not all(type(each) is int and each >= 0 for each in values):
        return None
    return SourceBytes(*values)


def print_cost(cost: Cost) -> None:
    """Prints the cost for people."""
    what = "forecast" if cost.is_forecast else "measured"
    print(f"{cost.name}: {cost.network}, {what} on {cost.device}")
    most = "at most " if cost.may_be_smaller else ""
    print(f"  neural    {most}{format_bytes(cost.loaded_bytes)}: ", end="")
    print(f"weights {format_bytes(cost.weights_bytes)}, ", end="")
    print(f"latents {format_bytes(cost.latents_bytes)} with mips", end="")
    print(f", maps {format_bytes(cost.maps_bytes)}" if cost.maps_bytes else "")
    if cost.proxies_bytes:
        print(f"  proxies   {format_bytes(cost.proxies_bytes)} with mips, if an engine uses them")
    if cost.textures_bytes is not None and cost.textures_compressed_bytes is not None:
        print(
            f"  textures  {format_bytes(cost.textures_compressed_bytes)} block-compressed, "
            f"{format_bytes(cost.textures_bytes)} as they are, with mips, in "
            f"{counted(cost.textures or 0, 'image')}; "
            f"files {format_bytes(cost.textures_file_bytes or 0)}"
        )
    print(f"  decoder   {cost.multiply_adds:,} multiply-adds, {cost.activations} activations")
    if cost.advised:
        print(f"  decode    {IN_WORDS[cost.advised]}")
    for name, value in asdict(cost.nanoseconds).items():
        if value is not None:
            print(f"  {name.replace('_', ', '):<24} {value:>9.3f} ns an evaluation")
    if relief := cost.relief:
        print(
            f"  relief    {relief.place:.3f} ms on a full screen of 1920 x 1080, "
            f"{relief.normal:.3f} with its normal, {relief.shadow:.3f} also with a shadow"
        )
    print(f"  {cost.verdict}")
    if cost.is_forecast and cost.answer:
        print(f"  Should I bake this? {cost.answer}")
    if cost.excess:
        print(f"  {cost.excess}")
