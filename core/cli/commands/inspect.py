"""`verdigris inspect`: what a document, a bundle or a set contains"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.base.errors import SceneError, VerdigrisError
from verdigris.core.base.json_fields import parse_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.text import counted, printable
from verdigris.core.batch.scene.sources import STAGE_SUFFIXES, ReadOptions, entries_of
from verdigris.core.bundle.files.arithmetic import IN_WORDS
from verdigris.core.bundle.files.ktx2 import FORMATS
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST
from verdigris.core.bundle.files.read import Bundle, is_bundle, open_bundle, read_whole
from verdigris.core.cli.shared.opening import require_own_material
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    path_argument,
)
from verdigris.core.compress.set_files import is_texture_set, open_set
from verdigris.core.material.load.mtlx_document import Document
from verdigris.core.material.report import MaterialReport, describe, print_reports

app = CommandApp()

# By texel format.
_LATENTS = {
    "BC7_UNORM_BLOCK": "BC7 blocks",
    "R8G8B8A8_UNORM": "8 bits each",
    "R16G16B16A16_SFLOAT": "half floats",
}


@app.add("inspect copper_tray.mtlx")
def inspect(
    file: Annotated[
        Path,
        path_argument(
            "FILE",
            "A document (.mtlx), a shader file (.slang, .hlsl), a stage, a bundle or a set (.vdt).",
        ),
    ],
    *,
    options: DocumentOptions,
    as_json: AsJson = False,
    probe: Annotated[
        bool, typer.Option(help="Evaluate the material to check that it reflects light.")
    ] = True,
    device: DeviceChoice = None,
) -> None:
    """Lists what a bake of a document keeps, approximates or drops.

    For a bundle or a compressed set of textures, lists the contents.
    """
    if is_texture_set(file):
        _inspect_set(file, as_json)
        return
    if is_bundle(file):
        _inspect_bundle(file, options.material, as_json)
        return
    reports: list[MaterialReport] = []
    left_out: dict[str, str] = {}
    for document, material in _documents_in(file, options, left_out):
        reports += describe(document, material, probe=probe, device_choice=device)
        left_out |= {} if material else document.unbakeable
    if as_json:
        found = {
            "file": str(file),
            "materials": [report.as_json() for report in reports],
            "left_out": left_out,
        }
        print(json.dumps(found, indent=2))
    else:
        print_reports(str(file), reports, left_out)
    if any(report.problem for report in reports) or (left_out and not reports):
        raise typer.Exit(1)


def _documents_in(
    file: Path, options: DocumentOptions, left_out: dict[str, str]
) -> Iterator[tuple[Document, str | None]]:
    """The document, or those of a stage's materials, with the name of the material if not all
    count. Materials that cannot be read are added to `left_out`."""
    if file.suffix.lower() not in STAGE_SUFFIXES:
        yield options.load(file), options.material
        return
    reading = ReadOptions(tuple(options.search or ()), options.confined)
    entries = entries_of(file, reading)
    named = [
        each
        for each in entries
        if options.material in (None, each.name, each.source.name.removeprefix(str(file)))
    ]
    if not named:
        there = ", ".join(each.name for each in entries)
        raise SceneError(f"{file}: has no material {options.material!r}; it has: {there}")
    for entry in named:
        try:
            if entry.problem:
                raise SceneError(entry.problem)
            yield entry.source.load(), entry.material
        except VerdigrisError as failure:
            left_out[entry.name] = str(failure)


def _inspect_bundle(path: Path, material: str | None, as_json: bool) -> None:
    bundle = open_bundle(path)
    require_own_material(bundle, path, material)
    if as_json:
        # the file's own text, with fields that this version does not know
        data = read_whole(bundle.folder, MANIFEST_FILE, LARGEST_MANIFEST)
        print(json.dumps(parse_json(data, MANIFEST_FILE).values, indent=1))
    else:
        _print_bundle(bundle)


def _inspect_set(path: Path, as_json: bool) -> None:
    stored = open_set(path)
    if as_json:
        print(json.dumps(stored.manifest, indent=1))
        return
    compressed = stored.compressed
    rows, columns = compressed.size
    print(f"{path}: textures of {printable(stored.name)}")
    print(f"  textures  {columns} x {rows}, {compressed.levels} levels")
    for each in stored.textures:
        reaches = ", ".join(each.reaches) or "nothing"
        channels = counted(len(each.channels), "channel")
        print(f"    {each.name:<16}  {channels}, {printable(each.colour_space)}")
        print(f"    {'':<16}  {printable(each.file)}, for {printable(reaches)}")
    sizes = [f"{each.columns} x {each.rows}" for each in compressed.latents]
    print(f"  latents   {' and '.join(sizes)}, 4 channels each in BC7 blocks")
    layers = compressed.layers
    print(f"  network   {len(layers) - 1}x{len(layers[0].bias)}")
    print(f"  bytes     {compressed.bytes:,} loaded, {compressed.bits:.1f} bits a texel")
    errors = stored.manifest.get("errors")
    if isinstance(errors, dict) and isinstance(errors.get("psnr"), float):
        print(f"  PSNR      {errors['psnr']:.1f} dB")


def _print_bundle(bundle: Bundle) -> None:
    """Prints a summary for technical artists."""
    manifest = bundle.manifest
    latents, source = manifest.latents, manifest.source
    print(f"{bundle.folder}: {manifest.name}")
    print(f"  decoder   {manifest.spec.name} {manifest.spec.activation}")
    size = f"{latents.layout.width} x {latents.layout.height}"
    channels = f"{manifest.spec.latent_channels} channels in {FORMATS[latents.format].words}"
    print(f"  latents   {size}, {latents.layout.levels} levels, {channels}")
    if manifest.arithmetic:
        print(f"  decode    {IN_WORDS[manifest.arithmetic.advised]}")
    for name, facts in (("emission", manifest.emission), ("opacity", manifest.opacity)):
        if facts:
            print(f"  {name:<8}  {facts.width} x {facts.height}, {facts.levels} levels")
    if relief := manifest.relief:
        low, high = (relief.scale * (each - relief.midlevel) for each in (0, 1))
        size = f"{relief.width} x {relief.height}, {relief.levels} levels"
        print(f"  relief    {size}, heights from {low:.3g} to {high:.3g}")
    if below := manifest.transmitted:
        through = "a thin wall" if below.index == 1 else f"a solid with the index {below.index:g}"
        print(f"  passes    light, as {through}: {below.weights.bytes:,} more weights")
        if passing := below.albedo:
            size = f"{passing.width} x {passing.height}, {passing.levels} levels"
            print(f"  passing   {size} of transmitted albedo")
    proxies = manifest.proxies
    if proxies:
        print(f"  proxies   {proxies.width} x {proxies.height}, {proxies.levels} levels")
    else:
        print("  proxies   none: bake the material again to get albedo as textures")
    loaded = manifest.cost.get("loaded_bytes")
    if isinstance(loaded, int):
        print(f"  bytes     {loaded:,} loaded, of them {manifest.weights.bytes:,} weights")
    for name, values in manifest.errors.items():
        if isinstance(values, dict):
            numbers = [f"{key} {_short(value)}" for key, value in values.items()]
            print(f"  errors    {printable(name)}: {printable(', '.join(numbers))}")
    if "document" in source:
        print(f"  source    {printable(source.get('material'))} of {printable(source['document'])}")
        writers = (printable(source.get(name)) for name in ("verdigris", "materialx"))
        print("  made by   verdigris {}, MaterialX {}".format(*writers))
    for fate in ("approximated", "ignored", "dropped"):
        parts = manifest.report.get(fate)
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                how = part.get("how")
                name = printable(part.get("name"))
                print(f"  {fate:<12}  {name}{f': {printable(how)}' if how else ''}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
