"""Goes over from the small texture of a bake to the large one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.phases.encoder import Encoder, probe
from verdigris.core.baking.phases.stepping import open_trained
from verdigris.core.baking.state.resume import keep_state
from verdigris.core.baking.state.stages import encoded_levels, stages_of
from verdigris.core.importance.fill import live_texels, masked_of
from verdigris.core.network.parameters import Parameters
from verdigris.core.progress.events import Event, Step, Warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.spec import LatentLayout
    from verdigris.core.settings.bake_settings import BakeSettings

# Encoding goes on for so long where a bake is asked to stop: most textures are done by then.
SECONDS_AFTER_STOP = 3.0
# Of a texel, that the encoder sees the mean of: the small texture's are few and hold more.
_SMALL_PLACES, _LARGE_PLACES = 4, 1
# The small texture's first coarse levels, which few of its samples have taught anything, and places
# of a texel there.
_COARSE_LEVELS, _COARSE_PLACES = 2, 8


def grow(run: Run) -> Iterator[Event]:
    """Encodes the large texture and opens its trainer, in the place of the small one's."""
    small, stage = run.trainer.parameters(), stages_of(run.settings)[-1]
    carried = run.trainer.state() if run.settings.hands_on_moments else {}
    is_cut_short = run.step < stage.first_step
    if is_cut_short:
        # the large texture is for the result: whoever resumes goes on with the small one, or with
        # the starts that were not tried
        if not run.has_untried_starts:
            yield from keep_state(run)
        stage = replace(stage, first_step=run.step)
    grown = below_the_small_one(small, stage.settings.layout(len(run.teachers)))
    yield from _encode(run, small, grown)
    run.trainer.close()
    run.trainer, run.source = open_trained(
        run.teachers, stage.settings, run.options, run.trainer_kind, grown
    )
    if carried:
        run.trainer.restore(grown, handed_on(small, carried, grown.layout))
    run.begin_stage(stage)
    # what took less time than may be lost anyway is not kept
    may_be_lost = run.checkpoint_step is None and run.seconds < run.options.checkpoint_seconds
    if not is_cut_short and not may_be_lost:
        yield from keep_state(run)


def below_the_small_one(small: Parameters, layout: LatentLayout) -> Parameters:
    """Its decoder and its levels, as the coarse levels of a larger texture whose finer ones are
    still nothing."""
    latents = np.zeros((layout.texel_count, small.spec.latent_channels), np.float32)
    grown = Parameters(small.spec, layout, small.decoder.copy(), latents)
    above = layout.levels - small.layout.levels
    for level in range(small.layout.levels):
        grown.level(above + level)[:] = small.level(level)
    return grown


def handed_on(
    small: Parameters, state: dict[str, NDArray[Any]], layout: LatentLayout
) -> dict[str, NDArray[Any]]:
    """What the large texture's trainer begins with: how large gradients are, and how they lie.

    Texels have it of those that they are made from.
    """
    squares = below_the_small_one(replace(small, latents=state["latents_v"]), layout)
    above = layout.levels - small.layout.levels
    for level in range(above):
        times = 2 ** (above - level)
        squares.level(level)[:] = squares.level(above).repeat(times, 1).repeat(times, 2)
    decoder = {name: state[name] for name in ("decoder_m", "decoder_v", "decoder_bases")}
    return {"step": np.array(0), **decoder, "latents_v": squares.latents}


def seconds_to_encode(teachers: Sequence[Teacher], settings: BakeSettings) -> float:
    """About how long that takes, from how long a part of it does."""
    if not settings.is_encoded:
        return 0.0
    small, size = settings.small_resolution, settings.resolution
    # of all levels that are finer than the small texture
    texels = 4 * (size * size - small * small) / 3
    found = 0.0
    for teacher in teachers:
        # compiles
        next(probe(teacher, small, _LARGE_PLACES))
        begun = time.monotonic()
        _, seen = next(probe(teacher, small, _SMALL_PLACES))
        found += (time.monotonic() - begun) * small * small / len(seen)
        # fits anything: it takes as long whatever it finds
        begun = time.monotonic()
        encoder = Encoder(seen, seen[:, : settings.spec.latent_channels])
        found += time.monotonic() - begun
        took = []
        # the better of two: the first one fetches memory, too
        for _ in range(2):
            begun = time.monotonic()
            _, seen = next(probe(teacher, size, _LARGE_PLACES))
            encoder.encode(seen)
            took.append(time.monotonic() - begun)
        found += min(took) * texels / len(seen)
    return found


def _encode(run: Run, small: Parameters, grown: Parameters) -> Iterator[Event]:
    """The levels that the small texture has not, and its first coarse ones anew. From coarse to
    fine, so that levels for which a bake that is asked to stop has no time left can be those
    before, enlarged."""
    finest = encoded_levels(run.settings)
    levels = range(finest)[::-1]
    coarse = range(finest + 1, min(finest + 1 + _COARSE_LEVELS, grown.layout.levels))
    sizes = [grown.layout.level_size(level)[0] for level in levels]
    total, done = len(run.teachers) * sum(size * size for size in sizes), 0
    begun = time.monotonic()
    patience = _Patience(run)
    for number, teacher in enumerate(run.teachers):
        encoder = _fitted(run, teacher, small, number)
        for level in coarse:
            size = grown.layout.level_size(level)[0]
            texels = grown.level(level)[number].reshape(size * size, -1)
            for part, seen in probe(teacher, size, _COARSE_PLACES, level):
                texels[part] = encoder.encode(seen)
        for level, size in zip(levels, sizes, strict=True):
            texels = grown.level(level)[number].reshape(size * size, -1)
            for part, seen in probe(teacher, size, _LARGE_PLACES, level):
                if patience.is_over:
                    coarser = grown.level(level + 1)[number]
                    grown.level(level)[number] = coarser.repeat(2, axis=0).repeat(2, axis=1)
                    run.is_enlarged = True
                    break
                texels[part] = encoder.encode(seen)
                done += len(seen)
                spent = max(time.monotonic() - begun, 1e-9)
                left = (total - done) * spent / done
                yield Step(
                    run.step, run.settings.iterations, run.loss, done / spent, run.seconds, left
                )
    if run.is_enlarged:
        yield Warning(
            "the texture is coarser than it was meant to be: the bake was ended before all of it "
            "was encoded"
        )


class _Patience:
    """What is left of a bake that somebody wants to end."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._asked: float | None = None

    @property
    def is_over(self) -> bool:
        if self._asked is None and self._run.control.stop_requested:
            self._asked = time.monotonic()
        return self._asked is not None and time.monotonic() - self._asked > SECONDS_AFTER_STOP


def _fitted(run: Run, teacher: Teacher, small: Parameters, number: int) -> Encoder:
    """An encoder of what one material's small texture has learnt."""
    size = small.layout.width
    parts = [seen for _, seen in probe(teacher, size, _SMALL_PLACES)]
    seen, latents = np.concatenate(parts), small.level(0)[number].reshape(size * size, -1)
    live = _trained_texels(run, size)
    return Encoder(seen[live], latents[live])


def _trained_texels(run: Run, size: int) -> NDArray[np.bool_]:
    """Those that samples reach: what a map leaves out is as random as it began."""
    masked = masked_of(run.options.importance)
    if masked is None or masked.all():
        return np.ones(size * size, np.bool_)
    return live_texels(~masked, size, size).ravel()
