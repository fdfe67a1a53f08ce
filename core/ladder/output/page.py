"""One HTML file that shows a ladder: pictures, errors, bytes, switching sizes and loaders."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from verdigris.core.base.text import format_bytes
from verdigris.core.ladder.measure.measure_rung import SWITCH_FLIP
from verdigris.core.ladder.measure.time_rung import NOT_MEASURED
from verdigris.core.ladder.output.lods import choose_lods
from verdigris.core.ladder.output.page_style import STYLE
from verdigris.core.ladder.output.shown_views import ShownViews
from verdigris.core.ladder.output.snippets import SNIPPETS
from verdigris.core.pictures.compare.heat import heat_colours
from verdigris.core.pictures.picture_files import encode_jpeg
from verdigris.core.settings.rung_names import COSTS, TITLES, describe_switch, describe_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.ladder.ladder import Ladder
    from verdigris.core.ladder.measure.measure_rung import Measured
    from verdigris.core.ladder.rung import Rung

    Floats = NDArray[np.float32]

# The end of the scale of error maps.
_TOP = 0.3
_BYTES = (
    "Bytes of textures are of the finest level, one for each channel; mip levels add a third. "
    "Those of the neural material are all that it loads."
)
_TIMED = "Times are of a light where the engine lights, else of a pixel, at random places."
_NOT_TIMED = f"Nanoseconds are not measured here: {NOT_MEASURED}."


def make_page(ladder: Ladder, name: str) -> str:
    """The page as text; pictures are inside it."""
    views = ShownViews(ladder)
    title, mesh = html.escape(name), html.escape(PurePath(ladder.scene.surface.name).name)
    count = len(ladder.held_out.seen)
    brighter = f", {views.brighter:.1f} times brighter than lit" if views.brighter > 1.05 else ""
    warnings = "".join(f"<li>{html.escape(each)}</li>" for each in ladder.warnings)
    return (
        f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Ladder: {title}</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<style>{STYLE}</style><main><h1>{title} <span>on {mesh}</span></h1>"
        "<p>One material in several forms, called rungs: from exact and costly to rough and cheap, "
        "fitted on this mesh. Choose the cheapest that looks right at the size at which you show "
        "it.</p>"
        f"{_summary(ladder)}{_sizes(ladder)}"
        f"{f'<ul class=warnings>{warnings}</ul>' if warnings else ''}"
        f"<section><h2>The material</h2><p>Drawn from its graph{brighter}. All rungs are compared "
        f"with such pictures, over {count} views that no rung was fitted to.</p>"
        f"{_row(views.shown(views.references), 'The material')}</section>"
        + "".join(_section(each, ladder.measured[each.name], views) for each in ladder.rungs)
        + "</main></html>"
    )


def _summary(ladder: Ladder) -> str:
    rows = []
    is_timed = any(rung.nanoseconds for rung in ladder.rungs)
    for rung in ladder.rungs:
        found = ladder.measured[rung.name]
        time = f"{rung.nanoseconds:.3f} ns" if rung.nanoseconds else ""
        rows.append(
            f"<tr><td><a href='#{rung.name}'>{html.escape(TITLES[rung.name])}</a></td>"
            f"<td>{format_bytes(rung.byte_size)}</td><td>{found.flip:.3f}</td>"
            f"<td class=more>{found.psnr:.1f}</td>"
            f"<td>{_good(found)}</td>{f'<td class=more>{time}</td>' if is_timed else ''}"
            f"<td class=text>{html.escape(COSTS[rung.name])}</td></tr>"
        )
    return (
        "<div class=wide><table><tr><th>rung</th><th>bytes</th><th>error (FLIP)</th>"
        "<th class=more>PSNR, dB</th><th>good</th>"
        f"{'<th class=more>time</th>' if is_timed else ''}<th class=text>an engine does</th></tr>"
        f"{''.join(rows)}</table></div><p>FLIP is the difference that an eye sees, over "
        "the pixels of the mesh; 0 is none. A rung is good below the height on the screen, in "
        f"pixels, at which its FLIP is under {SWITCH_FLIP}. "
        f"{_BYTES} {_TIMED if is_timed else _NOT_TIMED}</p>"
    )


def _sizes(ladder: Ladder) -> str:
    """Error by the size on the screen, and the levels of detail that follow."""
    sizes = sorted({size for each in ladder.measured.values() for size in each.by_size})
    head = "".join(f"<th>{size} px</th>" for size in sizes)
    rows = []
    for rung in ladder.rungs:
        by_size = ladder.measured[rung.name].by_size
        cells = "".join(
            f"<td class={'good' if by_size[size] < SWITCH_FLIP else 'off'}>{by_size[size]:.3f}</td>"
            if size in by_size
            else "<td></td>"
            for size in sizes
        )
        rows.append(f"<tr><td>{html.escape(TITLES[rung.name])}</td>{cells}</tr>")
    first, *others = choose_lods(ladder)
    text = f"Levels of detail: {TITLES[first.rung]} at first"
    for each in others:
        text += f"; {TITLES[each.rung]} below {each.below_pixels} px"
    if not others:
        text += "; no cheaper rung is good at any of these sizes"
    return (
        "<h2>Switching</h2><div class=wide><table><tr><th>FLIP at a height of</th>"
        f"{head}</tr>{''.join(rows)}</table></div><p>{html.escape(text)}.</p>"
    )


def _section(rung: Rung, found: Measured, views: ShownViews) -> str:
    title = TITLES[rung.name]
    facts = [format_bytes(rung.byte_size), f"FLIP {found.flip:.3f}", COSTS[rung.name]]
    if rung.nanoseconds:
        facts.append(describe_time(rung.name, rung.nanoseconds))
    if found.bound is not None:
        facts.append(f"the best single texture has FLIP {found.bound[0]:.3f}")
    notes = "".join(f"<p>{html.escape(each)}</p>" for each in rung.notes)
    maps = [heat_colours(each, _TOP) for each in found.maps]
    errors = [f"error, view {at}: FLIP {flip:.3f}" for at, flip in enumerate(found.by_view, 1)]
    return (
        f"<section id='{rung.name}'><h2>{html.escape(title)}</h2>"
        f"<p>{html.escape('; '.join(facts))}.</p>{notes}"
        f"{_row(views.shown(found.pictures), title)}{_row(maps, f'{title}: errors', errors)}"
        f"<p class=scale><span>0</span><i></i><span>FLIP {_TOP:.1f} and more</span></p>"
        f"<details><summary>In an engine</summary><pre>{html.escape(SNIPPETS[rung.name])}</pre>"
        "<p>Numbers such as <code>curve</code>, and the names of the files, are in "
        "<code>ladder.json</code>.</p></details></section>"
    )


def _row(pictures: Sequence[Floats], title: str, captions: Sequence[str] = ()) -> str:
    found = []
    for number, picture in enumerate(pictures, 1):
        data = base64.b64encode(encode_jpeg(picture)).decode()
        words = captions[number - 1] if captions else ""
        below = f"<figcaption>{html.escape(words)}</figcaption>" if words else ""
        found.append(
            f"<figure><img alt='{html.escape(title)}, view {number}' "
            f"src='data:image/jpeg;base64,{data}'>{below}</figure>"
        )
    return f"<div class=row>{''.join(found)}</div>"


def _good(found: Measured) -> str:
    return describe_switch(found.as_json())
