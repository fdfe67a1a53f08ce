"""Light, shapes and differences of the viewport, with a real worker."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

WAIT = 60_000


@pytest.fixture
def opened(qtbot, make_panel, document):
    panel = make_panel(document)
    # small pictures are soon refined
    panel.viewport.setMinimumSize(1, 1)
    panel.viewport.setFixedSize(160, 128)
    model = panel.model
    qtbot.waitUntil(lambda: is_smooth(model), timeout=WAIT)
    return panel


def reference(model):
    found = model.state.pictures.parts.get("reference")
    return found if found is not None and found.view == model.state.view.number else None


def is_sharp(model):
    found = reference(model)
    return found is not None and found.sharp == 1


def is_smooth(model):
    return is_sharp(model) and reference(model).refined == 1


def drop(panel, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    panel.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, button, keys))


def write_hdri(path, texels):
    import OpenImageIO as oiio

    height, width, _ = texels.shape
    out = oiio.ImageOutput.create(str(path))
    out.open(str(path), oiio.ImageSpec(width, height, 3, "float"))
    out.write_image(np.ascontiguousarray(texels, np.float32))
    out.close()


def test_an_artist_changes_light_and_shape_and_drops_an_hdri(qtbot, opened, tmp_path):
    panel, model = opened, opened.model
    light, shape = panel.view_bar.light, panel.view_bar.shape
    studio = reference(model).pixels
    # the picture fills its place
    cell = panel.viewport.cells()[0][1]
    assert studio.shape[1] / studio.shape[0] == pytest.approx(cell.width() / cell.height(), 0.01)
    assert light.currentText() == "Studio"

    def choose(box, text):
        index = box.findText(text)
        box.setCurrentIndex(index)
        box.activated.emit(index)
        qtbot.waitUntil(lambda: is_sharp(model), timeout=WAIT)
        return reference(model).pixels.astype(int)

    sunset = choose(light, "Sunset")
    assert np.abs(sunset - studio).mean() > 5
    ball = choose(shape, "Shader ball")
    assert np.abs(ball - sunset).mean() > 5

    # light from the left only, red: what the file says
    map_ = np.full((16, 32, 3), 0.02, np.float32)
    map_[5:9, 20:24] = (40, 1, 1)
    write_hdri(tmp_path / "red lamp.exr", map_)
    choose(shape, "Sphere")
    drop(panel, tmp_path / "red lamp.exr")
    # it lights from the side, and paper on the ground is white
    model.set_view(exposure=-3.0)
    qtbot.waitUntil(lambda: is_sharp(model), timeout=WAIT)
    assert light.currentText() == "red lamp.exr"
    lit = reference(model).pixels.astype(int)
    middle = lit.shape[1] // 2
    sides = np.s_[40:88, middle - 40 : middle - 10], np.s_[40:88, middle + 10 : middle + 40]
    left, right = (lit[side] for side in sides)
    assert left[..., 0].mean() > 1.5 * right[..., 0].mean()
    assert left[..., 0].mean() > 2 * left[..., 1].mean()
    ball = light.itemIcon(light.currentIndex()).pixmap(32, 32).toImage()
    assert ball.pixelColor(8, 16).lightness() > 1.3 * ball.pixelColor(26, 16).lightness()
    # blurred, it reaches the other side, too
    model.set_view(blur=60.0)
    qtbot.waitUntil(lambda: is_sharp(model), timeout=WAIT)
    soft = reference(model).pixels.astype(int)[40:88, ..., 0]
    ratio = soft[:, 90:120].mean() / soft[:, 40:70].mean()
    assert ratio > 1.3 * right[..., 0].mean() / left[..., 0].mean()
    model.set_view(blur=0.0)
    # turned by a quarter, it comes from the other side
    model.set_view(rotate=90.0)
    qtbot.waitUntil(lambda: is_sharp(model), timeout=WAIT)
    turned = reference(model).pixels.astype(int)
    assert turned[sides[1]][..., 0].mean() > turned[sides[0]][..., 0].mean()

    # a file that cannot be read leaves the light as it is
    (tmp_path / "broken.hdr").write_text("no image")
    before = model.state.view.lit_by
    drop(panel, tmp_path / "broken.hdr")
    qtbot.waitUntil(lambda: model.state.view.lit_by == before, timeout=WAIT)
    assert any("broken.hdr" in notice.text for notice in model.state.notices)
