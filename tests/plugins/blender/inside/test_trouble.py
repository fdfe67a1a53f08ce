"""What helps when something does not work, in a real Blender without a window."""

import json
import zipfile
from pathlib import Path

import bpy
import pytest

from verdigris.plugins.blender import trouble
from verdigris.plugins.blender.adapter import BlenderHost


class Layout:
    """Records what a panel draws."""

    def __init__(self):
        self.texts, self.enabled = [], True

    def row(self):
        self.texts.append(Layout())
        return self.texts[-1]

    def label(self, text, icon):
        self.texts.append(text)

    def operator(self, name):
        self.texts.append(name)


def test_features_that_are_off_are_grey_with_their_reason():
    trouble._probe.cache_clear()
    layout = Layout()
    trouble.draw_help(layout)
    rows = {each.texts[0]: each.enabled for each in layout.texts if isinstance(each, Layout)}
    assert rows["Blender's brush: this Blender has no window"] is False
    assert set(rows) == {
        "Blender's brush: this Blender has no window",
        "Panel: this Blender has no window",
    }
    assert layout.texts[-1] == "verdigris.report"


@pytest.mark.parametrize("redact", [True, False])
def test_the_operator_saves_a_report(registered, harness, tmp_path, monkeypatch, redact):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "report.zip"
    assert bpy.ops.verdigris.report(filepath=str(file), redact=redact) == {"FINISHED"}
    with zipfile.ZipFile(file) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {"probe.json", "documents/1_copper.mtlx"} <= set(texts)
    found = json.loads(texts["probe.json"])
    assert found["host"] == f"Blender {bpy.app.version_string}" and found["facts"]["plugins"]["USD"]
    assert (str(tmp_path) in "".join(texts.values())) != redact
    with pytest.raises(RuntimeError, match="choose such a name"):
        bpy.ops.verdigris.report(filepath=str(tmp_path / "report.txt"))


def test_the_check_paints_undoes_and_opens_the_scene_again(harness, tmp_path, monkeypatch):
    waiting = []
    monkeypatch.setattr(trouble, "_later", waiting.append)
    monkeypatch.setattr(BlenderHost, "can_paint", True)
    before = Path(bpy.data.filepath)
    check = trouble.begin_check("Check without Saving", tmp_path / "report.json")
    while waiting:
        waiting.pop(0)()
    assert check.report.passed, check.report
    names = [step.name for step in check.report.steps]
    assert {"the brush is in use", "the brush has ended", "the result is gone"} <= set(names)
    assert names[-2:] == ["open the scene again", "probe"] and Path(bpy.data.filepath) == before
    assert "copper" in bpy.data.materials and json.loads((tmp_path / "report.json").read_text())
