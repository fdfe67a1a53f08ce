"""Linear Rec.709."""

from __future__ import annotations

import numpy as np

# Luminance of red, green and blue.
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
