"""The place with the largest difference, cut from the pictures: reference, and neural beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.ui.model.parts.worker_pictures import Pictures
from verdigris.ui.style.metrics import HALF
from verdigris.ui.viewport.worst_place import pair_of, worst_of

SIDE = 44
# The side of the crop as a part of the picture's shorter side.
_CROP = 1 / 6
_NAME = "The largest difference: reference on the left, neural on the right"


class WorstCrop(QWidget):
    """Hidden while there are no two pictures of one view in full size."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(_NAME)
        self.setToolTip(_NAME)
        self._sides: tuple[QImage, ...] = ()
        self.hide()

    def show_pictures(self, pictures: Pictures) -> None:
        """Shows the worst place of the present pictures."""
        pair, place = pair_of(pictures.parts), worst_of(pictures.parts)
        self._sides = tuple(map(_image, crops(*pair, place))) if pair is not None else ()
        self.setVisible(bool(self._sides))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's names, here and below
        return QSize(2 * SIDE + HALF, SIDE)

    def paintEvent(self, _event: object) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for number, side in enumerate(self._sides):
            painter.drawImage(QRectF(number * (SIDE + HALF), 0, SIDE, SIDE), side)
        painter.end()


def crops(
    reference: NDArray[np.uint8], neural: NDArray[np.uint8], place: tuple[float, float] | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Both pictures around a place; around the middle without one."""
    height, width = reference.shape[:2]
    side = max(1, round(_CROP * min(height, width)))
    x, y = place or (0.5, 0.5)
    top = min(max(0, int(y * height) - side // 2), height - side)
    left = min(max(0, int(x * width) - side // 2), width - side)
    cut = np.s_[top : top + side, left : left + side, :3]
    return reference[cut], neural[cut]


def _image(pixels: NDArray[np.uint8]) -> QImage:
    data = np.ascontiguousarray(pixels)
    height, width = data.shape[:2]
    # a copy: the array ends with this function
    return QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
