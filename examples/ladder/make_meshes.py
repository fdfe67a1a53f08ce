"""Writes the meshes of the ladder's examples: a figure and a cloth of four UDIM tiles.

python examples/ladder/make_meshes.py FOLDER

The figure has what real characters have: in its first uv set both arms share one island, which is
mirrored, and the second set has an island for each part. The cloth covers the tiles 1001, 1002,
1011 and 1012, and its second set fits them into one square.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

# Of the islands of a second uv set, against filters that read across.
_MARGIN = 0.02


class Part:
    """A grid of points with a rectangle in each uv set; `mirrored` turns the first set around."""

    def __init__(self, points, first, second, mirrored=False):
        self.points, self.first, self.second, self.mirrored = points, first, second, mirrored


def write(path: Path, parts: list[Part]) -> Path:
    """Writes a USD mesh with the primvars st, st1 and displayColor."""
    points, corners, st, st1, colours = [], [], [], [], []
    start = 0
    for part in parts:
        rows, columns = part.points.shape[:2]
        index = start + np.arange(rows * columns).reshape(rows, columns)
        start += rows * columns
        quads = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]], -1)
        corners.append(quads.reshape(-1))
        points.append(part.points.reshape(-1, 3))
        v, u = np.meshgrid(np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij")
        for found, rectangle, turned in (
            (st, part.first, part.mirrored),
            (st1, part.second, False),
        ):
            low, high = np.array(rectangle[0]), np.array(rectangle[1])
            across = 1 - u if turned else u
            uv = low + (high - low) * np.stack([across, v], -1).reshape(-1, 2)
            found.append(uv[corners[-1] - (start - rows * columns)])
        height = part.points[..., 1].reshape(-1)
        colours.append(np.stack([height * 0 + 1, height * 0 + 0.5, height - height.min()], 1))
    flat = np.concatenate(corners)
    place = np.concatenate(points)
    path.write_text(
        '#usda 1.0\n(\n    defaultPrim = "mesh"\n    metersPerUnit = 1\n    upAxis = "Y"\n)\n\n'
        'def Mesh "mesh"\n{\n    uniform token subdivisionScheme = "none"\n'
        f"    int[] faceVertexCounts = [{', '.join(['4'] * (len(flat) // 4))}]\n"
        f"    int[] faceVertexIndices = [{', '.join(map(str, flat))}]\n"
        f"    point3f[] points = [{_tuples(place)}]\n"
        f"    texCoord2f[] primvars:st = [{_tuples(np.concatenate(st))}] (\n"
        '        interpolation = "faceVarying"\n    )\n'
        f"    texCoord2f[] primvars:st1 = [{_tuples(np.concatenate(st1))}] (\n"
        '        interpolation = "faceVarying"\n    )\n'
        f"    color3f[] primvars:displayColor = [{_tuples(np.concatenate(colours))}] (\n"
        '        interpolation = "vertex"\n    )\n}\n'
    )
    return path


def _tuples(values) -> str:
    return ", ".join(f"({', '.join(f'{number:.5g}' for number in row)})" for row in values)


def _lathe(profile, around: int, centre=(0, 0, 0), tilt: float = 0.0):
    """A profile of (radius, height), from bottom to top, about an axis that leans to the side."""
    profile = np.asarray(profile, float)
    turn = np.linspace(0, 2 * np.pi, around + 1)
    radius, height = profile[:, :1], profile[:, 1:]
    x, y, z = radius * np.sin(turn), height + 0 * turn, radius * np.cos(turn)
    lean = np.radians(tilt)
    found = np.stack(
        [x * np.cos(lean) + y * np.sin(lean), y * np.cos(lean) - x * np.sin(lean), z], -1
    )
    return found + centre


def _capsule(radius: float, length: float, rings: int):
    """The profile of a rounded limb that hangs down."""
    angle = np.linspace(-np.pi / 2 + 0.02, np.pi / 2 - 0.02, rings)
    bend = np.where(angle < 0, -length, 0.0)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle) + bend], 1)


def make_figure(path: Path, detail: int = 24) -> Path:
    """A body with a head and two arms."""
    height = np.linspace(0, 1, detail)
    waist = 0.24 + 0.06 * np.cos(2 * np.pi * height) - 0.1 * height**6
    ends = np.sqrt(np.clip(1 - (2 * height - 1) ** 8, 0.001, 1))
    body = _lathe(np.stack([waist * ends, height - 0.6], 1), detail)
    head = _lathe(_capsule(0.17, 0.05, detail), detail, (0, 0.62, 0))
    arm = _capsule(0.075, 0.5, detail)
    parts = [
        Part(body, *_rectangles((0, 0), (0.5, 1), 0)),
        Part(head, *_rectangles((0.5, 0.5), (1, 1), 1)),
        Part(_lathe(arm, detail, (0.34, 0.28, 0), -22), *_rectangles((0.5, 0), (1, 0.5), 2)),
        Part(_lathe(arm, detail, (-0.34, 0.28, 0), 22), *_rectangles((0.5, 0), (1, 0.5), 3), True),
    ]
    return write(path, parts)


def make_cloth(path: Path, detail: int = 32) -> Path:
    """A wavy cloth over the tiles 1001, 1002, 1011 and 1012."""
    side = np.linspace(-1, 1, 2 * detail + 1)
    x, z = np.meshgrid(side, -side)
    y = 0.14 * np.sin(3 * x + 1) * np.cos(2.5 * z) + 0.05 * np.sin(9 * x - 4 * z)
    return write(
        path, [Part(np.stack([x, y, z], -1), ((0, 0), (2, 2)), ((0.01, 0.01), (0.99, 0.99)))]
    )


def _rectangles(low, high, number: int):
    """The rectangles of both sets, with margins; the second is a quarter of the square."""
    inner = np.array(low) + _MARGIN, np.array(high) - _MARGIN
    corner = np.array([number % 2, number // 2]) / 2
    return inner, (corner + _MARGIN, corner + 0.5 - _MARGIN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for made in (make_figure(folder / "figure.usda"), make_cloth(folder / "cloth.usda")):
        print(made)
