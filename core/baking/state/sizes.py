"""Sizes of the latent texture: the search for the smallest that suffices, and students cut down.

The choice is kept in checkpoints and in manifests. Where a size has fewer latent channels, latents
are projected on their principal axes, each channel weighted by how much responses depend on it.
Frames and first layer of the decoder take the projection back. The optimiser begins again, but at
the same step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.baking.measure.bundle_size import SMALLEST
from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.quantise import fit_ranges, pack_ranges
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.spec import LatentLayout
from verdigris.core.pictures.compare.metrics import INDISTINGUISHABLE_LOG_MAE
from verdigris.core.settings.bake_settings import LATENT_CHANNELS, MORE_LATENTS
from verdigris.core.training.latent_rounding import axes_inside_blocks
from verdigris.core.training.trainer import RANGES, RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.training.trainer import Trainer

# What counts at the end, in errors of trials: these still fall, to .75 to .98 on 13 materials
# (docs/tried/blocks.md), and the excess of a smaller texture does not fall with them.
_TOLERANCE_SHARE, _STILL_FALLS = 0.5, 0.85
# A limit by the material's own images, which nobody has set, gives way to errors so much larger
# than those of the largest size: a decibel.
_VISIBLE = 1.12
# Width by height, or the inverse, of the sizes that are tried to fit into a limit of bytes.
_LARGEST_RATIO = 16
# Least weight of a channel, as a part of the largest.
_LEAST_WEIGHT = 1e-3
_TINY = 1e-30

Errors = tuple[float, ...]
"""Visible error of each material."""


class Size(NamedTuple):
    """What decides on the bytes of a latent texture."""

    width: int
    """Texels in u."""
    height: int
    """Texels in v."""
    channels: int = MORE_LATENTS
    """Latent channels of a texel."""


def halves(size: Size) -> tuple[Size, ...]:
    """The sizes of half as many texels."""
    found = size._replace(width=size.width // 2), size._replace(height=size.height // 2)
    return tuple(each for each in found if min(each.width, each.height) >= SMALLEST)


def half_of_both(size: Size) -> Size | None:
    """The size with both sides halved."""
    if min(size.width, size.height) <= SMALLEST:
        return None
    return size._replace(width=size.width // 2, height=size.height // 2)


@dataclass
class SizeChoice:
    """The chosen size, and the errors of the sizes that were tried."""

    size: Size
    target: float = 0.0
    """The largest error that was accepted; 0 if only bytes counted."""
    tried: dict[Size, float] = field(default_factory=dict)
    """Log MAE after a short training, relative to the same reference, or one that is as visible as
    the error of a picture; of several materials the one that is farthest from its target."""

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.size._asdict(),
            "target": self.target,
            "tried": [[*size, error] for size, error in self.tried.items()],
        }

    @classmethod
    def from_facts(cls, facts: Any) -> SizeChoice | None:
        """The inverse of `facts`; None where none was chosen."""
        if facts is None:
            return None
        try:
            tried = {Size(*map(int, size)): float(error) for *size, error in facts["tried"]}
            size = Size(*(int(facts[name]) for name in Size._fields))
            if size.channels not in LATENT_CHANNELS:
                raise ValueError(f"channels is {size.channels}")
            return cls(size, float(facts["target"]), tried)
        except (LookupError, TypeError, ValueError, AttributeError) as failure:
            raise CheckpointError(f"the choice of the size is damaged: {failure}") from None


def search_size(
    largest: Size,
    channels: Sequence[int],
    fits: Callable[[Size], bool],
    tolerance: float,
    gives_way: bool = False,
) -> Generator[Size, Errors, SizeChoice]:
    """Yields the sizes to try, and receives their errors. `gives_way`: the limit does not hold if
    an eye would see it."""
    size = largest
    found: dict[Size, Errors] = {}
    if not fits(size):
        for each in largest_that_fit(size, channels, fits):
            found[each] = yield each
        size = min(found, key=lambda each: sum(found[each]))
        if gives_way:
            found[largest] = yield largest
            pairs = zip(found[size], found[largest], strict=True)
            if any(e > max(INDISTINGUISHABLE_LOG_MAE, _VISIBLE * of) for e, of in pairs):
                size = largest
    if not tolerance:
        return SizeChoice(size, 0.0, {each: max(errors) for each, errors in found.items()})
    if size not in found:
        found[size] = yield size
    unseen, factor = INDISTINGUISHABLE_LOG_MAE / _STILL_FALLS, 1 + _TOLERANCE_SHARE * tolerance
    targets = [max(unseen, factor * each) for each in found[size]]

    def excess(each: Size) -> float:
        """The error as a part of its target, of the material where it is largest."""
        return max(e / t for e, t in zip(found[each], targets, strict=True))

    while True:
        both = half_of_both(size)
        for group in ((both,) if both else (), halves(size)):
            good = []
            for each in group:
                if any(_is_part(each, other) and excess(other) > 1 for other in found):
                    continue
                if each not in found:
                    found[each] = yield each
                if excess(each) <= 1:
                    good.append(each)
            if good:
                size = min(good, key=excess)
                break
        else:
            return SizeChoice(size, *_of_the_most_demanding(targets, found))


def _of_the_most_demanding(
    targets: list[float], found: dict[Size, Errors]
) -> tuple[float, dict[Size, float]]:
    """The target and the errors of the material whose error is farthest above its target."""
    excess = [max(each[number] for each in found.values()) for number in range(len(targets))]
    number = max(range(len(targets)), key=lambda number: excess[number] / targets[number])
    return targets[number], {size: errors[number] for size, errors in found.items()}


def largest_that_fit(
    size: Size, channels: Sequence[int], fits: Callable[[Size], bool]
) -> list[Size]:
    """The sizes that fit and cannot be doubled: those of all channels first, and of these the one
    that is most like a square."""

    def could_double(each: Size) -> bool:
        doubled = (
            each._replace(width=2 * each.width),
            each._replace(height=2 * each.height),
            # fewer channels at the same texels would save bytes that nobody requested
            each._replace(channels=size.channels),
        )
        return any(other != each and _is_part(other, size) and fits(other) for other in doubled)

    sides = itertools.product(_parts_of_side(size.width), _parts_of_side(size.height))
    found = [
        each
        for each in itertools.starmap(Size, ((*s, c) for s in sides for c in channels))
        if _ratio(each) <= _LARGEST_RATIO and fits(each) and not could_double(each)
    ]
    if not found:
        raise SettingsError("no texture is small enough: allow more bytes")
    return sorted(found, key=lambda each: (-each.channels, _ratio(each)))


def _ratio(size: Size) -> float:
    """Of the longer side to the shorter one."""
    return max(size.width, size.height) / min(size.width, size.height)


def _parts_of_side(side: int) -> list[int]:
    """The side, its half, and so on."""
    return [side >> shift for shift in range(side.bit_length()) if side >> shift >= SMALLEST]


def _is_part(size: Size, other: Size) -> bool:
    return all(part <= whole for part, whole in zip(size, other, strict=True))


def shrunk(large: Parameters, width: int, height: int) -> Parameters:
    """The same student with a texture of this size; both sides are parts of those before."""
    before = large.layout
    layout = LatentLayout(width, height, max(width, height).bit_length(), before.materials)
    latents = np.empty((layout.texel_count, large.spec.latent_channels), large.latents.dtype)
    small = replace(large, layout=layout, decoder=large.decoder.copy(), latents=latents)
    # levels that both sides lose
    lost = min(before.width // width, before.height // height).bit_length() - 1
    for level in range(layout.levels):
        source = large.level(level + lost if level else 0)
        small.level(level)[:] = _boxes(source, *layout.level_size(level))
    return small


def shrunk_state(
    large: Parameters, state: dict[str, NDArray[Any]], width: int, height: int
) -> dict[str, NDArray[Any]]:
    """The optimiser's state for the smaller texture: it continues at the same step."""
    squares = shrunk(replace(large, latents=state["latents_v"]), width, height)
    return {**state, "latents_v": squares.latents}


