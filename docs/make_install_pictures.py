"""Draws the pictures of "Install in one minute": diagrams, with the real panel.

python docs/make_install_pictures.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage, QPainter, QPen, QPixmap, QPolygonF

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT, MARGIN = 1140, 400, 20
INK, PALE, CARD, ACCENT = (QColor(each) for each in ("#2b2f33", "#6b747c", "#f4f6f7", "#2f7d6b"))


@dataclass(frozen=True)
class Diagram:
    """Three steps: files, what to do with them, and the panel."""

    name: str
    titles: tuple[str, str, str]
    files: tuple[str, ...]
    marked: int
    source: str
    target: str


DIAGRAMS = (
    Diagram(
        "install_maya",
        ("Unzip", "Drag the file into a viewport", "Bake"),
        (
            "verdigris-maya",
            "    install_verdigris.py",
            "    uninstall_verdigris.py",
            "    verdigris.mod",
            "    maya-2026-linux",
        ),
        1,
        "install_verdigris.py",
        "a viewport of Maya",
    ),
    Diagram(
        "install_houdini",
        ("Unzip into packages", "Start Houdini", "Bake"),
        (
            "houdini21.0",
            "    packages",
            "        verdigris-21.0-linux.json",
            "        verdigris-houdini",
            "            houdini-21.0-linux",
        ),
        2,
        "menu of pane tabs",
        "the pane tab Verdigris",
    ),
)


def font(size: float, bold: bool = False, family: str = "DejaVu Sans") -> QFont:
    made = QFont(family)
    made.setPixelSize(round(size))
    made.setBold(bold)
    return made


def draw_files(painter: QPainter, box: QRectF, diagram: Diagram) -> None:
    """The files of the archive, with the one that matters marked."""
    for number, line in enumerate(diagram.files):
        row = QRectF(box.left() + 16, box.top() + 20 + 40 * number, box.width() - 32, 30)
        is_marked = number == diagram.marked
        if is_marked:
            painter.fillRect(row, QColor("#d9ece7"))
        painter.setFont(font(14, is_marked, "DejaVu Sans Mono"))
        painter.setPen(ACCENT if is_marked else INK)
        painter.drawText(row.adjusted(6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, line)


def draw_move(painter: QPainter, box: QRectF, diagram: Diagram) -> None:
    """An arrow from one thing to another."""
    first = QRectF(box.left() + 50, box.top() + 24, box.width() - 100, 44)
    second = QRectF(box.left() + 40, box.bottom() - 140, box.width() - 80, 116)
    painter.setPen(QPen(ACCENT, 2))
    painter.setBrush(QColor("#d9ece7"))
    painter.drawRoundedRect(first, 6, 6)
    painter.setFont(font(14, True, "DejaVu Sans Mono"))
    painter.drawText(first, Qt.AlignmentFlag.AlignCenter, diagram.source)
    painter.setPen(QPen(PALE, 2, Qt.PenStyle.DashLine))
    painter.setBrush(Qt.GlobalColor.white)
    painter.drawRoundedRect(second, 6, 6)
    painter.setFont(font(15))
    painter.drawText(second, Qt.AlignmentFlag.AlignCenter, diagram.target)
    x, top, end = box.center().x(), first.bottom() + 8, second.top() + 24
    painter.setPen(QPen(ACCENT, 4))
    painter.drawLine(QPointF(x, top), QPointF(x, end - 12))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ACCENT)
    tip = [QPointF(x - 10, end - 14), QPointF(x + 10, end - 14), QPointF(x, end)]
    painter.drawPolygon(QPolygonF(tip))


def draw_panel(painter: QPainter, box: QRectF) -> None:
    """The panel, from its screenshot."""
    panel = QPixmap(str(IMAGES / "panel.png"))
    inside = box.adjusted(12, 12, -12, -12).size().toSize()
    scaled = panel.scaled(
        inside, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    left = box.center().x() - scaled.width() / 2
    painter.drawPixmap(QPointF(left, box.center().y() - scaled.height() / 2), scaled)


def draw(diagram: Diagram) -> QImage:
    """The three steps side by side."""
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    wide = (WIDTH - 4 * MARGIN) / 3
    for number, title in enumerate(diagram.titles):
        left = MARGIN + number * (wide + MARGIN)
        painter.setFont(font(19, True))
        painter.setPen(INK)
        painter.drawText(QPointF(left, 44), f"{number + 1}  {title}")
        box = QRectF(left, 64, wide, HEIGHT - 64 - MARGIN)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(CARD)
        painter.drawRoundedRect(box, 8, 8)
        if number == 0:
            draw_files(painter, box, diagram)
        elif number == 1:
            draw_move(painter, box, diagram)
        else:
            draw_panel(painter, box)
    painter.end()
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=IMAGES)
    options = parser.parse_args()
    application = QGuiApplication([])
    for diagram in DIAGRAMS:
        file = options.out / f"{diagram.name}.png"
        if not draw(diagram).save(str(file)):
            parser.exit(1, f"{file} cannot be written\n")
        print(file)
    del application


if __name__ == "__main__":
    main()
