"""The button that makes missing images found, with a real worker."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt

from ...core.material.documents import with_image
from ...core.material.surfaces import write_image

WAIT = 90_000


def test_a_missing_image_is_found_with_one_click(qtbot, make_panel, tmp_path):
    maps, folder = tmp_path / "library" / "my & maps", tmp_path / "set"
    for each in (maps, folder):
        each.mkdir(parents=True)
    write_image(maps / "oak.png", np.full((2, 2, 3), 100, np.uint8))
    document = folder / "chair.mtlx"
    document.write_text(with_image(r"D:\old\oak.png"))
    panel = make_panel(document)
    button, model = panel.pages.material.search, panel.model
    assert not button.isVisible()
    qtbot.waitUntil(lambda: model.state.report is not None, timeout=WAIT)
    assert model.state.is_refused and button.isVisible()
    assert button.text() == "Search in my && maps" and str(maps) in button.toolTip()
    assert "Cannot be baked" in panel.pages.material.report.toPlainText()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: model.state.report is not None and not model.state.is_refused, timeout=WAIT
    )
    assert not button.isVisible()
    assert str(maps / "oak.png") in panel.pages.material.report.toPlainText()
