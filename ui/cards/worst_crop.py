"""The place with the largest difference, cut from the pictures: reference, and neural beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from verdigris.ui.model.parts.worker_pictures import Pictures
from verdigris.ui.style.metrics import HALF

SIDE = 44
# The crop, and the blocks over which a difference counts, as parts of the picture's shorter side:
# a single pixel is no place.
_CROP, _BLOCK = 1 / 6, 1 / 32
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
        pair = pictures.parts.get("reference"), pictures.parts.get("neural")
        self._sides = ()
        if pair[0] is not None and pair[1] is not None:
            reference, neural = pair[0].pixels, pair[1].pixels
            is_same = pair[0].view == pair[1].view and reference.shape == neural.shape
            if is_same and min(pair[0].sharp, pair[1].sharp) >= 1:
                self._sides = tuple(map(_image, crops(reference, neural)))
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
    reference: NDArray[np.uint8], neural: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Both pictures around the block with the largest mean difference."""
    height, width = reference.shape[:2]
    least = min(height, width)
    block, side = max(1, round(_BLOCK * least)), max(1, round(_CROP * least))
    rows, columns = height // block, width // block
    apart = np.abs(reference[..., :3].astype(np.int16) - neural[..., :3]).max(-1)
    blocks = apart[: rows * block, : columns * block].reshape(rows, block, columns, block)
    row, column = np.unravel_index(blocks.mean((1, 3)).argmax(), (rows, columns))
    top = min(max(0, int(row) * block + block // 2 - side // 2), height - side)
    left = min(max(0, int(column) * block + block // 2 - side // 2), width - side)
    cut = np.s_[top : top + side, left : left + side, :3]
    return reference[cut], neural[cut]


def _image(pixels: NDArray[np.uint8]) -> QImage:
    data = np.ascontiguousarray(pixels)
    height, width = data.shape[:2]
    # a copy: the array ends with this function
    return QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
