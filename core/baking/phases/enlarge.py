"""Two-stage training: initialises the large texture from the small one with an encoder.

The encoder goes from responses at a texel to its latents. It is fitted to the trained small texture
by ridge regression on random features. Its inputs are the material's responses for a few pairs of
directions, so it works for any material.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from verdigris.core.baking.state.choices import encoded_levels, stages_of
from verdigris.core.baking.state.resume import save_checkpoint
from verdigris.core.baking.state.trainers import open_trainer
from verdigris.core.base.process.profile import profiled
from verdigris.core.importance.fill import find_masked, live_texels
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.sides import passed
from verdigris.core.network.latents.texels import footprint_width, texel_centres
from verdigris.core.network.parameters import Parameters
from verdigris.core.progress import Event, Step, Warning
from verdigris.core.training.latent_rounding import SIDES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.array_types import Floats
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.spec import LatentLayout
    from verdigris.core.settings.bake_settings import BakeSettings


T = TypeVar("T")
# Pairs of directions and features; more of either gain a few percent.
PAIRS, FEATURES = 16, 128
# Number of values of live inputs, spread over the pairs of directions.
_LIVE_STEPS = 4
_PAIRS_SEED, _FEATURES_SEED = 5, 6
_LEAST_COSINE = 0.3
_RIDGE = 1e-3
# The encoder is fitted to at most this many texels of the small texture.
_MOST_FITTED = 1 << 16
_TEXELS_AT_ONCE = 1 << 17
# Texels that a thread encodes at once: their features fit into a CPU's cache.
_TEXELS_A_THREAD = 1 << 12
_THREADS = 8
# A stopped bake still encodes for this time, in which most textures are done.
SECONDS_AFTER_STOP = 3.0
# The encoder sees the mean over this many places of a texel: texels of the small texture are few,
# and have more detail inside.
_SMALL_PLACES, _LARGE_PLACES = 4, 1
# Number of coarse levels after the small texture's finest one, which few samples have trained, and
# places of a texel there.
_COARSE_LEVELS, _COARSE_PLACES = 2, 8


def enlarge(run: Run) -> Iterator[Event]:
    """Encodes the large texture, and replaces the small one's trainer by its own."""
    learner = run.learner
    small, stage = learner.trainer.parameters(), stages_of(run.settings)[-1]
    state = learner.trainer.state()
    is_cut_short = run.step < stage.first_step
    if is_cut_short:
        # the large texture is for the result only: a resumed bake continues with the small one, or
        # compares the other starts
        if not run.has_untried_starts and run.saved.trainer_step != run.step:
            yield from save_checkpoint(run)
        stage = replace(stage, first_step=run.step)
    large = with_coarse_levels_of(small, stage.settings.layout(len(run.teachers)))
    yield from _encode(run, small, large)
    learner.trainer.close()
    trainer, source = open_trainer(
        run.teachers, stage, run.options.importance, run.trainer_kind, large
    )
    trainer.restore(large, carried_moments(small, state, large.layout))
    run.begin_stage(stage, trainer, source)
    # a short bake needs no checkpoint: as much time may be lost anyway
    may_be_lost = run.saved.step is None and run.clock.seconds < run.options.checkpoint_seconds
    if not is_cut_short and not may_be_lost:
        yield from save_checkpoint(run)


def with_coarse_levels_of(small: Parameters, layout: LatentLayout) -> Parameters:
    """A large texture with the decoder and the levels of the small one. Finer levels are zero."""
    latents = np.zeros((layout.texel_count, small.spec.latent_channels), np.float32)
    large = replace(small, layout=layout, decoder=small.decoder.copy(), latents=latents)
    finer = layout.levels - small.layout.levels
    for level in range(small.layout.levels):
        large.level(finer + level)[:] = small.level(level)
    return large


def carried_moments(
    small: Parameters, state: dict[str, NDArray[Any]], layout: LatentLayout
) -> dict[str, NDArray[Any]]:
    """State of the optimiser for the large texture, from that of the small one. Without it the
    first steps would be far too long, and undo what was learnt. A texel gets the moments of the
    coarse texel that contains it."""
    squares = with_coarse_levels_of(replace(small, latents=state["latents_v"]), layout)
    finer = layout.levels - small.layout.levels
    for level in range(finer):
        times = 2 ** (finer - level)
        squares.level(level)[:] = squares.level(finer).repeat(times, 1).repeat(times, 2)
    decoders = {name: each for name, each in state.items() if name.partition("_")[0] in SIDES}
    return {"step": np.array(0), **decoders, "latents_v": squares.latents}


def _encode(run: Run, small: Parameters, large: Parameters) -> Iterator[Event]:
    """Encodes the finer levels, and the first coarse levels again. It goes from coarse to fine, so
    that a stopped bake can enlarge a coarser level to replace a missing one."""
    finest = encoded_levels(run.settings)
    levels = range(finest)[::-1]
    coarse = range(finest + 1, min(finest + 1 + _COARSE_LEVELS, large.layout.levels))
    sizes = [large.layout.level_size(level)[0] for level in levels]
    total, done = len(run.teachers) * sum(size * size for size in sizes), 0
    begun = time.monotonic()
    patience = _Patience(run)
    for number, teacher in enumerate(run.teachers):
        encoder = _fit_encoder(run, teacher, small, number)
        for level in coarse:
            size = large.layout.level_size(level)[0]
            texels = large.level(level)[number].reshape(size * size, -1)
            for part, seen in probe(teacher, size, _COARSE_PLACES, level):
                texels[part] = encoder.encode(seen)
        for level, size in zip(levels, sizes, strict=True):
            texels = large.level(level)[number].reshape(size * size, -1)
            for part, seen in probe(teacher, size, _LARGE_PLACES, level):
                if patience.is_over:
                    coarser = large.level(level + 1)[number]
                    large.level(level)[number] = coarser.repeat(2, axis=0).repeat(2, axis=1)
                    run.learner.has_enlarged_levels = True
                    break
                texels[part] = encoder.encode(seen)
                done += len(seen)
                spent = max(time.monotonic() - begun, 1e-9)
                left = (total - done) * spent / done
                clock, steps = run.clock, run.settings.iterations
                yield Step(run.step, steps, clock.loss, done / spent, clock.seconds, left)
    if run.learner.has_enlarged_levels:
        yield Warning(
            "the texture is coarser than requested: the bake was stopped before all of it was "
            "encoded"
        )


