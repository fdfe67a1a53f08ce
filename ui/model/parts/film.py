"""The film of a bake: pictures of the neural material from training, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.ui.signals import Signal

MOST = 24
# Pixels of the shorter side: with so many pictures, 15 MB for a wide view.
LARGEST = 360


@dataclass(frozen=True, eq=False)
class Frame:
    """What the neural material looked like."""

    step: int
    pixels: NDArray[np.uint8]


class Film:
    """Keeps the first picture, the last one, and others at even distances between them."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.shown: Frame | None = None
        """The picture that the artist looks at in place of the present one."""
        self.changed = Signal()
        self.shown_changed = Signal()
        self._spacing = 0
        """The least steps between two pictures."""

    def clear(self) -> None:
        """Another bake begins."""
        self.frames.clear()
        self._spacing = 0
        self.show(None)
        self.changed.emit()

    def take(self, step: int, pixels: Any) -> None:
        """Takes a picture of the training."""
        frames = self.frames
        if frames and step <= frames[-1].step:
            return
        if len(frames) > 1 and frames[-1].step - frames[-2].step < self._spacing:
            # it was kept as the last one only
            frames.pop()
        frames.append(Frame(step, _reduced(pixels)))
        if len(frames) > MOST:
            frames[:] = [*frames[:-1:2], frames[-1]]
            self._spacing = frames[1].step - frames[0].step
        self.changed.emit()

    def show(self, number: int | None) -> None:
        """Shows a picture of the film, or the present one again."""
        found = None if number is None or not self.frames else self.frames[number]
        if found is not self.shown:
            self.shown = found
            self.shown_changed.emit()


def _reduced(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A copy with the mean of blocks, of which the shorter side has few enough."""
    height, width = pixels.shape[:2]
    side = -(-min(height, width) // LARGEST)
    if side == 1:
        return pixels[..., :3].copy()
    high, wide = height // side, width // side
    blocks = pixels[: high * side, : wide * side, :3].reshape(high, side, wide, side, 3)
    return np.round(blocks.mean((1, 3))).astype(np.uint8)
