"""What a panel offers on a new machine: the set-up of the worker, and the self-test."""

import json
import sys
import time

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QSettings

from verdigris.core.base.process import unpacked_worker, worker_environment
from verdigris.core.base.process.unpacked_worker import python_tag
from verdigris.core.base.text import version
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.worker.client import set_up
from verdigris.ui.first_run import SelftestOffer
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.panel import Panel

from ..core.worker.set_up_trees import MAKES, REFUSES, WAITS, make_old_python, make_tree, worker_in
from .fake_session import FakeHost, Session

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts of POSIX")
SECONDS = 60_000


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without a worker, and an application whose Python cannot bake."""
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)
    monkeypatch.setattr(worker_environment, "NEEDED", ("no_such_module",))
    monkeypatch.delenv("VERDIGRIS_WORKERS", raising=False)
    monkeypatch.setattr(unpacked_worker, "user_place", lambda: tmp_path / "home" / "worker")

    def stage(ending):
        package = make_tree(tmp_path, ending)
        monkeypatch.setattr(worker_environment, "package_folder", lambda: package)

    return stage


@pytest.fixture
def open_panel(qtbot, tmp_path, document):
    """The panel as an application opens it, with real workers."""
    panels = []

    def make():
        settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
        panel = Panel(PanelModel(FilesHost(document)), None, Memory(settings))
        qtbot.addWidget(panel)
        panel.resize(600, 700)
        panel.show()
        panel.model.set_view(size=16)
        panels.append(panel)
        panel.model.refresh_materials()
        return panel

    yield make
    for panel in panels:
        panel.shutdown()


def test_a_machine_without_a_worker_is_set_up_by_one_button(machine, open_panel, qtbot):
    machine(MAKES)
    panel = open_panel()
    model, box = panel.model, panel.cards.set_up
    # one message for one fault; the command for a terminal is on the page
    assert not panel.cards.banner.isVisible()
    assert "make_worker.py" in panel.pages.material.report.toPlainText()
    assert box.isVisible() and box.start.text() == "&Set up the worker"
    assert "not set up here" in box.text.toPlainText()
    assert not box.cancel.isVisible() and not model.can("start")
    box.start.click()
    assert box.bar.isVisible() and box.cancel.isEnabled() and not box.start.isVisible()
    # without a restart, and without another click
    qtbot.waitUntil(lambda: model.can("start"), timeout=SECONDS)
    assert not box.isVisible()
    assert "can be baked" in panel.pages.material.report.toPlainText().lower()
    assert model.state.notices[-1].text == "The worker is set up."


def test_a_worker_that_is_older_than_the_plug_in_is_renewed(machine, open_panel, qtbot, tmp_path):
    machine(MAKES)
    older = worker_in(tmp_path, "0.9.0")
    older.mkdir(parents=True)
    marker = {"version": "0.9.0", "tag": python_tag(), "packages": ""}
    (older / "worker.json").write_text(json.dumps(marker))
    panel = open_panel()
    box = panel.cards.set_up
    assert box.text.toPlainText() == (
        f"The worker has version 0.9.0, the plug-in {version()}. It is renewed."
    )
    assert box.bar.isVisible() and box.cancel.isEnabled()
    qtbot.waitUntil(lambda: panel.model.can("start"), timeout=SECONDS)
    assert not box.isVisible()


def test_a_failed_set_up_is_explained_and_can_be_repeated(machine, open_panel, qtbot):
    machine(REFUSES)
    box = open_panel().cards.set_up
    box.start.click()
    qtbot.waitUntil(lambda: box.start.isVisible(), timeout=SECONDS)
    text = box.text.toPlainText()
    assert text.startswith("The set-up failed") and "the packages are missing: unzip again" in text
    assert box.start.text() == "&Try again"
    box.more.setChecked(True)
    assert "Unpacking slangpy (298 MB)" in box.log.toPlainText()
    box.start.click()
    assert box.bar.isVisible() and box.text.toPlainText() == "The worker is being set up."


@pytest.mark.usefixtures("heard")
def test_a_set_up_shows_its_lines_and_can_be_cancelled(machine, open_panel, qtbot):
    machine(WAITS)
    box = open_panel().cards.set_up
    box.start.click()
    qtbot.waitUntil(lambda: box.line.text().startswith("child"), timeout=SECONDS)
    assert box.bar.value() == 600 and box.bar.maximum() == 1000
    box.cancel.click()
    assert box.line.text() == "Cancelling" and not box.cancel.isEnabled()
    qtbot.waitUntil(lambda: box.start.isVisible(), timeout=SECONDS)
    assert box.start.text() == "&Set up the worker"
    assert "not set up here" in box.text.toPlainText()


@pytest.mark.usefixtures("heard")
def test_a_closed_panel_ends_its_set_up(machine, open_panel, qtbot):
    machine(WAITS)
    panel = open_panel()
    panel.cards.set_up.start.click()
    qtbot.waitUntil(lambda: panel.cards.set_up.line.text().startswith("child"), timeout=SECONDS)
    process = panel.model.set_up._process._process
    panel.close()
    end = time.monotonic() + 5
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert process.poll() == 130


def test_a_worker_of_a_wrong_python_is_named_and_replaced(machine, open_panel, qtbot, tmp_path):
    machine(MAKES)
    old = make_old_python(tmp_path / "python3.9")
    worker_environment.save_python(old)
    panel = open_panel()
    qtbot.waitUntil(lambda: panel.cards.set_up.isVisible(), timeout=SECONDS)
    text = panel.cards.banner.text.toPlainText()
    assert f"{old} cannot bake: it is Python 3.9" in text and "machine.json" in text
    panel.cards.set_up.start.click()
    qtbot.waitUntil(lambda: panel.model.can("start"), timeout=SECONDS)
    assert not panel.cards.set_up.isVisible()


def test_a_setting_that_names_no_file_is_shown_beside_the_offer(machine, open_panel, tmp_path):
    machine(MAKES)
    worker_environment.save_python(tmp_path / "gone")
    panel = open_panel()
    assert panel.cards.set_up.isVisible()
    text = panel.pages.material.report.toPlainText()
    assert "machine.json is" in text and "there is no such file" in text


def test_a_worker_that_was_made_by_hand_takes_the_offer_back(machine, open_panel, qtbot):
    machine(MAKES)
    panel = open_panel()
    assert panel.cards.set_up.isVisible()
    running = set_up.SetUp()
    qtbot.waitUntil(lambda: any(e.kind == "finished" for e in running.poll()), timeout=SECONDS)
    panel.picker.reload.click()
    qtbot.waitUntil(lambda: panel.model.can("start"), timeout=SECONDS)
    assert not panel.cards.set_up.isVisible()


def test_a_copy_without_a_program_offers_nothing(machine, open_panel, tmp_path, monkeypatch):
    machine(MAKES)
    (tmp_path / "tree" / "make_worker.py").unlink()
    panel = open_panel()
    assert not panel.cards.set_up.isVisible()
    assert "python3 -m venv" in panel.pages.material.report.toPlainText()


class Application(FakeHost):
    """As Maya: with a brush and a self-test."""

    can_paint = True

    def __init__(self, name="Maya 2026"):
        super().__init__()
        self.name = name
        self.reports = []

    def start_selftest(self, report):
        self.reports.append(report)


@pytest.fixture
def settings_of(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config" / "machine.json"


def offered(qtbot, host):
    offer = SelftestOffer(Session(host).model)
    qtbot.addWidget(offer)
    return offer


def test_the_selftest_is_offered_once_in_each_version_of_an_application(qtbot, settings_of):
    host = Application()
    assert not offered(qtbot, host).isHidden()
    assert offered(qtbot, host).isHidden()
    assert not offered(qtbot, Application("Maya 2027")).isHidden()
    assert json.loads(settings_of.read_text()) == {
        "selftest_offered_in": ["Maya 2026", "Maya 2027"]
    }
    # plain files have no application to test
    assert offered(qtbot, FakeHost()).isHidden()


def test_the_offer_starts_the_selftest_and_hides(qtbot, settings_of):
    host = Application()
    offer = offered(qtbot, host)
    assert "Maya 2026" in offer.text.text() and host.reports == []
    offer.run.click()
    ((report),) = host.reports
    assert report.name == "verdigris_selftest_maya.json" and offer.isHidden()


def test_settings_that_cannot_be_kept_bring_no_offer(qtbot, settings_of):
    # a file in the place of the folder
    settings_of.parent.write_text("")
    assert offered(qtbot, Application()).isHidden()
