"""The report of a run: one HTML file with all pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path

from verdigris.core.base.images import reduced_jpeg
from verdigris.core.base.json_fields import find_number, find_table
from verdigris.core.base.text import counted, format_bytes, format_seconds
from verdigris.core.batch.run.summary import BAKED, CURRENT, FAILED, Row, Summary
from verdigris.core.bundle.files.write import PREVIEW_FILE
from verdigris.core.pictures.compare.comparison import comparison_path

# Pixels of each third of a picture; larger ones are reduced.
_PICTURE_HEIGHT = 512
_JPEG_QUALITY = 88
_ORDER = {FAILED: 0, "stopped": 1, "not reached": 2, BAKED: 3, CURRENT: 4}
_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --bad: #c0392b; --good: #2e7d5b; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
.about { color: #888; margin: 0 0 1.2rem; overflow-wrap: anywhere; }
.counts span { display: inline-block; border: 1px solid var(--line); border-radius: 6px;
  padding: .25rem .7rem; margin: 0 .4rem .4rem 0; }
.counts .failed, .failed > .status { color: var(--bad); font-weight: 600; }
.baked > .status { color: var(--good); }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
article { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; margin: 0 0 1rem;
  display: grid; grid-template-columns: minmax(0, 512px) minmax(0, 1fr); gap: .4rem 1.2rem; }
article > h3, article > .status { grid-column: 1 / -1; margin: 0; }
article h3 { font-size: 1.05rem; } article .status { color: #888; overflow-wrap: anywhere; }
figure { margin: 0; } figcaption { color: #888; font-size: .8rem; margin: .3rem 0 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem .8rem; margin: 0;
  align-content: start; }
dt { color: #888; } dd { margin: 0; overflow-wrap: anywhere; }
a { color: inherit; } @media (max-width: 800px) { article { grid-template-columns: 1fr; } }
"""
_PICTURE_STYLE = """
.compare { position: relative; aspect-ratio: 1; overflow: hidden; border-radius: 6px;
  background: #222; cursor: ew-resize; touch-action: pan-y; max-width: 512px; }
.compare:focus-visible { outline: 2px solid #6fb1ff; }
.compare .clip, .compare .view { position: absolute; inset: 0; }
.compare .clip { clip-path: inset(0 0 0 var(--wipe, 50%)); }
.compare .view { background: var(--picture) 0 0 / 300% 100%; transform: scale(var(--zoom, 1));
  transform-origin: var(--x, 50%) var(--y, 50%); }
.compare .clip .view { background-position-x: 50%; }
.compare.heat .clip { clip-path: none; }
.compare.heat .clip .view { background-position-x: 100%; }
.compare .line { position: absolute; top: 0; bottom: 0; width: 2px; margin-left: -1px;
  background: #fff; left: var(--wipe, 50%); pointer-events: none; }
.compare.heat .line { display: none; }
.compare .name { position: absolute; top: 8px; padding: 1px 7px; border-radius: 4px;
  background: #000a; color: #fff; font-size: .78rem; pointer-events: none; }
.compare .left { left: 8px; } .compare .right { right: 8px; }
.tools { display: flex; gap: .4rem; margin: .4rem 0 0; }
.tools button { font: inherit; font-size: .8rem; padding: .15rem .6rem; border-radius: 5px;
  border: 1px solid var(--line); background: var(--soft); color: inherit; cursor: pointer; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid #6fb1ff; }
th[aria-sort=ascending] button::after { content: " \\25b2"; }
th[aria-sort=descending] button::after { content: " \\25bc"; }
"""

