"""Whatever an application raises, and from whichever call: the panel says it in one line, keeps the
traceback for a report, and can still be used."""

import inspect
import logging
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.guarded_host import GuardedHost, HostFailure
from verdigris.core.hosts.host import (
    BakedResult,
    Host,
    HostMesh,
    LadderLook,
    MakesTextures,
    ShowsRungs,
    StopsPainting,
)
from verdigris.ui.model.cards import cards_of

from ..fake_session import CLAY, REPORT, FakeHost, Session


class OperationFailed(Exception):  # noqa: N818 - the name in hou
    """As hou.OperationFailed: no RuntimeError, and its text has lines."""


KINDS = (
    RuntimeError("Internal C++ object (PySide6.QtWidgets.QWidget) already deleted."),
    OperationFailed("The attempted operation failed.\nInvalid parameter"),
    AttributeError("'NoneType' object has no attribute 'path'"),
    TypeError(),
)
PROTOCOLS = (Host, ShowsRungs, StopsPainting, MakesTextures)
NAMES = {
    name: value
    for protocol in PROTOCOLS
    for name, value in vars(protocol).items()
    if not name.startswith("_")
}
FALLBACKS = {"name", "can_paint", "manual", "export_steps", "scene_file"}
VALUES = {
    "material": CLAY,
    "mesh": "plate",
    "name": "plate",
    "report": Path("report.json"),
    "path": Path("shot.ma"),
    "result": BakedResult(Path("clay.vdg")),
    "ladder": LadderLook("clay", ()),
}


CORNERS = np.zeros((1, 3, 3), np.float32)
WHOLE = {
    "name": "Fake 1.0",
    "can_paint": True,
    "manual": Path("manual.md"),
    "export_steps": (),
    "attached": None,
    "start_selftest": None,
    "start_painting": None,
    "stop_painting": None,
    "attach_rungs": "made",
    "make_textures": "made",
    "weight_sets": (),
    "meshes": ("plate",),
    "mesh": HostMesh("plate", CORNERS, CORNERS, CORNERS[..., :2]),
}


class Raising(FakeHost):
    """A host of all protocols. One of its names, or every one, raises."""

    def __init__(self):
        super().__init__()
        self.kind, self.broken = KINDS[0], set()


def _member(name):
    def call(self, *args, **kwargs):
        if name in self.broken:
            raise type(self.kind)(*self.kind.args)
        if name in WHOLE:
            return WHOLE[name]
        return getattr(FakeHost, name)(self, *args, **kwargs)

    call.__name__ = name
    return property(call) if isinstance(NAMES[name], property) else call


for _name in NAMES:
    setattr(Raising, _name, _member(_name))


def test_the_guard_has_every_name_of_the_protocols_with_the_same_parameters():
    for name, member in NAMES.items():
        ours = vars(GuardedHost)[name]
        if isinstance(member, property):
            assert isinstance(ours, property), name
        else:
            assert inspect.signature(ours) == inspect.signature(member), name
    # a misspelt call is an error as on any other object
    assert not hasattr(GuardedHost, "__getattr__")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_call_that_raises_anything_is_one_line_with_a_report_and_a_log(name, caplog):
    host, noted = Raising(), []
    host.broken = {name}
    for kind in KINDS:
        host.kind = kind
        guarded = GuardedHost(host, noted.append)
        noted.clear(), caplog.clear()
        with caplog.at_level(logging.ERROR):
            member = NAMES[name]
            if isinstance(member, property):
                getattr(guarded, name)
            else:
                given = list(inspect.signature(member).parameters)[1:]
                values = [VALUES[each] for each in given if each in VALUES]
                if name in FALLBACKS:
                    getattr(guarded, name)(*values)
                else:
                    with pytest.raises(HostError) as caught:
                        getattr(guarded, name)(*values)
                    assert isinstance(caught.value, HostFailure)
        (failure,) = noted
        first = str(kind).splitlines()[0] if str(kind) else "TypeError"
        assert str(failure).endswith(first) and "\n" not in str(failure)
        assert "in call" in failure.report and type(kind).__name__ in failure.report
        assert "Traceback" in caplog.text


def test_a_file_that_was_known_stays_known():
    host = Raising()
    guarded = GuardedHost(host)
    known = guarded.scene_file()
    host.broken = {"scene_file"}
    assert known == Path("/scene/shot.ma") and guarded.scene_file() == known


def test_an_error_of_verdigris_is_passed_on_as_it_is():
    host = FakeHost()
    host.fails = True
    guarded = GuardedHost(host)
    with pytest.raises(HostError, match=r"^the material has gone$") as caught:
        guarded.document(CLAY)
    assert not isinstance(caught.value, HostFailure)


def use(session):
    """Everything that an artist can do to the scene."""
    model = session.model
    model.refresh_materials()
    for material in (*model.state.materials, CLAY):
        model.choose(material)
    if session.clients:
        session.receive("opened", chosen="clay", materials=[REPORT], trainer="numpy")
        session.receive("state", state="idle", doing="")
    model.scene.take_paint()
    model.scene.start_painting()
    model.scene.stop_painting()
    model.show_mesh("plate")
    model.selftest.start(Path("report.json"))
    model.start()
    if session.clients:
        session.receive("state", state="preparing")
        session.receive("state", state="training")
        session.receive("state", state="finishing")
        session.receive("finished", results=["/neural/clay.vdg"], step=100)
        session.receive("state", state="done")
    model.ladder.attach()


@pytest.mark.parametrize("kind", KINDS[:2], ids=lambda each: type(each).__name__)
def test_a_panel_in_which_every_call_fails_can_still_be_used(kind, qtbot, monkeypatch, tmp_path):
    from verdigris.ui.panel import Panel

    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path))
    host = Raising()
    host.kind, host.broken = kind, set(NAMES)
    session = Session(host)
    panel = Panel(session.model)
    qtbot.addWidget(panel)
    panel.show()
    use(session)
    (card, *_) = panel.cards.boxes
    assert card.buttons[0].text() == "Copy report"
    card.buttons[0].click()
    from PySide6.QtGui import QGuiApplication

    assert type(kind).__name__ in QGuiApplication.clipboard().text()
    # the application is well again
    host.broken = set()
    session.ready()
    assert session.model.can("start") and not cards_of(session.model)
    for name in sorted(NAMES):
        host.broken = {name}
        use(session)
        session.model.link.set_state("idle")
    host.broken = set()
    session.ready()
    assert session.model.can("start")
    panel.shutdown()
