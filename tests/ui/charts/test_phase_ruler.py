"""Labels of the chart never print over each other, however wide it is and however long its
phases are."""

import itertools
import random

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from verdigris.ui.charts.phase_ruler import Span, place_names

NAMES = ("training a small texture", "enlarging the texture", "training", "compressing")


def overlapping(boxes):
    return [
        (one, other) for one, other in itertools.combinations(boxes, 2) if one.intersects(other)
    ]


def test_names_are_inside_and_apart(qapp):
    letters, draw = QFontMetricsF(QApplication.font()), random.Random(1)
    shown = set()
    for _ in range(400):
        width = draw.uniform(60, 900)
        ends = [0.0, *sorted(draw.uniform(0, 1.1) for _ in NAMES[1:]), 1.0]
        spans = [
            Span(name, width * first, width * last)
            for name, first, last in zip(NAMES, ends, ends[1:], strict=False)
        ]
        placed = place_names(spans, letters, width)
        boxes = [box.adjusted(-2, 0, 2, 0) for _, box in placed]
        assert overlapping(boxes) == []
        for name, box in placed:
            span = spans[NAMES.index(name)]
            assert box.left() >= 0 and box.right() <= width + 1
            # a name is where its phase is
            assert box.right() > span.left and box.left() < span.right
        shown |= {name for name, _ in placed}
    assert shown == {*NAMES}


@pytest.mark.parametrize("width", [260, 330, 400, 520])
def test_numbers_and_names_of_a_chart_are_apart(fake_panel, qtbot, width):
    session, panel = fake_panel
    session.training()
    plan = [("small texture", 0, 300), ("training", 300, 2250), ("rounding", 2250, 2500)]
    parts = [{"name": name, "first": first, "last": last} for name, first, last in plan]
    session.receive("plan", parts=parts)
    session.receive("state", state="training")
    session.receive("phase", name="training")
    for step in range(100, 2500, 100):
        session.receive("step", step=step, steps=2500, loss=1 / step)
        session.receive("metrics", step=step, samples=[{"log_mae": 2 / step}])
    chart = panel.pages.bake.plot
    chart.setFixedWidth(width)
    qtbot.waitUntil(lambda: chart.width() == width)
    qtbot.wait(20)
    boxes = [box for _, box in chart.ruler.places()]
    assert boxes and overlapping(boxes) == []
    # what pyqtgraph writes at its axes
    numbers = []
    for side in ("left", "bottom"):
        axis, image = chart.plot.getAxis(side), QImage(8, 8, QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.setFont(axis.style["tickFont"])
        specs = axis.generateDrawSpecs(painter)
        painter.end()
        texts = [text for _, _, text in specs[2]]
        assert len(texts) >= 2 and len(set(texts)) == len(texts)
        numbers += [axis.mapRectToScene(QRectF(box)) for box, _, _ in specs[2]]
    assert overlapping([box.adjusted(1, 2, -1, -2) for box in numbers]) == []
    chart.setMinimumWidth(0)
    chart.setMaximumWidth(16_777_215)
