"""`verdigris bake --compare-uniform`: two bakes, and what the map has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from verdigris.core.baking.painted import SAMPLES, PaintedBakes, PaintedComparison
from verdigris.core.base.outputs import check_apart
from verdigris.core.pictures.picture_files import write_picture
from verdigris.core.progress.events import Warning

if TYPE_CHECKING:
    from pathlib import Path

    from verdigris.core.baking.state.options import BakeControl, BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress.events import Event
    from verdigris.core.settings.bake_settings import BakeSettings

PICTURE_SUFFIX = ".importance.png"
_NAMES = {"log_mae": "log MAE", "smape": "SMAPE"}


def bake_both(
    teachers: Sequence[Teacher],
    settings: BakeSettings,
    options: BakeOptions,
    control: BakeControl,
    show: Callable[[Iterable[Event]], None],
    as_json: bool,
    read: Sequence[Path] = (),
) -> None:
    """Bakes uniformly and with the map, prints errors inside and outside of the paint, and draws
    the map and both errors side by side, but never over a file that was `read`."""
    bakes = PaintedBakes(teachers, settings, options, control)
    pictures = [path.with_suffix(PICTURE_SUFFIX) for path in bakes.paths]
    for picture in pictures:
        check_apart(picture, read)
    show(bakes.events())
    compared = bakes.comparisons()
    if not compared:
        show([Warning("the bakes were ended before both were done: there is nothing to compare")])
    for found, picture in zip(compared, pictures, strict=False):
        write_picture(picture, found.picture())
        if as_json:
            print(json.dumps({"event": "compared", **_as_json(found, picture)}), flush=True)
        else:
            _print(found, picture)


def _as_json(found: PaintedComparison, picture: Path) -> dict[str, object]:
    rows = [
        {"where": place, "measure": measure, "uniform": uniform, "painted": painted}
        for place, measure, uniform, painted in found.rows()
    ]
    return {
        "material": found.material,
        "share": found.share,
        "errors": rows,
        "picture": str(picture),
    }


def _print(found: PaintedComparison, picture: Path) -> None:
    print(f"{found.material}: {found.share:.1%} of the surface is painted")
    print(f"{'':<20}{'uniform':>10}{'painted':>10}{'change':>9}")
    rows = list(found.rows())
    for place in sorted({"inside", "outside"} - {row[0] for row in rows}):
        print(f"{place}: nowhere, or too small a part for the {SAMPLES:,} samples")
    for place, measure, uniform, painted in rows:
        change = f"{painted / uniform - 1:+.0%}" if uniform > 0 else ""
        print(f"{place + ', ' + _NAMES[measure]:<20}{uniform:>10.5f}{painted:>10.5f}{change:>9}")
    print(f"{picture}: the map, the uniform error, the painted error")