_SCRIPT = """
const steps = [1, 2, 4];
for (const box of document.querySelectorAll('.compare')) {
  let zoom = 0;
  const right = box.querySelector('.right');
  const wipe = part => box.style.setProperty('--wipe', Math.min(100, Math.max(0, part)) + '%');
  const at = event => {
    const place = box.getBoundingClientRect();
    return [100 * (event.clientX - place.left) / place.width,
            100 * (event.clientY - place.top) / place.height];
  };
  const show = (x, y) => {
    box.style.setProperty('--zoom', steps[zoom]);
    box.style.setProperty('--x', x + '%');
    box.style.setProperty('--y', y + '%');
  };
  const heat = on => {
    box.classList.toggle('heat', on);
    right.textContent = on ? 'Difference' : 'Neural';
    box.querySelector('.left').hidden = on;
  };
  box.addEventListener('pointermove', event => wipe(at(event)[0]));
  box.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.altKey) return;
    event.preventDefault();
    zoom = Math.min(2, Math.max(0, zoom + (event.deltaY < 0 ? 1 : -1)));
    show(...at(event));
  }, { passive: false });
  box.addEventListener('click', event => { zoom = (zoom + 1) % 3; show(...at(event)); });
  box.addEventListener('keydown', event => {
    const now = parseFloat(getComputedStyle(box).getPropertyValue('--wipe')) || 50;
    if (event.key === 'ArrowLeft') wipe(now - 5);
    else if (event.key === 'ArrowRight') wipe(now + 5);
    else if (event.key === 'z') { zoom = (zoom + 1) % 3; show(50, 50); }
    else if (event.key === 'd') heat(!box.classList.contains('heat'));
    else return;
    event.preventDefault();
  });
  const tools = box.parentElement.querySelector('.tools');
  const [closer, difference] = tools.querySelectorAll('button');
  closer.onclick = () => { zoom = (zoom + 1) % 3; show(50, 50); };
  difference.onclick = () => {
    heat(!box.classList.contains('heat'));
    difference.setAttribute('aria-pressed', box.classList.contains('heat'));
  };
}
for (const head of document.querySelectorAll('th button')) {
  head.onclick = () => {
    const cell = head.parentElement, table = cell.closest('table');
    const column = [...cell.parentElement.children].indexOf(cell);
    const isDown = cell.getAttribute('aria-sort') === 'ascending';
    for (const other of table.querySelectorAll('th')) other.removeAttribute('aria-sort');
    cell.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
    const rows = [...table.querySelectorAll('tr')].slice(1);
    const key = row => {
      const shown = row.children[column];
      if (!shown.classList.contains('number')) return shown.textContent;
      return 'value' in shown.dataset ? Number(shown.dataset.value) : null;
    };
    rows.sort((first, second) => {
      const [a, b] = [key(first), key(second)];
      // rows without a figure stay below
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === 'number' ? a - b : a.localeCompare(b);
      return isDown ? -order : order;
    });
    for (const row of rows) row.parentElement.append(row);
  };
}
"""


def report_html(summary: Summary) -> str:
    """The whole HTML file."""
    return "\n".join(_parts(summary)) + "\n"


def _parts(summary: Summary) -> Iterator[str]:
    rows = sorted(summary.rows, key=_importance)
    title = f"{Path(summary.scene).name}: {counted(len(rows), 'material')}"
    yield "<!doctype html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{_STYLE}{_PICTURE_STYLE}</style></head><body>"
    yield f"<h1>{escape(title)}</h1>"
    about = f"{summary.scene} to {summary.out}, started {summary.began}, "
    about += f"{format_seconds(summary.seconds)}, {summary.place}"
    yield f'<p class="about">{escape(about)}</p>'
    counts = [
        f'<span class="{escape(status.replace(" ", "-"))}">{number} {escape(status)}</span>'
        for status, number in sorted(summary.counts.items(), key=lambda each: _ORDER[each[0]])
    ]
    yield f'<p class="counts">{"".join(counts)}</p>'
    yield from _failures(rows)
    yield from _table(rows)
    yield from _groups(summary)
    yield from _packs(summary)
    yield "<h2>Materials</h2>"
    for row in rows:
        yield from _article(row)
    yield f"<script>{_SCRIPT}</script></body></html>"


def _importance(row: Row) -> tuple[int, float, str]:
    """Sort key: failures first, then the largest errors."""
    is_done = row.status in (BAKED, CURRENT)
    error = row.log_mae if is_done and math.isfinite(row.log_mae) else 0.0
    return 3 if is_done else _ORDER[row.status], -error, row.name


