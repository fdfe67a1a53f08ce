"""What a bundle holds, in words: for `verdigris inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.arithmetic import IN_WORDS
from verdigris.core.bundle.fields import LONGEST_TEXT

if TYPE_CHECKING:
    from verdigris.core.bundle.read import Bundle


def print_bundle(bundle: Bundle) -> None:
    """A few lines for a technical artist."""
    manifest = bundle.manifest
    latents, source = manifest.latents, manifest.source
    bits = "8 bits" if bundle.is_quantised else "half floats"
    print(f"{bundle.folder}: {manifest.name}")
    print(f"  decoder   {manifest.spec.name} {manifest.spec.activation}")
    size = f"{latents.layout.width} x {latents.layout.height}"
    print(f"  latents   {size}, {latents.layout.levels} levels, {bits} a channel")
    if manifest.arithmetic:
        print(f"  decode    {IN_WORDS[manifest.arithmetic.advised]}")
    for name, facts in (("emission", manifest.emission), ("opacity", manifest.opacity)):
        if facts:
            print(f"  {name:<8}  {facts.width} x {facts.height}, {facts.levels} levels")
    loaded = manifest.cost.get("loaded_bytes")
    if isinstance(loaded, int):
        print(f"  bytes     {loaded:,} loaded, of them {manifest.weights.bytes:,} weights")
    for name, values in manifest.errors.items():
        if isinstance(values, dict):
            numbers = [f"{key} {_short(value)}" for key, value in values.items()]
            print(f"  errors    {_plain(name)}: {_plain(', '.join(numbers))}")
    if "document" in source:
        print(f"  source    {_plain(source.get('material'))} of {_plain(source['document'])}")
        writers = (_plain(source.get(name)) for name in ("verdigris", "materialx"))
        print("  made by   verdigris {}, MaterialX {}".format(*writers))
    for fate in ("approximated", "dropped"):
        parts = manifest.report.get(fate)
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                how = part.get("how")
                name = _plain(part.get("name"))
                print(f"  {fate:<12}  {name}{f': {_plain(how)}' if how else ''}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> str:
    """Of a text that anyone may have written: one line, without a terminal's escape sequences."""
    text = str(value)[:LONGEST_TEXT]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
