"""The example's interior: a room with a window, a table with a tray, vases and a bench."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from meshes import Mesh, box, joined, lathe, read_obj, rectangle, sphere
from numpy.typing import NDArray

TRAY = Path(__file__).parents[1] / "tray.obj"
# What each thing is made of, by its place in this list; a scene may give them other materials.
SLOTS = (
    "glazed_tile", "painted_wood", "two_tone_velvet", "foil_stamp",
    "copper_tray", "brushed_steel", "car_paint", "enamel_badge",
)  # fmt: skip
TILE, WOOD, VELVET, LEATHER, COPPER, STEEL, PAINT, ENAMEL = range(len(SLOTS))

WIDTH, HEIGHT, DEPTH = 4.4, 2.7, 5.0
# of the window in the wall x = 0: first y, first z, height, width
WINDOW = (0.75, 1.2, 1.65, 2.6)
_WAINSCOT = 0.95
_TABLE = 0.74


@dataclass(frozen=True)
class Placed:
    """A mesh in the room. It is turned around y, enlarged and moved."""

    mesh: Mesh
    slot: int
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: float = 0.0
    size: float = 1.0

    def transform(self) -> NDArray[np.float32]:
        """Rows of the matrix from the mesh to the room."""
        angle = np.radians(self.turn)
        c, s = self.size * np.cos(angle), self.size * np.sin(angle)
        rows = [[c, 0, s, 0], [0, self.size, 0, 0], [-s, 0, c, 0]]
        rows = np.array(rows, np.float32)
        rows[:, 3] = self.place
        return rows


VASE = [
    (0.045, 0.42), (0.05, 0.415), (0.036, 0.36), (0.034, 0.31), (0.07, 0.24), (0.105, 0.15),
    (0.085, 0.05), (0.055, 0.012), (0.058, 0.0), (0.0, 0.0),
]  # fmt: skip
BOTTLE = [
    (0.0, 0.34), (0.022, 0.338), (0.025, 0.32), (0.02, 0.29), (0.022, 0.24), (0.06, 0.19),
    (0.066, 0.12), (0.064, 0.03), (0.055, 0.003), (0.0, 0.0),
]  # fmt: skip
BOWL = [
    (0.0, 0.03), (0.05, 0.035), (0.11, 0.075), (0.15, 0.135), (0.156, 0.136), (0.12, 0.06),
    (0.06, 0.012), (0.062, 0.0), (0.0, 0.0),
]  # fmt: skip


def _wall_with_window(low: float, high: float, per_repeat: float) -> Mesh:
    """The part of the wall x = 0 between two heights, without the window."""
    y, z, height, width = WINDOW
    parts = [(low, high, 0.0, z), (low, high, z + width, DEPTH)]
    parts += [(low, min(high, y), z, z + width), (max(low, y + height), high, z, z + width)]
    return joined(
        *(
            rectangle((0, b, f), (0, 0, e - f), (0, t - b, 0), per_repeat)
            for b, t, e, f in parts
            if t > b
        )
    )


def _walls(low: float, high: float, per_repeat: float) -> Mesh:
    up = (0, high - low, 0)
    return joined(
        rectangle((0, low, 0), (WIDTH, 0, 0), up, per_repeat),
        rectangle((WIDTH, low, DEPTH), (-WIDTH, 0, 0), up, per_repeat),
        rectangle((WIDTH, low, 0), (0, 0, DEPTH), up, per_repeat),
        _wall_with_window(low, high, per_repeat),
    )


def _window_frame() -> Mesh:
    """Jambs outside of the wall, and bars between the panes."""
    y, z, height, width = WINDOW
    wide, deep = 0.06, 0.09
    bars = []
    for at in (0.012, 1 / 3, 2 / 3, 0.988):
        middle = z + width * at
        bars.append(box((-deep, y, middle - wide / 2), (0.0, y + height, middle + wide / 2)))
    for at in (0.018, 0.62, 0.982):
        middle = y + height * at
        bars.append(box((-deep, middle - wide / 2, z), (0.0, middle + wide / 2, z + width)))
    return joined(*bars)


def _table() -> Mesh:
    legs = [box((x, 0, z), (x + 0.07, _TABLE - 0.035, z + 0.07), 0.5)
            for x in (-0.75, 0.68) for z in (-0.42, 0.35)]  # fmt: skip
    apron = box((-0.72, _TABLE - 0.12, -0.39), (0.72, _TABLE - 0.035, 0.39), 0.5)
    return joined(*legs, apron)


@cache
def build() -> tuple[Placed, ...]:
    dado = rectangle((0, _WAINSCOT, 0.035), (WIDTH, 0, 0), (0, 0, -0.035), 0.5)
    ceiling = rectangle((0, HEIGHT, 0), (WIDTH, 0, 0), (0, 0, DEPTH), 1.4)
    floor = rectangle((0, 0, DEPTH), (WIDTH, 0, 0), (0, 0, -DEPTH), 1.1)
    table_at = (2.25, 0.0, 1.75)

    def on_table(mesh: Mesh, slot: int, x: float, z: float, turn: float = 0, size: float = 1):
        return Placed(mesh, slot, (table_at[0] + x, _TABLE, table_at[2] + z), turn, size)

    top = box((-0.82, _TABLE - 0.035, -0.49), (0.82, _TABLE, 0.49), 0.82)
    bench = box((-0.85, 0.36, -0.24), (0.85, 0.5, 0.24), 0.6)
    bench_legs = joined(*(box((x, 0, z), (x + 0.05, 0.36, z + 0.05), 0.5)
                          for x in (-0.8, 0.75) for z in (-0.2, 0.15)))  # fmt: skip
    ball = sphere(0.1)
    book = box((-0.14, 0, -0.1), (0.14, 0.035, 0.1), 0.28)
    vase, bottle, bowl = lathe(VASE, 2), lathe(BOTTLE, 1), lathe(BOWL, 3)
    return (
        Placed(floor, TILE),
        Placed(_walls(0.0, _WAINSCOT, 0.9), WOOD),
        Placed(ceiling, WOOD),
        Placed(dado, WOOD),
        Placed(_walls(_WAINSCOT, HEIGHT, 0.75), VELVET),
        Placed(_window_frame(), WOOD),
        Placed(_table(), WOOD, table_at, 8),
        Placed(top, STEEL, table_at, 8),
        on_table(read_obj(TRAY), COPPER, -0.12, 0.1, 30, 1.35),
        on_table(ball, ENAMEL, -0.05, 0.1, 20, 0.7),
        on_table(vase, PAINT, 0.42, -0.18, 0, 1.15),
        on_table(bottle, STEEL, 0.64, 0.08, 0, 0.9),
        on_table(bowl, TILE, -0.55, -0.22, 0, 0.9),
        on_table(book, LEATHER, 0.36, 0.26, 35),
        on_table(book, LEATHER, 0.36, 0.26, 35),
        Placed(bench, LEATHER, (3.5, 0.0, 0.75), -12),
        Placed(bench_legs, STEEL, (3.5, 0.0, 0.75), -12),
        Placed(ball, PAINT, (3.25, 0.62, 0.75), 0, 1.2),
        Placed(ball, COPPER, (3.75, 0.66, 0.68), 0, 1.6),
        Placed(vase, ENAMEL, (0.75, 0.0, 0.55), 0, 2.3),
        Placed(ball, STEEL, (1.15, 0.16, 0.95), 0, 1.6),
    )
