"""Draws docs/images/hero.jpg: the diving helmet, and what was baked of it.

python docs/make_hero_picture.py DOCUMENT.mtlx BUNDLE.vdg [--size N] [--samples N] [-o FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import OpenImageIO as oiio

from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures.picture_files import rounded, srgb_from_linear
from verdigris.core.pictures.render import Lighting, over_backdrop, render

TARGET = Path(__file__).parent / "images" / "hero.jpg"
QUALITY = 88


def write_jpeg(path: Path, texels: np.ndarray) -> None:
    height, width, channels = texels.shape
    spec = oiio.ImageSpec(width, height, channels, "uint8")
    spec.attribute("compression", f"jpeg:{QUALITY}")
    output = oiio.ImageOutput.create(str(path))
    if output is None or not output.open(str(path), spec):
        raise OSError(f"{path} cannot be written: {oiio.geterror()}")
    output.write_image(np.ascontiguousarray(texels))
    output.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--size", type=int, default=480, help="pixels a side of each sphere")
    parser.add_argument("--samples", type=int, default=64, help="directions at each sub-pixel")
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    device = open_device()
    pair = (
        Teacher(load_document(options.document), device=device),
        BundleMaterial(open_bundle(options.bundle), device),
    )
    lighting = Lighting(samples=options.samples)
    drawn = [render(each, "sphere", options.size, None, lighting, is_flat=True) for each in pair]
    joined = np.concatenate([over_backdrop(picture) for picture in drawn], axis=1)
    write_jpeg(options.output, rounded(srgb_from_linear(joined)))
    print(options.output)


if __name__ == "__main__":
    main()
