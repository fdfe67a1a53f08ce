"""What presets give several materials that share a decoder."""

from dataclasses import replace

import pytest

from verdigris.core import api
from verdigris.core.batch.scene.entry import BakeRequest
from verdigris.core.settings import presets
from verdigris.core.settings.presets import PRESETS, require_settings

from .in_process import run_command

WALL = """<materialx version="1.39">
  <standard_surface name="a" type="surfaceshader"/>
  <surfacematerial name="{0}" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="a"/></surfacematerial>
</materialx>"""
TINY = {"resolution": 4, "iterations": 2, "batch": 64}


def test_several_share_a_wide_decoder_where_a_narrow_one_has_no_room_for_them():
    for trainer, steps in (("tensor", 31_000), ("numpy", 10_000)):
        several = require_settings("standard", trainer, 4)
        assert (several.network, several.iterations) == ("3x64", steps)
        alone = require_settings("standard", trainer)
        of_one = {"network": "2x32", "iterations": 2 * steps, "decoder_rate": alone.decoder_rate}
        assert replace(several, **of_one) == alone
        assert several.changed({"network": "2x32"}).network == "2x32"
        for preset in ("draft", "final"):
            assert require_settings(preset, trainer, 4) == require_settings(preset, trainer)


def test_materials_of_a_scene_that_share_have_the_steps_of_each():
    wish = BakeRequest(preset="standard")
    assert wish.settings_for("tensor").iterations == 62_000
    together = wish.settings_for("tensor", 4)
    assert (together.network, together.iterations) == ("3x64", 124_000)
    numbered = BakeRequest(preset="standard", settings={"iterations": 500, "network": "2x16"})
    together = numbered.settings_for("tensor", 3)
    assert (together.network, together.iterations) == ("2x16", 1_500)
    assert BakeRequest(preset="draft").settings_for("numpy", 3).iterations == 7_500


@pytest.fixture
def walls(tmp_path, monkeypatch, small_endings):
    """Documents, where drafts of several on a processor have another decoder."""
    narrow = replace(PRESETS["numpy"]["draft"], network="2x16")
    monkeypatch.setitem(presets._OF_SEVERAL, "numpy", {"draft": narrow})
    files = [tmp_path / "brick.mtlx", tmp_path / "slate.mtlx"]
    for file in files:
        file.write_text(WALL.format(file.stem))
    return files


def networks(folder):
    bundles = [api.open_bundle(file) for file in folder.glob("*.vdg")]
    return [bundle.manifest.source["settings"]["network"] for bundle in bundles]


@pytest.mark.parametrize("how", ["api", "command"])
def test_whoever_bakes_them_gets_it(walls, tmp_path, how):
    def bake(files, out):
        if how == "api":
            documents = [api.load(file) for file in files]
            list(api.bake(documents, out, preset="draft", device="software", **TINY))
        else:
            options = [text for name, value in TINY.items() for text in (f"--{name}", value)]
            where = ("--device", "software", "--preset", "draft", "-o", out, "-q")
            code, _, errors = run_command(("bake", *files, *options, *where))
            assert not code, errors
        return networks(out)

    assert bake(walls[:1], tmp_path / "alone") == ["2x32"]
    assert bake(walls, tmp_path / "both") == ["2x16", "2x16"]
