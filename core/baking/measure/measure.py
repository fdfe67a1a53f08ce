"""Measures a student against its teacher, on held-out samples and on a rendered sphere.

Also classifies materials by what their teachers do: a recipe has settings for each kind. Parts that
depend on the teacher alone are computed once, in any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.material.evaluator import POINT, Footprint
from verdigris.core.material.sides import passed
from verdigris.core.network.latents.texels import footprint_width
from verdigris.core.pictures.compare.metrics import (
    PictureMetrics,
    SampleMetrics,
    measure_picture,
    measure_samples,
    texel_errors,
)
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.listed_light import network_of
from verdigris.core.pictures.render import PICTURE_SIZE, PICTURE_SUBPIXELS, Lighting, Uploads, draw
from verdigris.core.settings.presets import Kind

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.settings.presets import Recipe


T = TypeVar("T")


@dataclass
class _Once:
    """A result, and the lock of whoever computes it."""

    lock: Lock = field(default_factory=Lock)
    value: Any = None
    is_known: bool = False


_lock = Lock()
_found: WeakKeyDictionary[DeviceMaterial, dict[Hashable, _Once]] = WeakKeyDictionary()
SAMPLES = 1 << 20
HELD_OUT_SEED = 1_000_003
LEAST_COSINE = 0.05
# With fewer places, noise of the reference is a quarter of a good student's error.
PLACES = 64
_DETAIL_SAMPLES = 1 << 14
# A single light; a white surface that faces it has radiance 1.
PICTURE_LIGHTING = Lighting(colour=(np.pi, np.pi, np.pi), environment=0.0, emission=0.0)
# Mean log difference of the response inside a texel, from which a material is detailed, and dense.
_DETAILED, _DENSE = 1e-3, 6e-3
# Cells per side of the grid in which a constant material is sought, with a place in each.
_MOST_CELLS = 512
# Most materials that vary do so among this many cells.
_FIRST_CELLS = 1 << 12
# Pairs of directions; each place is evaluated with one of them.
_PAIRS = 64
# Largest log difference of a constant material: rounding of floats causes less.
_SAME = 1e-4


def once(teacher: DeviceMaterial, key: Hashable, compute: Callable[[], T]) -> T:
    """The result of the first call with this key, kept as long as the teacher. A thread that needs
    what another one computes waits for it."""
    with _lock:
        found = _found.setdefault(teacher, {}).setdefault(key, _Once())
    with found.lock:
        if not found.is_known:
            found.value, found.is_known = compute(), True
    return cast(T, found.value)


@dataclass(frozen=True)
class HeldOut:
    """Random places and directions that are not trained on, with the teacher's response."""

    uv: Floats
    wi: Floats
    wo: Floats
    response: Floats
    live: Floats | None = None
    """Values of live inputs, if there are any."""


def texel_footprint(size: int) -> Footprint:
    """The footprint of a texel on the finest level, which is `size` texels wide."""
    return Footprint(footprint_width(size, 0), PLACES)


@profiled("draw held-out samples")
def draw_held_out(
    teacher: DeviceMaterial,
    count: int = SAMPLES,
    seed: int = 0,
    footprint: Footprint = POINT,
    index_below: float = 0.0,
) -> HeldOut:
    """Places and directions are uniform, with cosines above LEAST_COSINE. With an index, every
    second light is below, with a mirrored direction that is uniform."""
    random = np.random.default_rng(HELD_OUT_SEED + seed)
    uv = random.random((count, 2), np.float32)
    wi, wo = random_directions(random, count), random_directions(random, count)
    live = None
    if teacher.live:
        live = random.random((count, len(teacher.live)), np.float32)
    if index_below:
        wi[::2] = passed(wi[::2].T, wo[::2].T, index_below).T
    return HeldOut(uv, wi, wo, teacher.response(uv, wi, wo, None, footprint, live), live)


@profiled("measure samples")
def measure_student(student: DeviceMaterial, held_out: HeldOut) -> SampleMetrics:
    return measure_samples(predict(student, held_out), held_out.response)


def predict(student: DeviceMaterial, held_out: HeldOut) -> Floats:
    """The student's responses; on a CPU by numpy, which is faster than a software device."""
    network = network_of(student, POINT)
    if network is None:
        return student.response(held_out.uv, held_out.wi, held_out.wo, live=held_out.live)
    return network.responses(held_out.uv, held_out.wi[:, None], held_out.wo, held_out.live)[:, 0]


@cache
def sphere_to_compare(size: int = PICTURE_SIZE) -> GBuffer:
    """The G-buffer of the sphere that students are compared on, `size` pixels per side."""
    return make_gbuffer("sphere", size * PICTURE_SUBPIXELS)


def draw_sphere(
    material: DeviceMaterial, gbuffer: GBuffer, uploads: Uploads | None = None
) -> Floats:
    """A picture of the sphere under one light; the material is evaluated at points."""
    picture = draw(
        material, gbuffer, PICTURE_LIGHTING, PICTURE_SUBPIXELS, is_flat=True, uploads=uploads
    )
    return np.ascontiguousarray(picture[..., :3])