def _boxes(texels: FloatArray, height: int, width: int) -> FloatArray:
    """Means of [materials, rows, columns, channels] over boxes of texels."""
    materials, rows, columns, channels = texels.shape
    boxes = texels.reshape(materials, height, rows // height, width, columns // width, channels)
    result: FloatArray = boxes.mean((2, 4), dtype=texels.dtype)
    return result


def shrunk_to(
    large: Parameters, state: dict[str, NDArray[Any]], size: Size
) -> tuple[Parameters, Callable[[Trainer], None]]:
    """The same student with a texture of this size, and what brings a trainer of it to the step of
    `state`."""
    small = shrunk(large, size.width, size.height)
    after = shrunk_state(large, state, size.width, size.height)
    if size.channels == large.spec.latent_channels:
        return small, lambda trainer: trainer.restore(small, after)
    projected, squares = with_fewer_latents(small, after["latents_v"], size.channels)

    def begin(trainer: Trainer) -> None:
        fresh = trainer.state() | {"step": state["step"], "latents_v": squares}
        if RATE in state:
            fresh[RATE] = state[RATE]
        if RANGES in state:
            fresh[RANGES] = pack_ranges(fit_ranges(projected))
        trainer.restore(projected, fresh)

    return projected, begin


def with_fewer_latents(
    parameters: Parameters, squares: FloatArray, channels: int
) -> tuple[Parameters, FloatArray]:
    """The student with so many channels that gives the nearest responses, and its mean squares of
    gradients."""
    weight = np.sqrt(squares.mean(0, dtype=np.float64))
    weight = np.maximum(weight, _LEAST_WEIGHT * weight.max() + _TINY)
    finest = parameters.level(0).reshape(-1, len(weight)).astype(np.float64)
    # latents keep their size, for which learning rates are made
    weight *= np.sqrt((finest**2).sum() / (((finest * weight) ** 2).sum() + _TINY))
    finest *= weight
    # not around the mean: frames have no bias that could hold it
    axes = np.linalg.eigh(finest.T @ finest)[1][:, ::-1][:, :channels]
    to_fewer = (weight[:, None] * axes).astype(np.float32)
    to_more = (axes.T / weight).astype(np.float32)
    spec = replace(parameters.spec, latent_channels=channels)
    fewer = Parameters(
        spec,
        parameters.layout,
        np.zeros(spec.parameter_count, np.float32),
        parameters.latents @ to_fewer,
        live=parameters.live,
    )
    if parameters.transmitted:
        below = replace(parameters.transmitted, decoder=np.zeros_like(fewer.decoder), head=None)
        fewer.transmitted = below
    turn = axes_inside_blocks(fewer)
    fewer.latents[:] = fewer.latents @ turn
    to_more = turn.T @ to_more
    for own, side in zip(parameters.sides, fewer.sides, strict=True):
        _reduce_decoder(own, side, to_more)
    return fewer, squares @ (to_more.T * to_more.T)


def _reduce_decoder(parameters: Parameters, fewer: Parameters, to_more: FloatArray) -> None:
    """Writes the decoder of one side for fewer latent channels."""
    before, spec = parameters.spec, fewer.spec
    channels = spec.latent_channels
    for layer, old in zip(spec.layers, before.layers, strict=True):
        fewer.weights(layer)[:] = parameters.weights(old)[:, -layer.inputs :]
        fewer.bias(layer)[:] = parameters.bias(old)
    # live values follow the latents of frames, too
    fewer.frames()[:] = parameters.frames()[:, -spec.place_inputs :]
    old_first, first = parameters.weights(before.layers[0]), fewer.weights(spec.layers[0])
    for own, new in ((parameters.frames(), fewer.frames()), (old_first, first)):
        new[:, :channels] = own[:, : before.latent_channels] @ to_more.T
