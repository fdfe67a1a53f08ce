"""One HTML file that shows a ladder: pictures, errors, bytes, switching sizes and loaders."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.text import format_bytes
from verdigris.core.hosts.ladder_looks import describe_switch
from verdigris.core.ladder.measure.measure_rung import SWITCH_FLIP, choose_lods
from verdigris.core.ladder.measure.time_rung import NOT_MEASURED
from verdigris.core.pictures.compare.heat import heat_colours
from verdigris.core.pictures.picture_files import encode_jpeg, srgb_from_linear
from verdigris.core.pictures.tone import film

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.ladder import Ladder
    from verdigris.core.ladder.measure.measure_rung import Measured
    from verdigris.core.ladder.rungs.rung import Rung


# The end of the scale of error maps.
_TOP = 0.3
_BYTES = (
    "Bytes of textures are those of the finest level, one for each channel; mip levels add a "
    "third. Bytes of the neural material are all that an engine loads."
)
_TIMED = "Times are for one light of a rung that the engine lights, and else for one pixel."
_NOT_TIMED = f"Nanoseconds are not measured here: {NOT_MEASURED}."
# The grey behind the mesh in linear light. Dark and bright materials stand out from it.
_BEHIND = 0.12
# Pictures of dark materials are brightened until this percentile of their light has this value, by
# at most this factor.
_BRIGHT_PERCENTILE, _BRIGHT, _MOST_BRIGHTER = 90, 0.5, 8.0


def make_page(ladder: Ladder, name: str) -> str:
    """The page as text; pictures are inside it."""
    views = ShownViews(ladder)
    title, mesh = html.escape(name), html.escape(PurePath(ladder.scene.surface.name).name)
    count = len(ladder.held_out.seen)
    is_dark = views.brighter > 1.05
    brighter = f" and brightened {views.brighter:.1f} times" if is_dark else ""
    warnings = "".join(f"<li>{html.escape(each)}</li>" for each in ladder.warnings)
    return (
        f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Ladder: {title}</title>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<style>{_STYLE}</style><main><h1>{title} <span>on {mesh}</span></h1>"
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
            f"<tr><td><a href='#{rung.name}'>{html.escape(rung.title)}</a></td>"
            f"<td>{format_bytes(rung.byte_size)}</td><td>{found.flip:.3f}</td>"
            f"<td class=more>{found.psnr:.1f}</td>"
            f"<td>{_good(found)}</td>{f'<td class=more>{time}</td>' if is_timed else ''}"
            f"<td class=text>{html.escape(rung.cost)}</td></tr>"
        )
    return (
        "<div class=wide><table><tr><th>rung</th><th>bytes</th><th>error (FLIP)</th>"
        "<th class=more>PSNR, dB</th><th>good</th>"
        f"{'<th class=more>time</th>' if is_timed else ''}<th class=text>an engine does</th></tr>"
        f"{''.join(rows)}</table></div><p>FLIP is the visible difference over the "
        "pixels of the mesh; 0 is none. A rung is good below the height on the screen, in "
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
        rows.append(f"<tr><td>{html.escape(rung.title)}</td>{cells}</tr>")
    first, *others = choose_lods(ladder.rungs, ladder.measured)
    titles = {rung.name: rung.title for rung in ladder.rungs}
    text = f"Levels of detail: {titles[first.rung]} at first"
    for each in others:
        text += f"; {titles[each.rung]} below {each.below_pixels} px"
    if not others:
        text += "; no cheaper rung is good at any of these sizes"
    return (
        "<h2>Switching</h2><div class=wide><table><tr><th>FLIP at a height of</th>"
        f"{head}</tr>{''.join(rows)}</table></div><p>{html.escape(text)}.</p>"
    )


def _section(rung: Rung, found: Measured, views: ShownViews) -> str:
    title = rung.title
    facts = [format_bytes(rung.byte_size), f"FLIP {found.flip:.3f}", rung.cost]
    if rung.nanoseconds:
        facts.append(rung.describe_time(rung.nanoseconds))
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
        f"<details><summary>In an engine</summary><pre>{html.escape(rung.snippet)}</pre>"
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


class ShownViews:
    """The views of which a ladder keeps pictures, for people: over grey, and bright enough to
    see."""

    def __init__(self, ladder: Ladder) -> None:
        held_out = ladder.held_out
        count = min((len(each.pictures) for each in ladder.measured.values()), default=0)
        self._covers = held_out.covers[:count, ..., None]
        self.references = list(held_out.pictures[:count])
        lit = np.concatenate(
            [picture[cover[..., 0] > 0.5].max(1)
             for picture, cover in zip(self.references, self._covers, strict=True)]
        )  # fmt: skip
        bright = float(np.percentile(lit, _BRIGHT_PERCENTILE)) if len(lit) else _BRIGHT
        self.brighter = float(np.clip(_BRIGHT / max(bright, 1e-6), 1, _MOST_BRIGHTER))

    def shown(self, pictures: Sequence[Floats]) -> list[Floats]:
        return [
            film(picture * self.brighter + (1 - cover) * _BEHIND)
            for picture, cover in zip(pictures, self._covers, strict=False)
        ]

    @property
    def clearest(self) -> int:
        """The number of the view that shows most of the material: large and lit."""
        shown = [np.minimum(each * self.brighter, 1).sum() for each in self.references]
        return int(np.argmax(shown))


def _gradient() -> str:
    """The colours of error maps from 0 to their end, as CSS."""
    colours = srgb_from_linear(heat_colours(np.linspace(0, 1, 9, dtype=np.float32), 1.0))
    return ", ".join(f"rgb({', '.join(str(round(255 * float(c))) for c in each)})"
                     for each in colours)  # fmt: skip


_STYLE = """
:root { color-scheme: light dark; --page: #f4f4f2; --card: #fff; --text: #1d1f23; --soft: #5b606a;
  --line: #d5d6d3; --good: #1d6b3a; --link: #185a9d }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --card: #1f2228; --text: #d8dade;
  --soft: #a2a7b0; --line: #3a3e46; --good: #7fd19b; --link: #8ab8ea } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif }
main { max-width: 62em; margin: 0 auto; padding: 1.5em 1em 4em }
h1 { font-weight: 600; font-size: 1.7em; margin: 0 0 .3em; overflow-wrap: anywhere }
h1 span { font-weight: 400; color: var(--soft) }
h2 { font-weight: 600; font-size: 1.15em; margin: 0 0 .2em }
p { max-width: 46em; margin: .3em 0 .9em; color: var(--soft) }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
.wide { overflow-x: auto; margin: .6em 0 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .35em .8em; text-align: right; white-space: nowrap }
th { font-weight: 500; color: var(--soft); border-bottom: 1px solid var(--line) }
td { border-bottom: 1px solid var(--line) }
td:first-child, th:first-child { text-align: left; padding-left: 0; white-space: normal;
  min-width: 7em }
.wide .text { text-align: left; white-space: normal; min-width: 12em }
.good { color: var(--good); font-weight: 600 } .off { color: var(--soft) }
.warnings { color: var(--soft); padding-left: 1.2em; margin: 1em 0 }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1em; margin: 1em 0 }
.row { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .5em; margin: .5em 0 }
figure { margin: 0 } figure img { width: 100%; display: block; border-radius: 4px }
figcaption { color: var(--soft); font-size: .85em; margin-top: .2em }
.scale { display: flex; align-items: center; gap: .6em; font-size: .85em }
.scale i { flex: 0 1 12em; height: .7em; border-radius: 3px;
  background: linear-gradient(90deg, HEAT) }
details { margin-top: .4em } summary { cursor: pointer; color: var(--link) }
pre { overflow-x: auto; background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  padding: .8em; font: 13px/1.45 ui-monospace, monospace }
@media (max-width: 34em) { main { padding: 1em .7em 3em } section { padding: .7em }
  .more, .wide .text { display: none } th, td { padding: .35em .4em } }
""".replace("HEAT", _gradient())
