"""Writes the hero example: a diving helmet of 18 layers, with 36 textures of 2048 x 2048.

    python examples/hero/make_hero.py [--size 256] [--out FOLDER] [--overwrite]

Every random number has a seed: two runs write the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

# The patterns and the writer of images of the other examples.
sys.path.append(str(Path(__file__).resolve().parents[1]))

import MaterialX as mx
from fields import Helmet
from image_files import save
from layers import FOLDER, NAME, document
from textures import TEXTURES

SMALLEST, LARGEST = 32, 8192


def make(folder: Path, size: int) -> None:
    """Writes textures and document, each under a temporary name first; the document comes last."""
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    helmet, text = Helmet(size), document()
    begun = time.monotonic()
    for number, (name, recipe) in enumerate(TEXTURES.items(), start=1):
        path = folder / FOLDER / name
        texture = recipe(helmet)
        part = path.with_name(f".part_{name}")
        try:
            # Fast PNG: level 9 takes ten times as long for a few percent.
            save(part, texture.image, depth=texture.depth, srgb=texture.srgb,
                 quality=texture.quality, effort=2)  # fmt: skip
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        took = time.monotonic() - begun
        print(f"{number:2}/{len(TEXTURES)}  {name:26} {size} x {size}  {took:5.1f} s", flush=True)
    part = folder / f".part_{NAME}.mtlx"
    part.write_text(mx.writeToXmlString(text), encoding="utf-8", newline="\n")
    part.replace(folder / f"{NAME}.mtlx")


def existing(folder: Path) -> list[Path]:
    paths = [folder / f"{NAME}.mtlx", *(folder / FOLDER / name for name in TEXTURES)]
    return [path for path in paths if path.exists()]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=2048, help="texels a side (default 2048)")
    parser.add_argument(
        "--out", type=Path, default=Path("out") / "hero", help="folder (default out/hero)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace files of an earlier run")
    options = parser.parse_args()
    if not SMALLEST <= options.size <= LARGEST or options.size % 2:
        parser.error(f"--size is {options.size}: use an even number from {SMALLEST} to {LARGEST}")
    found = [] if options.overwrite else existing(options.out)
    if found:
        parser.error(f"{found[0]} exists: choose another --out, or replace it with --overwrite")
    try:
        make(options.out, options.size)
    except OSError as failure:
        parser.exit(1, f"error: {options.out} cannot be written: {failure}\n")
    size = f"{options.size} x {options.size}"
    print(f"{options.out / NAME}.mtlx: {len(TEXTURES)} textures of {size}")


if __name__ == "__main__":
    main()