@profiled("measure pictures")
def measure_pictures(
    teacher: DeviceMaterial, student: DeviceMaterial, gbuffer: GBuffer
) -> PictureMetrics:
    """Compares pictures. The teacher's is drawn once: early stopping compares several times."""
    return measure_picture(*pictures_of_both(teacher, student, gbuffer))


def pictures_of_both(
    teacher: DeviceMaterial, student: DeviceMaterial, gbuffer: GBuffer
) -> tuple[Floats, Floats]:
    """Pictures of the student and of the teacher."""
    known = picture_of(teacher, gbuffer)
    uploads = known.uploads if student.device is teacher.device else None
    return draw_sphere(student, gbuffer, uploads=uploads), known.picture


class TeacherPicture(NamedTuple):
    """A teacher's picture. On a GPU, its G-buffer stays there, too; on a CPU it would take the
    memory twice."""

    gbuffer: GBuffer
    picture: Floats
    uploads: Uploads | None


def picture_of(teacher: DeviceMaterial, gbuffer: GBuffer) -> TeacherPicture:
    """The picture that students are compared with, drawn once."""

    def drawn() -> TeacherPicture:
        uploads: Uploads | None = None if teacher.device.is_software else {}
        return TeacherPicture(gbuffer, draw_sphere(teacher, gbuffer, uploads=uploads), uploads)

    return once(teacher, ("sphere", id(gbuffer)), drawn)


def error_map(student: DeviceMaterial, held_out: HeldOut, size: int) -> Floats:
    """Mean log error of each place, (size, size), row 0 at v = 0."""
    errors = texel_errors(held_out.uv, predict(student, held_out), held_out.response, size, size)
    return np.nan_to_num(errors).astype(np.float32)


def detail_below_texels(teacher: DeviceMaterial, resolution: int) -> float:
    """Mean log difference of the response at two places in a texel: what a texel cannot hold."""
    random = np.random.default_rng(HELD_OUT_SEED)
    count = _DETAIL_SAMPLES
    corner = random.integers(0, resolution, (count, 2))
    wi, wo = random_directions(random, count), random_directions(random, count)
    places = [
        ((corner + random.random((count, 2))) / resolution).astype(np.float32) for _ in range(2)
    ]
    live = random.random((count, len(teacher.live))).astype(np.float32) if teacher.live else None
    first, second = (teacher.response(uv, wi, wo, live=live) for uv in places)
    return float(np.abs(np.log1p(first) - np.log1p(second)).mean())


def random_directions(random: np.random.Generator, count: int) -> Floats:
    return hemisphere(random, count, LEAST_COSINE).astype(np.float32)


def classify(teachers: Sequence[DeviceMaterial], recipe: Recipe) -> Kind:
    """The kind of materials that are baked together: that of the most demanding one. They are dense
    only if each of them is."""
    if recipe.is_one_for_all:
        return Kind.DETAILED
    resolution = recipe.largest.resolution
    if all(is_constant(teacher, resolution) for teacher in teachers):
        return Kind.CONSTANT
    details = [detail_below_texels(teacher, resolution) for teacher in teachers]
    if max(details) < _DETAILED:
        return Kind.SMOOTH
    return Kind.DENSE if min(details) > _DENSE else Kind.DETAILED


def is_constant(teacher: DeviceMaterial, resolution: int) -> bool:
    """Whether response, emission and opacity are the same in every texel of the unit square."""
    random = np.random.default_rng(HELD_OUT_SEED)
    side = min(resolution, _MOST_CELLS)
    cells = random.permutation(side * side)
    corners = np.stack([cells % side, cells // side], 1)
    uv = ((corners + random.random(corners.shape)) / side).astype(np.float32)
    wi, wo = random_directions(random, _PAIRS), random_directions(random, _PAIRS)
    pair = random.integers(0, _PAIRS, len(uv))
    # a pair has the same live values at every place
    live = random.random((_PAIRS, len(teacher.live))).astype(np.float32) if teacher.live else None
    first_place = np.ascontiguousarray(np.broadcast_to(uv[:1], (_PAIRS, 2)))
    response = teacher.response(first_place, wi, wo, live=live)

    def differs(part: slice) -> bool:
        given = None if live is None else live[pair[part]]
        found = teacher.response(uv[part], wi[pair[part]], wo[pair[part]], live=given)
        return not _are_same(found, response[pair[part]])

    if differs(slice(_FIRST_CELLS)) or differs(slice(_FIRST_CELLS, None)):
        return False
    unlit = teacher.unlit(uv, wo[pair])
    return _are_same(unlit, teacher.unlit(first_place, wo)[pair])


def _are_same(values: Floats, others: Floats) -> bool:
    """Whether values are the same. NaN equals nothing."""
    return bool((np.abs(np.log1p(values) - np.log1p(others)) <= _SAME).all())
