"""Every text of the panel uses words that an artist uses, and every control has a name."""

import re
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QTextEdit,
    QWidget,
)

from verdigris.core.bundle.history import Version
from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.panel import Panel
from verdigris.ui.shelf.bake_queue import Item
from verdigris.ui.widgets.wording import PHASES, STOPS
from verdigris.ui.window import Window

from .cards.test_cards import DETAIL, finish, report
from .fake_session import Session
from .test_live_inputs import OFFERS, opened

# Terms of the people who write the program: what is trained and how, names of nodes and metrics.
JARGON = (
    *("teacher", "student", "decoder", "encoder", "latents?", "bsdf", "edf", "oren", "nayar"),
    *("schlick", "burley", "smape", "log mae", "psnr", "l1", "held-out", "loss", "batch(es)?"),
    *(
        r"starts(?! (?:a|the)\b)",
        "epochs?",
        "gradients?",
        "activation",
        "initialisations?",
        "rounded",
        "rounding",
    ),
    *("quantis\\w+", "optimis\\w+", "manifest", "bundles?", "heat map", "codegen", "slang"),
    *("learning", "checkpoints?", "payload", "protocol", "graph"),
)
_PATTERN = re.compile(rf"\b({'|'.join(JARGON)})\b", re.IGNORECASE)
# Where the program lies, which some texts name, is not its own word.
_HERE = str(Path(__file__).parents[2])
# A reason of the worker is about the program, and its remedy is a button.
_PROGRAM = "continues from its last checkpoint"


def texts_of(widget):
    """Everything that a widget says."""
    for name in ("text", "toolTip", "accessibleName", "accessibleDescription", "title", "prefix"):
        get = getattr(widget, name, None)
        if callable(get) and not isinstance(widget, QLineEdit | QTextEdit):
            yield str(get())
    for name in ("placeholderText", "specialValueText", "toPlainText", "summary"):
        get = getattr(widget, name, None)
        yield str(get() if callable(get) else get or "")
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(number) for number in range(widget.count()))
    yield from (action.text() for action in widget.actions())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, patch = tmp_path_factory.mktemp("words"), pytest.MonkeyPatch()
    patch.setenv("VERDIGRIS_CONFIG_DIR", str(made))
    yield made
    patch.undo()


@pytest.fixture
def window(qtbot, folder):
    memory = Memory(QSettings(str(folder / "window.ini"), QSettings.Format.IniFormat))
    made = Window(FilesHost(), memory)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.panel.shutdown()


@pytest.fixture(scope="module")
def done(qapp, folder):
    """A panel after a bake, with every section open."""
    session = Session()
    session.host.manual = folder
    session.host.scene_file = lambda: folder / "shot.ma"
    memory = Memory(QSettings(str(folder / "panel.ini"), QSettings.Format.IniFormat))
    panel = Panel(session.model, None, memory)
    panel.resize(900, 1400)
    panel.show()
    names = ("oren_nayar_diffuse_bsdf", "generalized_schlick_bsdf", "uniform_edf")
    parts = [{"name": name, "fate": "kept", "how": ""} for name in names]
    report(session, varying_inputs=["base_color"], parts=parts, live=OFFERS)
    session.model.set_choices(live=("wetness=0..1", "tint=0,0,0..1,1,1"))
    session.model.state.live.take(opened(*session.model.state.choices.live)["live"])
    finish(session, hints=[DETAIL])
    panel.pages.show_only([*panel.pages.all])
    panel.pages.settings.more.setChecked(True)
    panel.pages.bake.verdict.fold.setChecked(True)
    panel.pages.live.fold.setChecked(True)
    qapp.processEvents()
    yield panel
    panel.shutdown()
    panel.close()


def test_no_widget_uses_jargon(window, done, tmp_path):
    from datetime import datetime

    window.add_to_queue([tmp_path])
    window.queue.items = [Item(tmp_path / "clay.mtlx")]
    window.queue.changed.emit()
    version = Version(tmp_path, "", datetime.now().astimezone(), True, preset="draft")
    done.model.state.history.versions = (version,)
    done.model.state.history.changed.emit()
    page = done.pages.shelf
    page.list.setCurrentIndex(page.list.entries.index(0))
    assert {"show", "compare", "restore", "keep", "delete", "publish", "reveal"} == {
        *page.details.buttons
    }
    window.shelf.documents.queue.items[0].text = "it has no surface"
    walked, found = 0, set()
    for top in (window, done, page.menu()):
        for widget in (top, *top.findChildren(QWidget)):
            for text in filter(None, texts_of(widget)):
                walked += 1
                if (
                    _PATTERN.search(text.replace(_HERE, "").replace("&", ""))
                    and _PROGRAM not in text
                ):
                    found.add((type(widget).__name__, text))
    assert walked > 300
    assert found == set()
    assert [text for text in (*PHASES.values(), *STOPS.values()) if _PATTERN.search(text)] == []


def test_every_control_can_be_reached_by_keyboard_and_has_a_name(done):
    kinds = (QAbstractButton, QComboBox, QAbstractSpinBox, QAbstractSlider, QLineEdit)
    controls = [
        each
        for each in done.findChildren(QWidget)
        if isinstance(each, kinds)
        and not isinstance(each, QScrollBar)
        and not each.objectName().startswith("qt_")
        and each.isVisible()
    ]
    assert len(controls) > 30
    unreachable = [each for each in controls if not each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert unreachable == []
    nameless = [
        each
        for each in controls
        if not (each.accessibleName() or getattr(each, "text", str)() or _label_of(each))
    ]
    assert nameless == []


def _label_of(widget: QWidget) -> QObject | None:
    """The label in the same row of a form."""
    from PySide6.QtWidgets import QFormLayout

    for layout in widget.parent().findChildren(QFormLayout):
        label = layout.labelForField(widget)
        if label is not None:
            return label
    return None


def test_tab_goes_through_the_panel_from_the_viewport_down(done):
    order, widget = [], done.nextInFocusChain()
    while widget is not done:
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible():
            order.append(widget)
        widget = widget.nextInFocusChain()
    heads = [section.head for section in done.pages.all.values()]
    stops = [
        done.viewport,
        done.live_bar.rows[0].slider,
        done.live_bar.pictures,
        done.view_bar.mode,
        done.picker.combo,
        done.help,
        done.status.transport.main,
        done.status.sparkline,
        *heads,
    ]
    places = [order.index(each) for each in stops]
    assert places == sorted(places)
    # what is in a section comes between its head and the next one
    paint, shelf = (order.index(done.pages.all[name].head) for name in ("Paint", "Shelf"))
    assert paint < order.index(done.pages.paint.texture) < shelf
