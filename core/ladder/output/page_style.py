"""The style of the page of a ladder."""

from __future__ import annotations

from verdigris.core.pictures.compare.heat import heat_colours
from verdigris.core.pictures.picture_files import srgb_from_linear


def _gradient() -> str:
    """The colours of error maps from 0 to their end, as CSS."""
    import numpy as np

    colours = srgb_from_linear(heat_colours(np.linspace(0, 1, 9, dtype=np.float32), 1.0))
    return ", ".join(f"rgb({', '.join(str(round(255 * float(c))) for c in each)})"
                     for each in colours)  # fmt: skip


STYLE = """
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