def _failures(rows: list[Row]) -> Iterator[str]:
    failed = [row for row in rows if row.status == FAILED]
    if not failed:
        return
    yield "<h2>Failures</h2><table>"
    for row in failed:
        yield f"<tr><td>{_link(row.name)}</td><td>{escape(row.error)}</td></tr>"
    yield "</table>"


def _table(rows: list[Row]) -> Iterator[str]:
    yield "<h2>Errors and times, largest errors first</h2>"
    yield f"<table><tr>{_head('material')}{_head('status')}"
    heads = ("log error", "SMAPE", "sphere dB", "FLIP", "sky", "light", "loaded", "time")
    yield "".join(_head(head, "number") for head in heads) + f"{_head('dropped')}</tr>"
    for row in rows:
        dropped = ", ".join(name for name, _ in row.parts("dropped"))
        numbers = "".join(_cell(text, value) for text, value in _figures(row))
        yield (
            f'<tr class="{escape(row.status.replace(" ", "-"))}"><td>{_link(row.name)}</td>'
            f'<td class="status">{escape(row.status)}</td>{numbers}<td>{escape(dropped)}</td></tr>'
        )
    yield "</table>"


def _head(text: str, kind: str = "") -> str:
    """The head of a column that sorts the table."""
    shown = f'<button type="button" title="Sorts by {text}">{text}</button>'
    return f'<th class="{kind}">{shown}</th>' if kind else f"<th>{shown}</th>"


def _cell(text: str, value: float | None) -> str:
    """A figure, with the value by which its column is sorted."""
    key = "" if value is None or not text else f' data-value="{value:.9g}"'
    return f'<td class="number"{key}>{text}</td>'


def _figures(row: Row) -> list[tuple[str, float | None]]:
    """The figures of a row as texts and as numbers."""
    values: list[float | None] = [None] * 7
    if row.status in (BAKED, CURRENT):
        errors = find_table(row.manifest, "errors")
        samples, sphere, sky = (find_table(errors, name) for name in ("samples", "sphere", "sky"))
        values = [
            find_number(samples, "log_mae"),
            find_number(samples, "smape"),
            find_number(sphere, "psnr"),
            find_number(sphere, "ldr_flip"),
            find_number(sky, "median"),
            find_number(sky, "bias"),
            find_number(find_table(row.manifest, "cost"), "loaded_bytes"),
        ]
    return list(zip(_numbers(row), [*values, row.seconds or None], strict=True))


def _numbers(row: Row) -> list[str]:
    if row.status not in (BAKED, CURRENT):
        return [""] * 7 + [format_seconds(row.seconds) if row.seconds else ""]
    errors = find_table(row.manifest, "errors")
    samples, sphere, sky = (find_table(errors, name) for name in ("samples", "sphere", "sky"))
    loaded = find_number(find_table(row.manifest, "cost"), "loaded_bytes")
    return [
        _number(find_number(samples, "log_mae"), 4),
        _number(find_number(samples, "smape"), 3),
        _number(find_number(sphere, "psnr"), 1),
        _number(find_number(sphere, "ldr_flip"), 3),
        _percent(find_number(sky, "median"), ".1%"),
        _percent(find_number(sky, "bias"), "+.1%"),
        "" if loaded is None else format_bytes(loaded),
        format_seconds(row.seconds) if row.seconds else "",
    ]


def _groups(summary: Summary) -> Iterator[str]:
    groups = summary.groups
    if not groups:
        return
    yield "<h2>Shared decoders</h2>"
    yield '<table><tr><th>group</th><th>materials</th><th class="number">saved</th></tr>'
    for group in groups:
        members = ", ".join(_link(name) for name in group["members"])
        saved = f'<td class="number">{format_bytes(group["saved_bytes"])}</td>'
        yield f"<tr><td>{escape(group['name'])}</td><td>{members}</td>{saved}</tr>"
    yield "</table>"


