"""The help menu: features with the reasons why they are off, a report to send, explanations."""

import json
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtWidgets import QFileDialog, QMessageBox

from verdigris.core.hosts.guarded_host import HostFailure
from verdigris.core.hosts.probe import Facts
from verdigris.ui.model.cards import cards_of
from verdigris.ui.widgets.help_menu import HelpButton

ROOT = Path(__file__).resolve().parents[3]
LOST = "clay.mtlx: 'wood.png' was not found in /home/ana/show: correct the name"


@pytest.fixture
def button(qtbot, session, tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.setenv("HOME", "/home/ana")
    session.host.manual = ROOT / "docs" / "ARTISTS.md"
    session.host.scene_file = lambda: Path("/home/ana/show/shot.ma")
    session.host.facts = lambda: Facts(features={"Brush": "this one has no window", "Read": ""})
    found = HelpButton(session.model)
    qtbot.addWidget(found)
    return found


def test_features_that_are_off_are_grey_with_their_reason(button):
    button.list_features()
    found = {each.text(): each.isEnabled() for each in button.features.actions()}
    assert found["Brush: this one has no window"] is False and found["Read"] is True
    assert button.troubleshooting.isEnabled()
    # a host without a window of its own has nothing to check
    assert not button.check.isEnabled()


@pytest.mark.parametrize("answer", ["Yes", "No", "Cancel"])
def test_a_report_is_saved_without_names_on_request(button, session, tmp_path, monkeypatch, answer):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "trouble"), ""))
    answers = QMessageBox.StandardButton
    monkeypatch.setattr(QMessageBox, "question", lambda *_: getattr(answers, answer))
    model = session.model
    model.refresh_materials()
    session.receive("opened", chosen="", materials=[{"name": "clay", "problem": LOST}], device="A1")
    model.state.note_failure(HostFailure("it failed", "Traceback of /home/ana/x.py"))
    model.selftest._started = tmp_path / "tested.json"
    model.selftest.last_report.write_text('{"passed": true}')
    (tmp_path / "tested.log").write_text("a line of ana")
    model.state.notices.add("info", "a note")
    button.save.trigger()
    file = tmp_path / "trouble.zip"
    assert file.exists() == (answer != "Cancel")
    if answer == "Cancel":
        return
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        texts = {name: archive.read(name).decode() for name in names}
    assert names == [
        *("probe.json", "selftest.json", "log.txt", "worker.txt", "traceback.txt"),
        *("messages.json", "documents/1_clay.mtlx"),
    ]
    assert json.loads(texts["probe.json"])["worker"]["device"] == "A1"
    expected = {"Yes": "Traceback of <home>/x.py", "No": "Traceback of /home/ana/x.py"}
    assert texts["traceback.txt"] == expected[answer]
    assert ("ana" in texts["log.txt"].split()) == (answer == "No")
    assert str(file) in model.state.notices[-1].text


def test_a_report_that_cannot_be_written_is_told(button, session, tmp_path):
    session.model.trouble.save(tmp_path / "gone" / "report.json", is_redacted=False)
    assert "cannot be written" in session.model.state.notices[-1].text


def test_a_card_explains_its_message_with_the_entry_of_the_page(button, session):
    session.model.refresh_materials()
    session.receive("opened", chosen="", materials=[{"name": "clay", "problem": LOST}])
    (card,) = cards_of(session.model)
    why = next(each for each in card.actions if each.text == "Why?")
    why.do()
    shown = button.explanation.text()
    assert shown.startswith("**Textures are missing**") and "Locate folder" in shown
    button.explanation.close()
    # a message without an entry has no button
    session.receive("opened", chosen="", materials=[{"name": "clay", "problem": "no idea"}])
    assert not [each for card in cards_of(session.model) for each in card.actions]
