"""Pictures of a student in training: each of a state of its own, in a size that fits the time.

Few sharp pictures show more than many coarse ones. A picture is drawn in parts between runs of
steps, of a copy of the network, and shown when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.worker.protocol.commands import ALL
from verdigris.core.worker.protocol.worker_events import Picture

if TYPE_CHECKING:
    from verdigris.core.network.student import Student
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork
    from verdigris.core.worker.drawing.canvas import Canvas, Tone
    from verdigris.core.worker.drawing.easel import Drawn, Easel
    from verdigris.core.worker.drawing.frame import Frame
    from verdigris.core.worker.drawing.live_network import LitView
    from verdigris.core.worker.drawing.side import Side

# Shorter sides of live pictures. The first is the least; only the viewport can be smaller.
LIVE_SIZES = (128, 160, 192, 256, 320, 384, 512, 640, 768, 1024)
# Larger ones are drawn of a network in place only without what is prepared once: it would take
# hundreds of megabytes.
_LARGEST_IN_PLACE = 384
# Tiles of a reference: on a processor and on a graphics card.
_TILES = 48, 1024
# Factor of the cost of the first picture of a size.
_NEW_SIZE = 1.8


@dataclass
class _Sized:
    """What is kept of a size."""

    frame: Frame
    neural: Canvas
    lit: LitView | None = None
    columns: tuple[float, float] = (0.0, 0.0)
    """The part of the width that `lit` has."""
    reference: Canvas | None = None


class LiveDrawing:
    """The live picture of a view."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds_a_pixel: float | None = None

    def draw_on(self, easel: Easel, side: Side, original: Drawn) -> None:
        """Draws another view: as much of it as `side` has in sight, beside this reference."""
        self._easel, self._side, self._original = easel, side, original
        self.forget()

    def forget(self) -> None:
        """Another view, or a network of another layout."""
        self._sized: dict[int, _Sized] = {}
        self._parts: Iterator[None] | None = None
        self._size = 0
        self._spent = 0.0
        self.drawn = 0
        """Pictures of this view."""

    def expose(self, tone: Tone) -> None:
        for each in self._sized.values():
            for canvas in (each.neural, each.reference):
                if canvas is not None:
                    canvas.expose(tone)

    @property
    def is_busy(self) -> bool:
        """Whether a picture is begun and not whole."""
        return self._parts is not None

    def begin(self, student: Student | LiveNetwork, seconds: float) -> None:
        """Begins a picture that takes at most so long, if it can."""
        self._begin(student, self._fitting(student, seconds))

    def _begin(self, student: Student | LiveNetwork, size: int) -> None:
        is_copied = not isinstance(student, DeviceMaterial)
        drawn = student.snapshot() if is_copied else student  # type: ignore[union-attr]
        self._size, self._spent = size, 0.0
        self._parts = self._draw(drawn, size)

    def advance(self) -> bool:
        """Draws a part. Returns whether the picture is whole."""
        if self._parts is None:
            return False
        begun = self._clock()
        is_whole = next(self._parts, True) is True
        self._spent += self._clock() - begun
        if is_whole:
            self._parts = None
            self.drawn += 1
            self._note_cost()
        return is_whole

    def draw_at_once(self, student: Student | LiveNetwork, step: int) -> list[Picture]:
        """A whole picture of the smallest size."""
        self._begin(student, min(LIVE_SIZES[0], self._easel.command.size))
        while not self.advance():
            pass
        return self.pictures(step)

    def pictures(self, step: int) -> list[Picture]:
        """The picture that has become whole."""
        each, command = self._sized[self._size], self._easel.command
        sharp = min(1.0, self._size / command.size)
        neural = each.neural
        found = [Picture(neural.pixels(), "neural", command.number, step, sharp, 0.0)]
        if each.reference is not None and command.shows == ALL:
            found.append(self._easel.heat(each.reference, neural, step, sharp, 0.0))
        return found

    def _fitting(self, student: Student | LiveNetwork, seconds: float) -> int:
        least = min(LIVE_SIZES[0], self._easel.command.size)
        if self._seconds_a_pixel is None:
            return least
        left, right = self._side.columns
        cost = self._seconds_a_pixel * max(right - left, 0.1)
        most = self._easel.command.size
        if not isinstance(student, DeviceMaterial):
            most = min(most, _LARGEST_IN_PLACE)

        def fits(size: int) -> bool:
            # what is prepared costs as much again, and a reserve keeps sizes from flickering
            extra = 1.0 if size in self._sized else _NEW_SIZE
            return size <= most and cost * extra * size**2 <= seconds

        return max((size for size in LIVE_SIZES if fits(size)), default=least)

    def _note_cost(self) -> None:
        each = self._sized[self._size]
        share = each.columns[1] - each.columns[0] if each.lit is not None else 1.0
        cost, before = self._spent / self._size**2 / max(share, 0.1), self._seconds_a_pixel
        if before is None:
            self._seconds_a_pixel = cost
        elif not self._is_new:
            # the first picture compiles, and short delays must not count
            self._seconds_a_pixel = min(0.7 * before + 0.3 * cost, cost)

    def _draw(self, student: Student | LiveNetwork, size: int) -> Iterator[None]:
        easel = self._easel
        self._is_new = size not in self._sized
        if self._is_new:
            frame = easel.frame_of(size)
            each = self._sized[size] = _Sized(frame, easel.new_canvas(frame))
            last = max((known for known in self._sized if known != size), default=0)
            if last:
                # what is not in sight has some content
                each.neural.fill_from(self._sized[last].neural)
        each = self._sized[size]
        if easel.command.shows == ALL and each.reference is None:
            yield from self._draw_reference(each)
        if isinstance(student, DeviceMaterial):
            view = easel.view_of(each.frame, each.frame.whole())
            each.neural.put(view.pixel, easel.light(student, view))
            return
        # all of the first picture, so that nothing is empty, and then what is in sight
        columns = (0.0, 1.0) if len(self._sized) == 1 else self._side.columns
        if each.lit is None or each.columns != columns:
            view = easel.view_of(each.frame, each.frame.whole())
            left, right = (share * each.frame.width for share in columns)
            column = view.pixel % each.frame.width
            seen = view.take(np.flatnonzero((column >= left) & (column <= right)))
            each.lit, each.columns = easel.lit_view(student, seen), columns
            self._is_new = True
            yield
        for number in range(each.lit.parts):
            each.neural.put(*each.lit.draw(student, number))
            yield

    def _draw_reference(self, each: _Sized) -> Iterator[None]:
        """The reference in the same size, to compare pixel by pixel."""
        easel, frame, original = self._easel, each.frame, self._original
        is_on_card = isinstance(original, DeviceMaterial) and not original.device.is_software
        canvas = easel.new_canvas(frame)
        for tile in frame.tiles(_TILES[is_on_card]):
            view = easel.view_of(frame, tile)
            canvas.put(view.pixel, easel.light(original, view, places=1))
            yield
        each.reference = canvas
