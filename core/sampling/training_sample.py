"""The layout of a training sample, the same as in training_sample.slang."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# One training sample: 17 tightly packed 32-bit words.
TRAINING_SAMPLE = np.dtype(
    [
        ("uv", "f4", 2),
        ("level", "f4"),  # the mip level that the sample trains, a whole number
        ("material", "u4"),
        ("wi", "f4", 3),
        ("wo", "f4", 3),
        ("response", "f4", 3),
        ("weight", "f4"),
        ("live", "f4", 3),  # of live inputs, the same for all samples of a position
    ]
)

SampleArray = NDArray[np.void]
"""A record array of TRAINING_SAMPLE."""
