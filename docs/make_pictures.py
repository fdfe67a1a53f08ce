"""Draws the pictures of the documentation, so that they show what the program does.

python docs/make_pictures.py [--size N]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from verdigris.core.device import open_device
from verdigris.core.material.document import load_document
from verdigris.core.material.teacher import Teacher
from verdigris.core.pictures.files import write_picture
from verdigris.core.pictures.render import Lighting, over_backdrop, render

REPOSITORY = Path(__file__).parents[1]
SHEET = (
    ("copper_tray", "glazed_tile", "painted_wood", "enamel_badge"),
    ("brushed_steel", "car_paint", "two_tone_velvet", "glowing_panel"),
)


def sphere(name: str, size: int) -> np.ndarray:
    document = load_document(REPOSITORY / "examples" / f"{name}.mtlx")
    teacher = Teacher(document, device=open_device())
    return over_backdrop(render(teacher, "sphere", size, lighting=Lighting(samples=64)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256, help="pixels a side of each sphere")
    size = parser.parse_args().size
    rows = [np.concatenate([sphere(name, size) for name in row], axis=1) for row in SHEET]
    target = REPOSITORY / "docs" / "images" / "examples.png"
    write_picture(target, np.concatenate(rows, axis=0))
    print(target)


if __name__ == "__main__":
    main()
