"""`verdigris publish`: what it writes, and what it refuses. test_package.py draws the pages."""

import base64
import io
import json
import re
import shutil
import zipfile

import numpy as np
import OpenImageIO as oiio
import pytest

from ..core.bundle.bundles import make_bundle
from ..core.in_process import run_command
from ..core.material.documents import with_surface


def test_a_page_holds_all_that_it_needs(pages, bundles):
    text = pages[0].read_text()
    # nothing is loaded from elsewhere
    assert re.findall(r'(?:src|href)="(?!data:)[^"]+"', text) == []
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    modules = json.loads(re.search(r'<script type="importmap">(.*?)</script>', text)[1])["imports"]
    for name, address in modules.items():
        source = base64.b64decode(address.partition(",")[2]).decode()
        imported = re.findall(r'(?:from|import) "([^"]+)"', source)
        assert set(imported) <= set(modules), name
    packed = re.search(r'id="bundle-0">([^<]*)</script>', text)[1]
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))) as archive:
        names = archive.namelist()
        assert sorted(names) == ["latents.ktx2", "manifest.json", "reference.json", "weights.bin"]
        for name in names:
            assert archive.read(name) == (bundles / "a_small.vdg" / name).read_bytes()


def test_a_name_cannot_end_the_page(pages):
    text = pages[0].read_text()
    assert "<title>&lt;/script&gt;copper</title>" in text
    data = json.loads(re.search(r'id="review">(.*?)</script>', text)[1])
    assert data["materials"][0]["name"] == "</script>copper"


def test_a_page_has_the_verdict_that_versions_and_measure_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors = {"sphere": {"ldr_flip": 0.004}, "sky": {"median": 0.05, "bias": 0.06}}
    make_bundle(tmp_path / "a.vdg", errors=errors)
    assert run_command(("publish", "a.vdg", "-o", "a.html"))[0] == 0
    text = (tmp_path / "a.html").read_text()
    found = json.loads(re.search(r'id="review">(.*?)</script>', text)[1])["materials"][0]
    # five dots by FLIP, less one for a poor figure under a sky
    assert found["verdict"]["dots"] == 4
    assert found["verdict"]["text"].startswith("Very good; ")


def test_pictures_of_the_source_are_those_of_render(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_bundle(tmp_path / "a.vdg", name="material")
    (tmp_path / "a.mtlx").write_text(with_surface())
    size = ("--size", 24, "--device", "software")
    source = ("publish", "a.vdg", "-o", "a.html", "--source", "a.mtlx", *size)
    code, told, errors = run_command(source)
    assert (code, errors) == (0, "")
    assert "3 reference pictures" in told
    text = (tmp_path / "a.html").read_text()
    found = json.loads(re.search(r'id="review">(.*?)</script>', text)[1])["materials"][0]
    _, sky, _ = pictures = found["references"]
    views = [(each["environment"], each["shape"], each["columns"]) for each in pictures]
    assert views == [("studio", "sphere", 1), ("sky", "sphere", 1), ("studio", "plane", 1)]
    (tmp_path / "a.jpg").write_bytes(base64.b64decode(sky["image"].partition(",")[2]))
    render = ("render", "a.mtlx", "--reference", "--hdri", "sky", "-o", "a.png", *size)
    code, _, errors = run_command(render)
    assert (code, errors) == (0, "")
    seen, exact = (read_picture(tmp_path / name) for name in ("a.jpg", "a.png"))
    assert seen.shape == exact.shape == (24, 24, 3)
    assert np.abs(seen - exact).mean() < 0.02


def read_picture(path):
    return np.asarray(oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT))[..., :3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.vdg", "-o", "review.pdf"), "review.pdf: pages are written as .html"),
        (("no.vdg", "-o", "a.html"), "no.vdg: there is no such bundle"),
        (("a.vdg", "-o", "a.vdg/review.html"), "lies in the bundle"),
        (("a.vdg", "-o", "a.html", "--size", 8), "--size"),
        (("damaged.vdg", "-o", "a.html"), "damaged.vdg/latents.ktx2"),
        (("a.vdg", "-o", "a.html", "--source", "other.mtlx"), "contains none of the materials"),
    ],
    ids=["suffix", "no bundle", "into a bundle", "size", "damaged bundle", "another document"],
)
def test_what_cannot_be_published_is_refused(arguments, message, bundles, tmp_path, monkeypatch):
    shutil.copytree(bundles / "a_small.vdg", tmp_path / "a.vdg")
    damaged = shutil.copytree(tmp_path / "a.vdg", tmp_path / "damaged.vdg") / "latents.ktx2"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    (tmp_path / "other.mtlx").write_text(with_surface())
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code, _, errors = run_command(["publish", *arguments])
    assert code != 0
    assert message in errors
    assert sorted(tmp_path.rglob("*")) == before
