"""Style and script of a report's pictures and tables: wipe, zoom, sorted columns."""

from __future__ import annotations

PICTURE_STYLE = """
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

SCRIPT = """
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