class _Patience:
    """Ends encoding some time after a stop is requested."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._requested: float | None = None

    @property
    def is_over(self) -> bool:
        if self._requested is None and self._run.control.stop_requested:
            self._requested = time.monotonic()
        # a bundle is kept already: there is time
        if self._requested is None or self._run.kept:
            return False
        return time.monotonic() - self._requested > SECONDS_AFTER_STOP


@profiled("fit encoder")
def _fit_encoder(run: Run, teacher: Teacher, small: Parameters, number: int) -> Encoder:
    """An encoder, fitted to one material's small texture."""
    size = small.layout.width
    parts = [seen for _, seen in probe(teacher, size, _SMALL_PLACES)]
    seen, latents = np.concatenate(parts), small.level(0)[number].reshape(size * size, -1)
    live = _trained_texels(run, size)
    return Encoder(seen[live], latents[live])


def _trained_texels(run: Run, size: int) -> NDArray[np.bool_]:
    """The texels that samples reach: others are as random as they began."""
    masked = find_masked(run.options.importance)
    if masked is None or masked.all():
        return np.ones(size * size, np.bool_)
    return live_texels(~masked, size, size).ravel()


def seconds_to_encode(teachers: Sequence[Teacher], settings: BakeSettings) -> float:
    """The time that encoding takes, estimated from a part of it."""
    if not settings.has_two_stages:
        return 0.0
    small, size = settings.small_resolution, settings.resolution
    # on all levels that are finer than the small texture
    texels = 4 * (size * size - small * small) / 3
    found = 0.0
    for teacher in teachers:
        # compiles
        next(probe(teacher, small, _LARGE_PLACES))
        begun = time.monotonic()
        _, seen = next(probe(teacher, small, _SMALL_PLACES))
        found += (time.monotonic() - begun) * small * small / len(seen)
        # any values do: the duration of the fit does not depend on them
        begun = time.monotonic()
        encoder = Encoder(seen, seen[:, : settings.spec.latent_channels])
        found += time.monotonic() - begun
        took = []
        # the faster of two: the first one also allocates memory
        for _ in range(2):
            begun = time.monotonic()
            _, seen = next(probe(teacher, size, _LARGE_PLACES))
            encoder.encode(seen)
            took.append(time.monotonic() - begun)
        found += min(took) * texels / len(seen)
    return found


class Encoder:
    """Predicts the latents of a texel from its responses."""

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


def probe_pairs(index_below: float = 0.0) -> Floats:
    """Directions (pairs, 2, 3) to light and viewer; every second pair is a mirror pair. With an
    index, half of the light is below."""
    random = np.random.default_rng(_PAIRS_SEED)
    cosine = random.uniform(_LEAST_COSINE, 1, (PAIRS, 2))
    turn = 2 * np.pi * random.random((PAIRS, 2))
    sine = np.sqrt(1 - cosine * cosine)
    pairs = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], 2)
    pairs[::2, 1] = pairs[::2, 0] * np.array([-1, -1, 1])
    if index_below:
        for lower in (pairs[2::4], pairs[3::4]):
            lower[:, 0] = passed(lower[:, 0].T, lower[:, 1].T, index_below).T
    return pairs.astype(np.float32)


def probe(
    teacher: DeviceMaterial, size: int, places: int, level: int = 0
) -> Iterator[tuple[slice, Floats]]:
    """Responses at the texels of a level that is `size` wide. Yields parts of the texels, row by
    row, with (texels, 3 x pairs) cube roots, which resolve dark values. Responses are means over
    `places` of a texel."""
    most = min(_TEXELS_AT_ONCE, size * size)
    new = teacher.device.new_buffer
    directions = probe_pairs(teacher.index_below)
    pairs = [tuple(new(np.tile(each, (most, 1))) for each in pair) for pair in directions]
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
        # in threads: cube roots take as long as the device's part
        begun = []
        for number, answer in enumerate(answers):
            light = answer.to_numpy().view(np.float32).reshape(count, 3)
            begun.append(_submit(_take_roots, light, seen[:, number]))
        for each in begun:
            each.result()
        yield slice(first, first + count), seen.reshape(count, -1)


def _take_roots(light: Floats, into: Floats) -> None:
    light = np.nan_to_num(light)
    np.cbrt(np.maximum(light, 0, out=light), out=into)


def _submit(do: Callable[..., T], *given: Any) -> Future[T]:
    """Begins this in a thread, where numpy handles errors as it does for the caller."""
    return _threads().submit(copy_context().run, do, *given)


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads for an encoder: numpy releases Python's lock in most of its work."""
    return ThreadPoolExecutor(_THREADS, "encoder")


def _in_threads(do: Callable[[Floats], T], parts: Sequence[Floats]) -> list[T]:
    begun = [_submit(do, part) for part in parts]
    return [each.result() for each in begun]
