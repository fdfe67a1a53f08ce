"""The switch of the live link: what it sends to a worker, and what its bar shows. A real worker's
link is in tests/core/worker/test_live_inputs.py."""

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from verdigris.core.worker.protocol.commands import Link
from verdigris.ui.widgets import link_switch

ADDRESS = "ws://127.0.0.1:8749/?token=key"


def links(client):
    return [each for each in client.sent if isinstance(each, Link)]


@pytest.fixture
def parts(qtbot, session):
    found = link_switch.LinkSwitch(session.model), link_switch.LinkBar(session.model)
    room = QWidget()
    qtbot.addWidget(room)
    column = QVBoxLayout(room)
    for each in found:
        column.addWidget(each)
    room.show()
    # the widgets live as long as their room
    yield found


def test_one_click_opens_the_link_and_the_next_ends_it(qtbot, session, parts, monkeypatch):
    switch, bar = parts
    assert not bar.isVisible() and not switch.isChecked()
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    (sent,) = links(session.client)
    assert sent.is_on and len(sent.token) > 20 and not sent.at
    assert bar.isVisible() and not bar.row.isVisible()
    assert bar.text.text() == "Live link: waits for the worker"
    session.receive("linked", address=ADDRESS, page="http://127.0.0.1:8749", clients=0)
    assert bar.text.text().startswith("Live link: no client")
    session.receive("linked", address=ADDRESS, page="http://127.0.0.1:8749", clients=2)
    assert bar.text.text() == "Live link: 2 clients connected"
    assert bar.address.text() == ADDRESS and bar.row.isVisible()
    qtbot.mouseClick(bar.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == ADDRESS
    opened = []
    monkeypatch.setattr(link_switch, "open_page", opened.append)
    qtbot.mouseClick(bar.page, Qt.MouseButton.LeftButton)
    assert opened == ["http://127.0.0.1:8749"]
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert not links(session.client)[-1].is_on
    # what the worker has said meanwhile comes late
    session.receive("linked", address=ADDRESS, clients=1)
    assert not bar.isVisible() and not switch.isChecked()


def test_another_worker_gets_the_same_address(session, parts):
    session.ready().switch_link(is_on=True)
    session.receive("linked", address=ADDRESS, page="", clients=1)
    first = links(session.client)[-1]
    # a game looks on: the worker stays, although the panel is closed
    session.model.rest()
    assert session.client.ended == ""
    session.receive("linked", address=ADDRESS, page="", clients=0)
    session.model.rest()
    assert session.client.ended == "closed"
    assert parts[1].text.text() == "Live link: waits for the worker"
    session.model.wake()
    assert len(session.clients) == 2
    assert links(session.client)[-1] == Link(first.token, "127.0.0.1:8749", is_on=True)


def test_what_went_wrong_is_shown(session, parts):
    session.model.switch_link(is_on=True)
    session.receive("linked", problem="the link cannot listen at 127.0.0.1:8748")
    assert parts[1].text.text() == "No live link: the link cannot listen at 127.0.0.1:8748"
    assert parts[0].isChecked() and not parts[1].row.isVisible()
