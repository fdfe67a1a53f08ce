"""Seamless noises and filters by their spectrum: fast at 2048 x 2048.

Low frequencies of a noise do not depend on the size, so that a small try looks like the large
textures.
"""

from __future__ import annotations

import numpy as np
import patterns as pt
from numpy.typing import NDArray

Field = NDArray[np.float32]

# Frequencies up to this one have the same random numbers in every size.
_SHARED = 64


def noise(
    size: int, seed: int, low: float, slope: float = 1.6, stretch: tuple[float, float] = (1.0, 1.0)
) -> Field:
    """Gaussian noise of mean 0 and deviation 1, whose amplitude falls with frequency^slope above
    `low` cycles. `stretch` lengthens it along u and v."""
    half = size // 2
    shared = _coefficients(seed, _SHARED)
    full = shared if half <= _SHARED else _coefficients(seed + 1_000_003, half)
    ku = np.arange(half + 1, dtype=np.float32)[None, :]
    kv = np.concatenate([np.arange(size - half), np.arange(-half, 0)]).astype(np.float32)[:, None]
    spectrum = np.zeros((size, half + 1), np.complex64)
    for block, reach in ((full, half), (shared, min(_SHARED, half))):
        spectrum[:reach, :reach] = block[:reach, :reach]
        spectrum[-reach:, :reach] = block[-reach:, :reach]
    frequency = np.hypot(ku * stretch[0], kv * stretch[1]).astype(np.float32)
    frequency[0, 0] = 1.0
    # Powers of slope + 1: each octave holds more waves than the one below.
    amplitude = np.maximum(frequency, low) ** np.float32(-slope - 1.0)
    # A soft start below `low`, where waves would be as wide as the tile.
    amplitude *= np.exp(-((low / frequency) ** 2))
    amplitude[0, 0] = 0.0
    image = np.fft.irfft2(spectrum * amplitude, s=(size, size))
    return (image / image.std()).astype(np.float32)


def _coefficients(seed: int, reach: int) -> NDArray[np.complex64]:
    """Uniform numbers: the sum of many waves is Gaussian anyway."""
    numbers = np.random.default_rng(seed).random((2 * reach, reach, 2), np.float32) - 0.5
    return numbers.view(np.complex64)[..., 0]


def enlarge(image: Field, size: int) -> Field:
    """A seamless image at another size, by its spectrum."""
    have = image.shape[0]
    if have == size:
        return image
    keep = min(have, size) // 2
    spectrum, target = np.fft.rfft2(image), np.zeros((size, size // 2 + 1), np.complex64)
    target[:keep, :keep] = spectrum[:keep, :keep]
    target[-keep:, :keep] = spectrum[-keep:, :keep]
    return (np.fft.irfft2(target, s=(size, size)) * (size / have) ** 2).astype(np.float32)


def streaks(image: Field, length: float) -> Field:
    """What runs down from an image: its mean above each place, fading over `length`."""
    frequency = np.fft.fftfreq(image.shape[0])[:, None] * image.shape[0]
    fading = (1.0 / (1.0 + 2j * np.pi * frequency * length)).astype(np.complex64)
    return np.fft.ifft(np.fft.fft(image, axis=0) * fading, axis=0).real.astype(np.float32)


def blur(image: Field, sigma: float) -> Field:
    return pt.blur(image, sigma).astype(np.float32)
