"""A material that cannot be read has a way around: exported by hand, opened in its place, baked,
and noted at the material of the scene."""

from dataclasses import replace

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog

from verdigris.core.hosts.host import HostMaterial
from verdigris.core.worker.protocol import commands
from verdigris.ui.memory import Memory
from verdigris.ui.model.cards import cards_of
from verdigris.ui.panel import Panel
from verdigris.ui.widgets.thumbnails import PICTURE

from ...core.material.documents import document, material, standard_surface
from ..conftest import CLAY as TEXT
from ..fake_session import CLAY, REPORT, FakeHost, Session

WHY = "VRayMtl is a shader of V-Ray, which Verdigris does not read"
CAR = HostMaterial("/mat/car", "car", "V-Ray", WHY)
STEPS = ("Assign it to a mesh.", "Export the selection.")
TWO = document(standard_surface(), material(name="hood"), material(name="roof"))


class Host(FakeHost):
    """A scene with clay, and a shader of another renderer that the list greys."""

    export_steps = STEPS
    noted = None

    def __init__(self, folder):
        super().__init__()
        self.folder, self.read = folder, []

    def scene_file(self):
        return self.folder / "shot.ma"

    def materials(self):
        return (CAR, CLAY)

    def document(self, material):
        self.read.append(material)
        return super().document(material)

    def attached(self, material):
        return self.noted


