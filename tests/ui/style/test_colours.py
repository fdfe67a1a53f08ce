"""Contrast in palettes like those of the applications."""

import sys

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtGui import QColor, QPalette

from verdigris.ui.style.colours import colours_for, contrast, dark_palette, dim_text, light_palette

ROLE, GROUP = QPalette.ColorRole, QPalette.ColorGroup
SURFACES = {ROLE.Text: ROLE.Base, ROLE.WindowText: ROLE.Window, ROLE.ButtonText: ROLE.Button}


def palette_of(window, base, button, text, faded):
    palette = QPalette(QColor(button), QColor(window))
    for role, colour in (
        *((ROLE.Base, base), (ROLE.Text, text), (ROLE.WindowText, text)),
        *((ROLE.ButtonText, text), (ROLE.PlaceholderText, faded)),
    ):
        palette.setColor(role, QColor(colour))
    for role in SURFACES:
        palette.setColor(GROUP.Disabled, role, QColor(faded))
    return palette


PALETTES = {
    "like Maya": ("#444444", "#2b2b2b", "#5d5d5d", "#bbbbbb", "#707070"),
    "like Houdini": ("#3a3a3a", "#222222", "#4c4c4c", "#cccccc", "#4f4f4f"),
    "light": ("#efefef", "#ffffff", "#efefef", "#000000", "#e0e0e0"),
}


@pytest.fixture
def wear(qapp):
    """Changes the palette of the application."""

    def change(palette):
        qapp.setPalette(palette)
        qapp.processEvents()

    before = qapp.palette()
    yield change
    change(before)


@pytest.fixture
def quiet(make_panel, document):
    return make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])


def test_contrast_is_the_wcag_ratio():
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    # the lightest grey that WCAG accepts on white
    assert contrast(QColor("#767676"), QColor("white")) == pytest.approx(4.54, abs=0.005)
    assert contrast(QColor("#777777"), QColor("white")) < 4.5


@pytest.mark.parametrize("colours", PALETTES.values(), ids=PALETTES)
def test_disabled_controls_and_hints_stay_readable(colours, wear, quiet):
    wear(palette_of(*colours))
    window = quiet.palette().color(ROLE.Window)
    form = quiet.pages.settings
    for child, role in (
        (quiet.status.transport.cancel, ROLE.ButtonText),
        (form.folder, ROLE.Text),
        (form._combos["network"], ROLE.Text),
        (form.resume, ROLE.WindowText),
        (quiet.pages.bake.figures.size, ROLE.WindowText),
    ):
        child.setEnabled(False)
        # on the window: disabled controls have no ground of their own
        faded = contrast(child.palette().color(GROUP.Disabled, role), window)
        assert 2.8 <= faded < contrast(quiet.palette().color(ROLE.WindowText), window)
    hint = form.folder.palette().color(ROLE.PlaceholderText)
    assert contrast(hint, window) >= 2.8


def test_text_of_low_contrast_is_not_faded(wear, quiet):
    wear(palette_of("#444444", "#444444", "#444444", "#666666", "#444444"))
    assert dim_text(quiet.palette()) == QColor("#666666")


@pytest.mark.parametrize("palette", [dark_palette, light_palette])
def test_our_palettes_are_readable(palette):
    found = palette()
    for role, surface in (*SURFACES.items(), (ROLE.HighlightedText, ROLE.Highlight)):
        assert contrast(found.color(role), found.color(surface)) >= 4.5
    for role in SURFACES:
        assert contrast(found.color(GROUP.Disabled, role), found.color(ROLE.Window)) >= 2.8


def test_messages_follow_a_change_of_palette(wear, quiet):
    model, text = quiet.model, quiet.cards.banner.text
    # on a busy machine the worker would count as silent
    quiet.session._timer.stop()
    wear(palette_of(*PALETTES["light"]))
    model.state.notices.add("warning", "The material is constant.")
    model.set_choices(target_error=0.5)
    model.state.bake.handle({"event": "errors", "step": 1, "log_mae": 0.1, "smape": 0.1})
    wear(dark_palette())
    ground = quiet.palette().color(ROLE.Window)
    assert contrast(QColor(text.styleSheet().split()[1].rstrip(";")), ground) > 4.5
    assert colours_for(quiet).middling.name() in text.styleSheet()
    assert colours_for(quiet).good.name() in quiet.pages.bake.figures.error.styleSheet()
