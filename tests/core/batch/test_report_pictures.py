"""The pictures and tables of a report, in a browser."""

import base64
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.summary import BAKED, FAILED, Row, Summary
from verdigris.core.pictures.compare.comparison import comparison_path
from verdigris.core.pictures.picture_files import encode_jpeg, write_picture

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Errors are sorted as numbers: as texts, 0.0100 would come before 0.0090.
ERRORS = {"ash": 0.01, "brick": 0.009, "clay": 0.2}


@pytest.fixture
def report(tmp_path):
    rows = []
    for name, error in ERRORS.items():
        bundle = tmp_path / f"{name}.vdg"
        bundle.mkdir()
        third = np.ones((64, 64, 3), np.float32)
        strip = np.concatenate([third * (1, 0, 0), third * (0, 1, 0), third * (0, 0, 1)], 1)
        write_picture(bundle / "preview.png", strip.astype(np.float32))
        manifest = {"errors": {"samples": {"log_mae": error, "smape": 0.1}}}
        rows.append(Row(name, BAKED, bundle, manifest=manifest))
    rows.append(Row("dust", FAILED, tmp_path / "dust.vdg", "no surface"))
    return Summary("queue", tmp_path, "now", 1.0, "here", 1, tuple(rows))


def test_a_large_picture_beside_a_bundle_is_shown_in_place_of_its_own(report, tmp_path):
    large = np.full((512, 1536, 3), 0.3, np.float32)
    comparison_path(tmp_path / "ash.vdg").write_bytes(encode_jpeg(large))
    sizes = []
    for data in re.findall(r"url\(data:image/jpeg;base64,([^)]+)\)", report_html(report)):
        (tmp_path / "a.jpg").write_bytes(base64.b64decode(data))
        import OpenImageIO as oiio

        spec = oiio.ImageBuf(str(tmp_path / "a.jpg")).spec()
        sizes.append((spec.width, spec.height))
    assert sorted(sizes) == [(192, 64), (192, 64), (1536, 512)]


PROBE = """
const box = document.querySelector('.compare'), place = box.getBoundingClientRect();
const at = part => ({ clientX: place.left + part * place.width,
                      clientY: place.top + place.height / 2, bubbles: true });
const style = name => getComputedStyle(box).getPropertyValue(name);
const found = { order: [] };
box.dispatchEvent(new PointerEvent('pointermove', at(0.25)));
found.wipe = style('--wipe');
box.dispatchEvent(new MouseEvent('click', at(0.25)));
found.zoom = style('--zoom');
box.dispatchEvent(new KeyboardEvent('keydown', { key: 'd' }));
found.name = box.querySelector('.right').textContent;
found.shows = getComputedStyle(box.querySelector('.clip .view')).backgroundPositionX;
const head = [...document.querySelectorAll('th button')].find(e => e.textContent === 'log error');
const names = () => [...head.closest('table').querySelectorAll('tr')].slice(1)
    .map(row => row.children[0].textContent);
for (let turn = 0; turn < 2; turn++) { head.click(); found.order.push(names()); }
document.title = JSON.stringify(found);
"""


def test_a_browser_wipes_zooms_shows_the_difference_and_sorts(report, tmp_path):
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("there is no Chromium")
    page = tmp_path / "report.html"
    page.write_text(report_html(report).replace("</body>", f"<script>{PROBE}</script></body>"))
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    folder = f"--user-data-dir={tmp_path / 'browser'}"
    shown = subprocess.run(
        [browser, *options, folder, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout
    title = re.search(r"<title>(.*?)</title>", shown)[1].replace("&quot;", '"')
    found = json.loads(title)
    assert found["wipe"] == "25%" and found["zoom"] == "2"
    assert found["name"] == "Difference" and found["shows"] == "100%"
    # materials without a figure stay below
    assert found["order"] == [["brick", "ash", "clay", "dust"], ["clay", "ash", "brick", "dust"]]
