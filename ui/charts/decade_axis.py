"""An axis for a log scale."""

from __future__ import annotations

import numpy as np
import pyqtgraph

_LABEL_HEIGHT = 22


class DecadeAxis(pyqtgraph.AxisItem):
    """On a log scale, labels 1, 2 and 5 of each decade, or fewer if there is little room."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N802
        if not self.logMode:
            return super().tickValues(low, high, size)
        first, last = int(np.floor(low)), int(np.ceil(high))
        for marks in ((1, 2, 5), (1, 3), (1,)):
            values = [
                float(np.log10(mark) + decade)
                for decade in range(first, last + 1)
                for mark in marks
                if low <= np.log10(mark) + decade <= high
            ]
            if len(values) * _LABEL_HEIGHT <= size:
                break
        return [(1.0, values)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: N802
        if not self.logMode:
            return super().tickStrings(values, scale, spacing)
        return [f"{10**value:.3g}" for value in values]