@pytest.fixture
def shown(tmp_path, qtbot, monkeypatch):
    """A panel with this scene, and its session."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    session = Session(Host(tmp_path))
    session.memory = Memory(QSettings(str(tmp_path / "m.ini"), QSettings.Format.IniFormat))
    panel = Panel(session.model, None, session.memory)
    qtbot.addWidget(panel)
    panel.resize(420, 900)
    panel.show()
    session.ready()
    session.panel = panel
    yield session
    panel.shutdown()


def choose(monkeypatch, path):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))


def press(panel, text):
    """Presses a button of the cards."""
    (found,) = [each for box in panel.cards.boxes for each in box.buttons if each.text() == text]
    found.click()


def opened(session, name):
    session.receive("opened", chosen=name, materials=[{**REPORT, "name": name}], trainer="numpy")
    session.receive("state", state="idle", doing="")


def test_the_first_material_that_can_be_read_is_chosen_and_the_other_one_is_grey(shown):
    combo = shown.panel.picker.combo
    assert shown.model.state.current == CLAY and shown.host.read == [CLAY]
    assert WHY in combo.itemData(0, Qt.ItemDataRole.ToolTipRole)
    grey = combo.itemData(0, Qt.ItemDataRole.ForegroundRole)
    assert grey is not None and combo.itemData(1, Qt.ItemDataRole.ForegroundRole) is None
    assert combo.iconSize().width() == PICTURE


def test_a_file_stands_for_a_material_until_the_scene_is_read_again(shown, monkeypatch, tmp_path):
    model, panel, host = shown.model, shown.panel, shown.host
    panel.picker.combo.activated.emit(0)
    # the reason is known: the application is not asked for it
    assert host.read == [CLAY] and model.state.is_refused
    (box,) = panel.cards.boxes
    assert box.text.text() == "This material cannot be baked." and WHY in box.detail.text()
    press(panel, "How to export one")
    assert box.steps.isVisible() and all(step in box.steps.text() for step in STEPS)

    file = tmp_path / "car.mtlx"
    file.write_text(TEXT)
    choose(monkeypatch, file)
    press(panel, "Open a file…")
    sent = [each for each in shown.client.sent if isinstance(each, commands.Open)][-1]
    assert sent.payload.decode() == TEXT and sent.material == "clay"
    assert str(tmp_path) in sent.search
    opened(shown, "clay")
    assert [card.text for card in cards_of(model)] == ["Read from car.mtlx, not from the scene."]
    assert model.state.current == CAR and model.scene.result_name == "car"

    # its result is noted at the material of the scene
    model.start()
    for state in ("preparing", "training", "finishing"):
        shown.receive("state", state=state)
    shown.receive("finished", results=[str(tmp_path / "car.vdg")], step=9)
    shown.receive("state", state="done")
    assert host.attached_results == [(CAR, tmp_path / "car.vdg")]

    # the next session knows the file
    again = Session(Host(tmp_path))
    panel = Panel(again.model, None, shown.memory)
    again.model.refresh_materials()
    again.model.choose(CAR)
    assert not again.model.state.is_refused and again.host.read == [CLAY]
    opened(again, "clay")
    again.model.documents.leave_file()
    assert again.model.state.is_refused and shown.memory.own_files() == {}
    panel.shutdown()


def test_one_of_several_materials_of_a_file_is_chosen(shown, monkeypatch, tmp_path):
    shown.model.choose(CAR)
    file = tmp_path / "parts.mtlx"
    file.write_text(TWO)
    choose(monkeypatch, file)
    asked = []

    def ask(_parent, _title, label, names, *_):
        asked.append((label, names))
        return names[1], True

    monkeypatch.setattr(QInputDialog, "getItem", ask)
    press(shown.panel, "Open a file…")
    ((label, names),) = asked
    assert "parts.mtlx has several materials. Which one is car?" in label
    assert names == ["hood", "roof"]
    assert [each for each in shown.client.sent if isinstance(each, commands.Open)][
        -1
    ].material == "roof"
    # a stage that the application exported, with the material under its own name
    stage = tmp_path / "export.usda"
    stage.write_text(STAGE)
    choose(monkeypatch, stage)
    opened(shown, "roof")
    press(shown.panel, "Open a file…")
    sent = [each for each in shown.client.sent if isinstance(each, commands.Open)][-1]
    assert sent.material == "car" and "base_color" in sent.payload.decode()


@pytest.mark.parametrize(
    ("name", "text"),
    [("car.obj", ""), ("none.mtlx", None), ("car.mtlx", "<materialx"), ("car.usda", "no stage")],
)
def test_a_file_that_cannot_be_read_is_named_and_changes_nothing(
    name, text, shown, monkeypatch, tmp_path
):
    shown.model.choose(CAR)
    if text is not None:
        (tmp_path / name).write_text(text)
    choose(monkeypatch, tmp_path / name)
    press(shown.panel, "Open a file…")
    assert name in shown.model.state.notices[-1].text
    assert shown.model.state.own_files == {} and shown.model.state.is_refused


def test_a_bundle_is_noted_at_its_material_afterwards(shown, tmp_path):
    bundle = tmp_path / "neural" / "clay.vdg"
    bundle.mkdir(parents=True)
    (bundle / "manifest.json").write_text('{"source": {"preset": "final"}}')
    bundle.with_name("clay_base_color.png").write_bytes(b"png")
    shown.ready()
    (card,) = cards_of(shown.model)
    assert [each.text for each in card.actions] == ["Show", "Note in the scene"]
    seen = []
    shown.host.attach = lambda material, result: seen.append((material, result))
    card.actions[1].do()
    ((target, result),) = seen
    assert target == CLAY and result.bundle == bundle
    assert result.textures == {"base_color": bundle.with_name("clay_base_color.png")}
    shown.host.noted = bundle
    shown.ready()
    assert [each.text for each in cards_of(shown.model)[0].actions] == ["Show"]


def test_nodes_without_an_equal_become_textures_on_request(shown):
    host, made = shown.host, []
    whole = host.document

    def read(material):
        return replace(whole(material), convertible=() if made else ("noise1", "fractal1"))

    host.document = read
    host.make_textures = lambda each: made.append(each) or "2 images were made"
    shown.ready()
    (card,) = cards_of(shown.model)
    assert (card.text, card.detail) == ("2 nodes are left out.", "noise1, fractal1")
    press(shown.panel, "Make textures")
    assert made == [CLAY] and shown.model.state.notices[-1].text == "2 images were made"
    opened(shown, "clay")
    assert cards_of(shown.model) == []


def test_a_scene_that_cannot_be_listed_still_opens_a_file_alone(shown, monkeypatch, tmp_path):
    def fail():
        raise RuntimeError("the stage is gone")

    shown.host.materials = fail
    shown.model.state.current = None
    shown.model.refresh_materials()
    file = tmp_path / "car.mtlx"
    file.write_text(TEXT)
    choose(monkeypatch, file)
    press(shown.panel, "Open a file…")
    opened(shown, "clay")
    model = shown.model
    assert model.state.current.name == "car" and model.can("start")
    assert model.scene.result_name == "car"
    model.start()
    for state in ("preparing", "training", "finishing"):
        shown.receive("state", state=state)
    shown.receive("finished", results=[str(tmp_path / "car.vdg")], step=9)
    assert shown.host.attached_results == []
    assert model.state.notices[-1].text == f"Written: {tmp_path / 'car.vdg'}"


STAGE = """#usda 1.0
def Material "car"
{
    token outputs:mtlx:surface.connect = </car/s.outputs:out>
    def Shader "s"
    {
        uniform token info:id = "ND_standard_surface_surfaceshader"
        color3f inputs:base_color = (0.8, 0.1, 0.1)
        token outputs:out
    }
}
def Material "wheel"
{
    token outputs:mtlx:surface.connect = </wheel/s.outputs:out>
    def Shader "s"
    {
        uniform token info:id = "ND_standard_surface_surfaceshader"
        token outputs:out
    }
}
"""
