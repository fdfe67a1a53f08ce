"""The table of time_frames.py: rows, and their report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import OpenImageIO as oiio
from tracer import BOUNCES

from verdigris.core.pictures.compare.metrics import ldr_flip

ROWS_FILE = "rows.jsonl"
# How hits are shaded: by compute shaders, by hit shaders, by hit shaders with reordering.
WAYS = QUEUES, HITS, REORDERED = "queues", "hits", "reordered"
_HEADER = (
    "scene", "materials", "sampler", "shaded by", "frame, ms", "shading, ms", "noise",
    "median noise", "compiled, s",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    scene: str
    kind: str
    has_simple_sampler: bool
    way: str
    """One of WAYS."""
    compile_seconds: float = 0.0
    milliseconds: float = 0.0
    noise: float = 0.0
    """Standard deviation of a pixel with one sample, over the mean light: of all pixels."""
    median_noise: float = 0.0
    """The same of each pixel, over its own mean: the median."""
    failure: str = ""

    def failed(self, why: str) -> Row:
        return replace(self, failure=why)

    def picture(self, folder: Path, suffix: str) -> Path:
        return folder / f"{self.name}{suffix}"

    @property
    def sampler(self) -> str:
        return "simple" if self.has_simple_sampler else "own"

    @property
    def name(self) -> str:
        return f"{self.scene}.{self.kind}.{self.sampler}.{self.way}"


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def report(out: Path, facts: dict[str, Any], rows: list[Row]) -> None:
    """Writes and prints what is measured so far."""
    flips = _flips(out, rows)
    data = {**facts, "bounces": BOUNCES, "rows": [asdict(row) for row in rows], "flip": flips}
    (out / "frames.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    width, height = facts["size"]
    lines = [
        f"{facts['device']}, {width} x {height}, {BOUNCES} bounces, a sample for each pixel",
        "",
        _line(_HEADER),
        _line("---" for _ in _HEADER),
        *(_line(_cells(row, rows)) for row in rows),
        "",
        *(f"{name}: FLIP {value:.4f} between neural and graph" for name, value in flips.items()),
        "",
        "Shading: more than the frame of the same scene without materials, with the simple",
        "sampler. With a material's own sampler that includes the sampler.",
    ]
    text = "\n".join(lines) + "\n"
    (out / "frames.md").write_text(text, encoding="utf-8")
    print(text, flush=True)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, rows: list[Row]) -> list[str]:
    names = [row.scene, row.kind, row.sampler, row.way]
    if row.failure:
        return [*names, row.failure.replace("|", "/")[:80], "", "", "", ""]
    plain = [
        each.milliseconds
        for each in rows
        if (each.scene, each.kind, each.way) == (row.scene, "plain", row.way) and not each.failure
    ]
    return [
        *names,
        f"{row.milliseconds:.2f}",
        f"{row.milliseconds - plain[0]:.2f}" if plain else "",
        f"{row.noise:.3f}",
        f"{row.median_noise:.3f}",
        f"{row.compile_seconds:.1f}",
    ]


def _flips(out: Path, rows: list[Row]) -> dict[str, float]:
    """Of each scene's pictures with the materials' own sampler, shaded in any way."""
    pictures = {
        (row.scene, row.kind): row.picture(out, ".exr")
        for row in rows
        if not (row.has_simple_sampler or row.failure)
    }
    flips = {}
    for scene in dict.fromkeys(row.scene for row in rows):
        paths = [pictures.get((scene, kind)) for kind in ("neural", "graph")]
        if all(paths):
            neural, graph = (oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT) for path in paths)
            flips[scene] = float(ldr_flip(neural[..., :3], graph[..., :3])[0])
    return flips