def _packs(summary: Summary) -> Iterator[str]:
    if not summary.packs:
        return
    yield "<h2>Scene packs</h2><table>"
    for pack in summary.packs:
        text = escape(str(pack.get("error") or pack.get("text") or ""))
        yield f"<tr><td>{escape(str(pack['name']))}</td><td>{text}</td></tr>"
    yield "</table>"


def _article(row: Row) -> Iterator[str]:
    yield f'<article id="{escape(row.name)}" class="{escape(row.status.replace(" ", "-"))}">'
    yield f"<h3>{escape(row.name)}</h3>"
    status = f"{row.status}: {row.error}" if row.error else row.status
    if row.reasons and row.status != FAILED:
        status += f" because: {'; '.join(row.reasons)}"
    yield f'<div class="status">{escape(status)}</div>'
    # a queue draws larger pictures than a bundle contains
    files = [comparison_path(row.bundle), row.bundle / PREVIEW_FILE] if row.manifest else []
    picture = next((found for file in files if (found := find_picture(file))), None)
    yield "<figure>"
    if picture:
        yield from _compared(row.name, picture)
        if row.status not in (BAKED, CURRENT):
            yield "<p>This picture is of the earlier bundle.</p>"
    yield "</figure><dl>"
    for name, text in _facts(row):
        yield f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
    yield "</dl></article>"


def _compared(name: str, picture: str) -> Iterator[str]:
    """The picture with a wipe between reference and neural material, zoom and difference."""
    about = f"{name}: arrow keys wipe between reference and neural, Z zooms, D shows the difference"
    yield f'<div class="compare" tabindex="0" role="img" aria-label="{escape(about)}"'
    yield f' style="--picture: url({picture})">'
    yield '<div class="view"></div><div class="clip"><div class="view"></div></div>'
    yield '<div class="line"></div><span class="name left">Reference</span>'
    yield '<span class="name right">Neural</span></div>'
    yield '<div class="tools"><button type="button">Zoom</button>'
    yield '<button type="button" aria-pressed="false">Difference</button></div>'
    yield "<figcaption>Move to wipe, click to zoom. The difference ends at 10%.</figcaption>"


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    source = find_table(row.manifest, "source")
    settings = find_table(source, "settings")
    if row.manifest:
        log_mae, smape, psnr, flip, sky, light, loaded, _ = _numbers(row)
        if log_mae:
            yield "errors", f"log {log_mae}, SMAPE {smape}, sphere {psnr} dB, FLIP {flip}"
            if sky:
                yield "under a sky", f"error of a median place {sky}, light {light}"
            yield "bytes", f"{loaded} loaded, {format_bytes(row.decoder_bytes)} of them decoder"
        yield (
            "baked with",
            f"{settings.get('network')} at {settings.get('resolution')}, {source.get('step')} "
            f"steps, {source.get('trainer')}",
        )
        yield "document", f"{source.get('material')} of {source.get('document')}"
    if row.seconds:
        tries = f", attempt {row.attempts}" if row.attempts > 1 else ""
        begun = f", from step {row.from_step}" if row.from_step else ""
        whole = ", all of its group" if row.group else ""
        yield "time", f"{format_seconds(row.seconds)}{whole}{tries}{begun}"
    if row.device:
        yield "device", row.device
    if row.group:
        yield "decoder", f"shared by the group {row.group}"
    for fate in ("approximated", "ignored", "dropped"):
        for name, how in row.parts(fate):
            yield fate, f"{name}: {how}" if how else name
    for text in row.warnings:
        yield "warning", text
    for text in row.notes:
        yield "note", text


def find_picture(path: Path) -> str | None:
    """A bundle's picture as a data URL, reduced for reports of hundreds of materials."""
    data = reduced_jpeg(path, _PICTURE_HEIGHT, _JPEG_QUALITY) if path.is_file() else None
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}" if data else None


def _link(name: str) -> str:
    return f'<a href="#{escape(name)}">{escape(name)}</a>'


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
