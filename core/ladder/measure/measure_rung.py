"""Errors of rungs over views that no fit has seen, and the screen size at which each suffices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.ladder.fitting.image_fit import ImageFit, OneTexture
from verdigris.core.ladder.fitting.records import mean_texture, records_of
from verdigris.core.ladder.measure.device_flip import flip_maps
from verdigris.core.ladder.rungs.rung import Rung
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.views.reference import lights_of
from verdigris.core.pictures.compare.metrics import display, ratio_of

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen


# A rung is good enough for a screen size where its FLIP is below this.
SWITCH_FLIP = 0.02
_LEAST_PIXELS = 8
SUBPIXELS = 2
"""Along a side of a compared pixel: a texture cannot hold detail below its texels, and a camera
averages it."""


@dataclass
class Measured:
    """Errors of a rung, as means over all views."""

    flip: float
    """Mean FLIP over the pixels of the mesh."""
    flip_of_pictures: float
    """Mean FLIP over whole pictures, with the black around the mesh."""
    psnr: float
    by_view: list[float] = field(default_factory=list)
    """FLIP of each view, over the pixels of the mesh."""
    by_size: dict[int, float] = field(default_factory=dict)
    """FLIP by the height of the mesh on the screen, in pixels."""
    pictures: list[Floats] = field(default_factory=list)
    maps: list[Floats] = field(default_factory=list)
    bound: tuple[float, float] | None = None
    """FLIP, over the mesh and over pictures, of the best texture that looks the same from all
    directions. Its texels are means over the compared pictures."""

    @property
    def switch_pixels(self) -> int | None:
        """The largest size on the screen at which FLIP is below SWITCH_FLIP; None if there is
        none."""
        good = [size for size, flip in self.by_size.items() if flip < SWITCH_FLIP]
        return max(good, default=None)

    def as_json(self) -> dict[str, Any]:
        bound = {} if self.bound is None else {"bound": [round(each, 5) for each in self.bound]}
        return {
            **bound,
            "flip": round(self.flip, 5),
            "flip_of_pictures": round(self.flip_of_pictures, 5),
            "psnr": round(self.psnr, 3),
            "flip_by_view": [round(each, 5) for each in self.by_view],
            "flip_by_screen_size": {str(k): round(v, 5) for k, v in self.by_size.items()},
            "switch_pixels": self.switch_pixels,
        }


@dataclass(frozen=True)
class HeldOut:
    """Views that no rung was fitted to, with their exposed light. They are SUBPIXELS times as large
    as the compared pictures."""

    seen: Sequence[Seen]
    light: Sequence[Floats]
    samples: int
    """Directions of light at each sub-pixel."""

    @classmethod
    def draw(
        cls, scene: Scene, seen: Sequence[Seen], samples: int,
        on_progress: Callable[[float], None] = lambda _: None,
    ) -> HeldOut:  # fmt: skip
        each_samples = max(2, samples // SUBPIXELS**2)
        lit = lights_of(scene.teacher, seen, scene.lighting, each_samples, on_progress)
        factor = np.float32(scene.exposure)
        return cls(seen, [np.asarray(each[:, :3] * factor) for each in lit], each_samples)

    @cached_property
    def pictures(self) -> Floats:
        """The pictures of all views, (views, rows, columns, 3)."""
        return _pictures_of(self.seen, self.light)

    @cached_property
    def shown(self) -> Floats:
        """The pictures as they are displayed."""
        return np.asarray(display(self.pictures), np.float32)

    @cached_property
    def covers(self) -> Floats:
        """The part of each compared pixel that the mesh covers, (views, rows, columns)."""
        return _pictures_of(
            self.seen, [np.ones((each.count, 1), np.float32) for each in self.seen]
        )[..., 0]


def _pictures_of(seen: Sequence[Seen], light: Sequence[Floats]) -> Floats:
    """The compared pictures, from light at sub-pixels."""
    return np.stack(
        [_halved(each.picture(of_view)) for each, of_view in zip(seen, light, strict=True)]
    )


def measure_rung(rung: Rung, held_out: HeldOut, kept: int = 3) -> Measured:
    """Compares a rung with the reference. Keeps so many pictures for the page."""
    references, covers = held_out.pictures, held_out.covers
    drawn = _pictures_of(
        held_out.seen, [rung.draw(each, held_out.samples) for each in held_out.seen]
    )
    device = held_out.seen[0].geometry.device
    errors = flip_maps(device, drawn, references)
    of_mesh = (errors * covers).sum((1, 2)) / covers.sum((1, 2))
    squares = ((display(drawn) - held_out.shown) ** 2).mean((1, 2, 3), dtype=np.float64)
    ratios = [ratio_of(each) for each in squares]
    return Measured(
        float(of_mesh.mean()), float(errors.mean()), float(np.mean(ratios)), of_mesh.tolist(),
        _by_screen_size(device, drawn, references, covers, errors),
        list(drawn[:kept]), list(errors[:kept]),
    )  # fmt: skip


def bound_of_textures(scene: Scene, held_out: HeldOut, size: int) -> tuple[float, float]:
    """The FLIP that a single texture with this size can hardly undercut: see `Measured.bound`."""
    shown = [np.asarray(display(each), np.float32) for each in held_out.light]
    places = records_of(held_out.seen, shown, scene.unique_set)
    model = OneTexture(mean_texture(places, CLAMP, size), CLAMP)

    def draw(seen: Seen, _: int) -> Floats:
        light = np.zeros((seen.count, 3), np.float32)
        found = ImageFit(model, records_of([seen], [light], scene.unique_set)).shade()
        linear = linear_from_srgb(found)
        return np.asarray(linear / np.maximum(1 - linear, 1e-4), np.float32)

    found = measure_rung(Rung(size=size, draw=draw), held_out, 0)
    return found.flip, found.flip_of_pictures


def _by_screen_size(
    device: Device, drawn: Floats, references: Floats, covers: Floats, errors: Floats
) -> dict[int, float]:
    """FLIP over the pixels of the mesh at its full size and when it is 2, 4, 8 ... times as far
    away. `errors` are those at the full size."""
    found: dict[int, float] = {}
    while (size := drawn.shape[1]) >= _LEAST_PIXELS:
        if found:
            errors = flip_maps(device, drawn, references)
        flips = (errors * covers).sum((1, 2)) / np.maximum(1e-6, covers.sum((1, 2)))
        found[size] = float(flips.mean())
        drawn, references = _halved(drawn), _halved(references)
        covers = _halved(covers[..., None])[..., 0]
    return dict(sorted(found.items()))


def _halved(pictures: Floats) -> Floats:
    """Pictures (..., rows, columns, channels) with half of the pixels a side."""
    rows, columns = pictures.shape[-3] // 2, pictures.shape[-2] // 2
    even = pictures[..., : 2 * rows, : 2 * columns, :]
    # sums of slices are several times as fast as a mean over axes
    total = even[..., ::2, ::2, :] + even[..., 1::2, ::2, :]
    total += even[..., ::2, 1::2, :]
    total += even[..., 1::2, 1::2, :]
    return np.asarray(0.25 * total, np.float32)


@dataclass(frozen=True)
class Lod:
    """A rung, shown where the mesh is smaller on the screen than `below_pixels`."""

    rung: str
    below_pixels: int | None
    flip: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def choose_lods(rungs: Sequence[Rung], measured: Mapping[str, Measured]) -> list[Lod]:
    """The best rung, and then each cheaper one that suffices below some size. The rungs are in the
    order of cost, the dearest first."""
    best = min(rungs, key=lambda rung: measured[rung.name].flip)
    found = [Lod(best.name, None, measured[best.name].flip)]
    for rung in rungs[rungs.index(best) + 1 :]:
        below = measured[rung.name].switch_pixels
        if below is None:
            continue
        # a cheaper rung that suffices at larger sizes replaces those before it
        while len(found) > 1 and below >= (found[-1].below_pixels or 0):
            found.pop()
        found.append(Lod(rung.name, below, measured[rung.name].flip))
    return found
