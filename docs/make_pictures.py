"""Draws the pictures of the documentation.

python docs/make_pictures.py [--size N] [--bundles FOLDER | --sky | --lit | --demonstrations]

With a folder of bundles from `verdigris bake examples/NAME.mtlx --preset standard`, it draws those
of BAKED beside their materials instead; with --sky, the tray under a sky; with --lit, materials
that transmit or have relief; with --demonstrations, the pictures of the panel's welcome page.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from verdigris.core.base.device import open_device
from verdigris.core.base.images import open_image, write_texels
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.cli.shared.options import DocumentOptions
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.comparison import compare_materials
from verdigris.core.pictures.picture_files import write_picture
from verdigris.core.pictures.relief import find_heights
from verdigris.core.pictures.render import Lighting, over_backdrop, render

REPOSITORY = Path(__file__).parents[1]
SHEET = (
    ("copper_tray", "glazed_tile", "painted_wood", "enamel_badge"),
    ("brushed_steel", "car_paint", "two_tone_velvet", "glowing_panel"),
    ("leaf", "frosted_glass", "brick_wall", "worn_chrome"),
)
SKY_SAMPLES = 256
# A little behind the tray, where it shows relief.
TRAY_SUN = "0.75,0.55,-0.32"
BAKED = (("copper_tray", "glazed_tile"), ("car_paint", "two_tone_velvet"), ("leaf", "brick_wall"))
# A leaf glows with the light behind it.
BAKED_LIGHT = {"leaf": (-0.3, 0.4, -0.85), "brick_wall": (-0.7, 0.6, 0.35)}


def open_teacher(name: str) -> Teacher:
    document = load_document(REPOSITORY / "examples" / f"{name}.mtlx")
    return Teacher(document, device=open_device())


def sphere(name: str, size: int) -> np.ndarray:
    teacher, lighting = open_teacher(name), Lighting(samples=64)
    relief = find_heights(teacher)
    return over_backdrop(render(teacher, "sphere", size, lighting=lighting, relief=relief))


def strip(bundles: Path, name: str, size: int) -> np.ndarray:
    """The material, its neural material, and their difference."""
    teacher = open_teacher(name)
    student = Student(open_bundle(bundles / f"{name}.vdg").parameters(), teacher.device)
    lighting = Lighting(samples=64, emission=0.0)
    if name in BAKED_LIGHT:
        lighting = replace(lighting, direction=BAKED_LIGHT[name])
    return compare_materials(teacher, student, "sphere", size, lighting, subpixels=3).picture


def draw_tray(size: int) -> Path:
    """The tray under a sky, by the command."""
    from verdigris.core.cli.commands.render import render as draw_command

    path = REPOSITORY / "docs" / "images" / "tray_under_sky.png"
    examples = REPOSITORY / "examples"
    draw_command(
        examples / "copper_tray.mtlx",
        path,
        mesh=examples / "tray.obj",
        hdri="sky",
        light=TRAY_SUN,
        size=size,
        samples=SKY_SAMPLES,
        options=DocumentOptions(),
    )
    return path


# Materials that transmit or have relief, with the direction to the sun.
LIT = (
    ("leaf", "-0.6,0.35,-0.75"),
    ("frosted_glass", "0.6,0.6,0.5"),
    ("brick_wall", "0.8,0.55,0.25"),
)


def draw_lit(size: int) -> Path:
    """A leaf before the sun, a sphere of frosted glass, and a brick wall, under a sky."""
    from verdigris.core.cli.commands.render import render as draw_command

    drawn: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        for name, light in LIT:
            document = REPOSITORY / "examples" / f"{name}.mtlx"
            options = {"view": "sphere", "hdri": "sky", "light": light, "size": size, "samples": 96}
            draw_command(document, path, options=DocumentOptions(), **options)
            with open_image(path) as opened:
                drawn.append(opened.texels(3, "uint8"))
    target = REPOSITORY / "docs" / "images" / "lit_examples.png"
    write_texels(target, np.concatenate(drawn, axis=1), "uint8")
    return target


# Two values of a live input, which share a sphere; or a mesh.
DEMONSTRATIONS = (("street_stone", "wetness", 0.0, 0.9), ("rusting_paint", "age", 0.15, 0.9))
DEMONSTRATION_SUN = "0.6,0.6,0.5"


def draw_demonstrations(size: int) -> Path:
    """Materials under a sky: those with a live input, at a low value on the left and at a high one
    on the right; and the tray."""
    from verdigris.core.cli.commands.render import render as draw_command

    examples = REPOSITORY / "examples"
    drawn: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"

        def draw(name: str, **options: object) -> np.ndarray:
            document = examples / f"{name}.mtlx"
            options |= {"hdri": "sky", "backdrop": "ground", "size": size}
            draw_command(document, path, options=DocumentOptions(), **options)
            with open_image(path) as opened:
                return opened.texels(3, "uint8")

        for name, live, *values in DEMONSTRATIONS:
            sides = [draw(name, live=[f"{live}={v}"], light=DEMONSTRATION_SUN) for v in values]
            half = size // 2
            drawn.append(np.concatenate((sides[0][:, :half], sides[1][:, half:]), axis=1))
            drawn[-1][:, half - 1 : half + 1] = 255
        drawn.append(draw("copper_tray", mesh=examples / "tray.obj", light=TRAY_SUN))
    target = REPOSITORY / "docs" / "images" / "demonstrations.jpg"
    write_texels(target, np.concatenate(drawn, axis=1), "uint8")
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256, help="pixels a side of each picture")
    parser.add_argument("--bundles", type=Path, help="draw what was baked of BAKED")
    parser.add_argument("--sky", action="store_true", help="draw the tray under a sky")
    parser.add_argument("--lit", action="store_true", help="draw light from below and relief")
    parser.add_argument("--demonstrations", action="store_true", help="draw the welcome page's")
    options = parser.parse_args()
    if options.demonstrations:
        print(draw_demonstrations(options.size))
        return
    if options.lit:
        print(draw_lit(options.size))
        return
    if options.sky:
        print(draw_tray(options.size))
        return
    if options.bundles:
        target, rows = "bakes.png", BAKED
        draw = partial(strip, options.bundles)
    else:
        target, rows, draw = "examples.png", SHEET, sphere
    sheet = [np.concatenate([draw(name, options.size) for name in row], axis=1) for row in rows]
    path = REPOSITORY / "docs" / "images" / target
    write_picture(path, np.concatenate(sheet, axis=0))
    print(path)


if __name__ == "__main__":
    main()
