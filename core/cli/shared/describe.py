"""What a bundle holds, in words: for `verdigris inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.printable import printable
from verdigris.core.bundle.files.arithmetic import IN_WORDS

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle


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
            print(f"  errors    {printable(name)}: {printable(', '.join(numbers))}")
    if "document" in source:
        print(f"  source    {printable(source.get('material'))} of {printable(source['document'])}")
        writers = (printable(source.get(name)) for name in ("verdigris", "materialx"))
        print("  made by   verdigris {}, MaterialX {}".format(*writers))
    for fate in ("approximated", "dropped"):
        parts = manifest.report.get(fate)
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict):
                how = part.get("how")
                name = printable(part.get("name"))
                print(f"  {fate:<12}  {name}{f': {printable(how)}' if how else ''}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
