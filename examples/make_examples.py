"""Makes textures, importance maps and mesh of the examples, the same on each run."""

from __future__ import annotations

import argparse
from pathlib import Path

import recipes_living
import recipes_metal
import recipes_painted
import recipes_surface
import tray
from image_files import save
from recipes_metal import Recipe

HERE = Path(__file__).parent

RECIPES: dict[str, tuple[Recipe, int]] = {
    "copper_tray": (recipes_metal.copper_tray, 2),
    "glazed_tile": (recipes_surface.glazed_tile, 1),
    "brick_wall": (recipes_surface.brick_wall, 1),
    "brushed_steel": (recipes_metal.brushed_steel, 1),
    "worn_chrome": (recipes_metal.worn_chrome, 1),
    "car_paint": (recipes_metal.car_paint, 1),
    "two_tone_velvet": (recipes_surface.two_tone_velvet, 1),
    "painted_wood": (recipes_surface.painted_wood, 1),
    "enamel_badge": (recipes_metal.enamel_badge, 1),
    "glowing_panel": (recipes_surface.glowing_panel, 1),
    "foil_stamp": (recipes_painted.foil_stamp, 1),
    "pearl_inlay": (recipes_painted.pearl_inlay, 1),
    "street_stone": (recipes_living.street_stone, 1),
    "rusting_paint": (recipes_living.rusting_paint, 1),
    "faded_cloth": (recipes_living.faded_cloth, 1),
    "leaf": (recipes_living.leaf, 1),
    "paint": (recipes_painted.paint, 1),
}
"""Each recipe and how many times the nominal size its maps are made at."""


def make_textures(name: str, size: int, folder: Path) -> None:
    recipe, scale = RECIPES[name]
    folder.mkdir(parents=True, exist_ok=True)
    for file_name, texture in recipe(size * scale).items():
        path = folder / file_name
        save(path, texture.image, depth=texture.depth, srgb=texture.srgb, quality=texture.quality)
        rows, columns = texture.image.shape[:2]
        print(f"{path.name:32} {columns} x {rows}  {path.stat().st_size / 1024:7.0f} KiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*RECIPES, "tray"], help="make this one only")
    parser.add_argument("--size", type=int, default=512, help="nominal texture size")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    arguments = parser.parse_args()
    for name in RECIPES:
        if arguments.only in (None, name):
            folder = "importance" if name == "paint" else "textures"
            make_textures(name, arguments.size, arguments.out / folder)
    if arguments.only in (None, "tray"):
        tray.write(arguments.out)


if __name__ == "__main__":
    main()
