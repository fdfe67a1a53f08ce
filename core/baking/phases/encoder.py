"""The encoder of two-stage training: from responses at a texel to its latents.

It is fitted to the trained small texture by ridge regression on random features. Its inputs are the
material's responses for a few pairs of directions, so it works for any material.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.latents.texels import footprint_width, texel_centres

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]

T = TypeVar("T")

# More of either gain a few percent.
PAIRS, FEATURES = 16, 128
# Values of live inputs, over the pairs of directions.
_LIVE_STEPS = 4
_PAIRS_SEED, _FEATURES_SEED = 5, 6
_LEAST_COSINE = 0.3
_RIDGE = 1e-3
# Most texels of the small texture that are fitted.
_MOST_FITTED = 1 << 16
_TEXELS_AT_ONCE = 1 << 17
# Texels that a thread encodes: their features fit into a processor's cache.
_TEXELS_A_THREAD = 1 << 12
_THREADS = 8


class Encoder:
    """Predicts latents from responses."""

    def __init__(self, seen: Floats, latents: Floats) -> None:
        """Fits to trained texels: (texels, responses) and (texels, channels)."""
        random = np.random.default_rng(_FEATURES_SEED)
        if len(seen) > _MOST_FITTED:
            some = random.choice(len(seen), _MOST_FITTED, replace=False)
            seen, latents = seen[some], latents[some]
        self._middle, self._spread = seen.mean(0), seen.std(0) + np.float32(1e-6)
        self._mix = random.standard_normal((seen.shape[1], FEATURES), np.float32)
        self._mix /= np.sqrt(np.float32(seen.shape[1]))
        self._shift = random.standard_normal(FEATURES, np.float32)
        self._low, self._high = latents.min(0), latents.max(0)
        even, bent = self._features(seen)
        features = np.concatenate([np.ones((len(seen), 1), np.float32), even, bent], 1)
        square = (features.T @ features).astype(np.float64)
        square += _RIDGE * len(seen) * np.eye(len(square))
        fit = np.linalg.solve(square, features.T @ latents).astype(np.float32)
        self._fit = np.split(fit, [1, 1 + even.shape[1]])

    def encode(self, seen: Floats) -> Floats:
        """Latents, clipped to the range of the trained ones: eight bits must hold them."""
        starts = range(0, len(seen), _TEXELS_A_THREAD)
        parts = [seen[start : start + _TEXELS_A_THREAD] for start in starts]
        return np.concatenate(_in_threads(self._encode, parts))

    def _encode(self, seen: Floats) -> Floats:
        even, bent = self._features(seen)
        of_one, of_even, of_bent = self._fit
        latents = even @ of_even
        latents += bent @ of_bent
        latents += of_one
        return latents.clip(self._low, self._high, out=latents)

    def _features(self, seen: Floats) -> tuple[Floats, Floats]:
        even = seen - self._middle
        even /= self._spread
        bent = even @ self._mix
        bent += self._shift
        return even, np.maximum(bent, 0, out=bent)


def probe_pairs() -> Floats:
    """(pairs, 2, 3): directions to light and viewer; every second pair is a mirror pair."""
    random = np.random.default_rng(_PAIRS_SEED)
    cosine = random.uniform(_LEAST_COSINE, 1, (PAIRS, 2))
    turn = 2 * np.pi * random.random((PAIRS, 2))
    sine = np.sqrt(1 - cosine * cosine)
    pairs = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], 2)
    pairs[::2, 1] = pairs[::2, 0] * np.array([-1, -1, 1])
    return pairs.astype(np.float32)


def probe(
    teacher: DeviceMaterial, size: int, places: int, level: int = 0
) -> Iterator[tuple[slice, Floats]]:
    """Responses at the texels of a level that is `size` wide, in parts: the texels, row by row, and
    (texels, 3 x pairs) cube roots, which resolve dark values. `places` of a texel are averaged."""
    most = min(_TEXELS_AT_ONCE, size * size)
    new = teacher.device.new_buffer
    pairs = [tuple(new(np.tile(each, (most, 1))) for each in pair) for pair in probe_pairs()]
    for first in range(0, size * size, most):
        texels = np.arange(first, min(first + most, size * size))
        count, uv = len(texels), new(texel_centres(texels, size))
        footprint = Footprint(footprint_width(size, level), places)
        # submitted together: the device continues while the first results are read
        answers, before = [], teacher.live
        for number, (wi, wo) in enumerate(pairs):
            # texels may differ at some values of live inputs only
            part = number // 2 % _LIVE_STEPS / (_LIVE_STEPS - 1)
            teacher.live = (part,) * len(before)
            answers.append(teacher.response_on_device(count, uv, wi, wo, footprint=footprint))
        teacher.live = before
        seen = np.empty((count, PAIRS, 3), np.float32)
        # cube roots take as long as the device's part
        begun = []
        for number, answer in enumerate(answers):
            light = answer.to_numpy().view(np.float32).reshape(count, 3)
            begun.append(_submit(_take_roots, light, seen[:, number]))
        for each in begun:
            each.result()
        yield slice(first, first + count), seen.reshape(count, -1)


@cache
def _threads() -> ThreadPoolExecutor:
    """Numpy releases Python's lock in most of an encoder's work."""
    return ThreadPoolExecutor(_THREADS, "encoder")


def _submit(do: Callable[..., T], *given: Any) -> Future[T]:
    """Begins this in a thread, whose numpy handles errors as the caller's does."""
    return _threads().submit(copy_context().run, do, *given)


def _in_threads(do: Callable[[Floats], T], parts: Sequence[Floats]) -> list[T]:
    begun = [_submit(do, part) for part in parts]
    return [each.result() for each in begun]


def _take_roots(light: Floats, into: Floats) -> None:
    light = np.nan_to_num(light)
    np.cbrt(np.maximum(light, 0, out=light), out=into)
