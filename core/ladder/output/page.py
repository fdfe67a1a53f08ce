"""One HTML file that shows a ladder: pictures, errors, bytes and switching distances."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.measure import SWITCH_FLIP
from verdigris.core.ladder.output.lods import choose_lods
from verdigris.core.pictures.heat import heat_colours
from verdigris.core.pictures.picture_files import encode_jpeg, with_shoulder
from verdigris.core.settings.rung_names import COSTS, TITLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.ladder import Ladder

    Floats = NDArray[np.float32]

# The end of the scale of error maps.
_TOP = 0.3
_STYLE = """
body { background: #16181c; color: #d8dade; font: 15px/1.45 system-ui, sans-serif; margin: 2em auto;
  max-width: 78em; padding: 0 1em }
h1 { font-weight: 500 } p { max-width: 50em; color: #a9adb5 }
table { border-collapse: collapse; margin: 1em 0 } th, td { padding: .35em .9em }
th, td { text-align: right }
th { font-weight: 500; color: #a9adb5; border-bottom: 1px solid #3a3e46 }
td:first-child, th:first-child { text-align: left }
.rungs { display: flex; flex-wrap: wrap; gap: 1em }
figure { margin: 0; background: #1f2228; border-radius: 6px; padding: .7em; width: 17em }
figure img { width: 100%; display: block; image-rendering: auto; border-radius: 3px }
figcaption { margin-top: .5em } small { color: #a9adb5; display: block }
"""


def make_page(ladder: Ladder, name: str) -> str:
    """The page as text; pictures are inside it."""
    cards = [_card("The material", "drawn from its graph", ladder.held_out.pictures[:3], [])]
    rows = []
    for rung in ladder.rungs:
        found = ladder.measured[rung.name]
        switch = found.switch_pixels
        below = f"{switch} px" if switch else "none"
        rows.append(
            f"<tr><td>{html.escape(TITLES[rung.name])}</td><td>{_size(rung.byte_size)}</td>"
            f"<td>{found.flip:.3f}</td><td>{found.flip_of_pictures:.3f}</td>"
            f"<td>{found.psnr:.1f}</td><td>{below}</td><td>{rung.seconds:.0f} s</td>"
            f"<td style='text-align:left'>{html.escape(COSTS[rung.name])}</td></tr>"
        )
        text = f"FLIP {found.flip:.3f}, {_size(rung.byte_size)}"
        if rung.nanoseconds:
            text += f", {rung.nanoseconds:.2f} ns for each light"
        maps = [heat_colours(each, _TOP) for each in found.maps]
        cards.append(_card(TITLES[rung.name], text, found.pictures, maps, rung.notes))
    notes = _lods(ladder) + "".join(f"<p>{html.escape(each)}</p>" for each in ladder.warnings)
    title = html.escape(name)
    views = len(ladder.held_out.seen)
    return (
        f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Ladder: {title}</title>"
        f"<style>{_STYLE}</style><h1>{title} on {html.escape(ladder.scene.surface.name)}</h1>"
        f"<p>Errors are means over {views} views that no rung was fitted to. FLIP is taken over "
        "the pixels of the mesh, and over whole pictures. A rung suffices where the mesh is "
        f"smaller on the screen than <i>good below</i>: its FLIP is less than {SWITCH_FLIP} "
        "there.</p>"
        "<table><tr><th>rung</th><th>bytes</th><th>FLIP</th><th>FLIP, pictures</th><th>PSNR</th>"
        "<th>good below</th><th>fitted in</th><th>cost</th></tr>"
        f"{''.join(rows)}</table>{notes}<div class='rungs'>{''.join(cards)}</div></html>"
    )


def _lods(ladder: Ladder) -> str:
    """The levels of detail as a sentence."""
    first, *others = choose_lods(ladder)
    text = f"Levels of detail: {TITLES[first.rung]}"
    for each in others:
        text += f"; below {each.below_pixels} px, {TITLES[each.rung]}"
    return f"<p>{html.escape(text)}.</p>"


def _card(
    title: str,
    text: str,
    pictures: list[Floats],
    maps: list[Floats],
    notes: list[str] | None = None,
) -> str:
    shown = [with_shoulder(each) for each in pictures]
    rows = [np.concatenate(pair, 1) for pair in zip(shown, maps, strict=True)] if maps else shown
    data = base64.b64encode(encode_jpeg(np.concatenate(rows, 0))).decode()
    below = "".join(f"<small>{html.escape(each)}</small>" for each in notes or ())
    return (
        f"<figure><img alt='{html.escape(title)}' src='data:image/jpeg;base64,{data}'>"
        f"<figcaption>{html.escape(title)}<small>{html.escape(text)}</small>{below}</figcaption>"
        "</figure>"
    )


def _size(count: int) -> str:
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.2f} MiB"
