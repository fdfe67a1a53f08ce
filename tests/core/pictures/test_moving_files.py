"""Animated WebPs, read by Qt."""

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.pictures.moving_files import check_moving_path, write_moving


def shades(count, size=(31, 50)):
    """Pictures whose left part is green, and whose right part gets lighter."""
    for number in range(count):
        picture = np.zeros((*size, 3), np.float32)
        picture[:, :20] = (0.0, 0.5, 0.0)
        picture[:, 20:] = (number / (count - 1)) ** 2.2
        yield picture


def test_a_webp_moves_in_another_program(tmp_path):
    gui = pytest.importorskip("PySide6.QtGui", exc_type=ImportError)
    write_moving(tmp_path / "a.webp", shades(5), 5, 24.0)
    reader = gui.QImageReader(str(tmp_path / "a.webp"))
    if not reader.canRead():
        pytest.skip("this Qt reads no WebP")
    assert reader.supportsAnimation() and reader.imageCount() == 5
    # without an end
    assert reader.loopCount() == -1
    delays = []
    for number in range(5):
        image = reader.read()
        assert (image.width(), image.height()) == (50, 31)
        assert abs(image.pixelColor(8, 15).green() - 188) <= 3
        expected = 255 * number / 4
        assert abs(image.pixelColor(40, 15).red() - expected) < 6
        delays.append(reader.nextImageDelay())
    assert sum(delays) == round(5 * 1000 / 24)
    assert [each.name for each in tmp_path.iterdir()] == ["a.webp"]


def test_other_suffixes_are_refused_before_any_picture(tmp_path):
    with pytest.raises(
        VerdigrisError, match=r"a\.avi: moving pictures are written as \.gif, \.webp"
    ):
        check_moving_path(tmp_path / "a.avi")
    with pytest.raises(VerdigrisError, match=r"the folder .* does not exist: create it"):
        check_moving_path(tmp_path / "gone" / "a.webp")
