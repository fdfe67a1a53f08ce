"""What the rungs are fitted to: pictures of the teacher under a light, and samples of its response
at the pixels that cameras see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import Frames
from verdigris.core.pictures.environment_render import Converging

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.surface import Surface
    from verdigris.core.ladder.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.environment_render import EnvironmentLighting
    from verdigris.core.pictures.views import View

    Floats = NDArray[np.float32]
    Progress = Callable[[float], None]

# Widths of mirror lobes, in which half of the directions of light are drawn.
_LOBES = (0.003, 0.02, 0.08, 0.25)
_SAMPLES_AT_ONCE = 1 << 17
_LEAST_COSINE = 0.02
# What covers less counts for nothing in a fit.
_LEAST_COVERAGE = 0.05


def light_of(
    material: DeviceMaterial,
    view: View,
    lighting: EnvironmentLighting,
    samples: int,
    is_flat: bool = False,
) -> Floats:
    """Light towards the eye with coverage, (N, 4), at the pixels of a view."""
    drawing = Converging(material, view, lighting, 1, is_flat)
    drawing.add(samples)
    return np.asarray(drawing.picture().reshape(-1, 4)[view.pixel])


def lights_of(
    material: DeviceMaterial,
    seen: Sequence[Seen],
    lighting: EnvironmentLighting,
    samples: int,
    on_progress: Progress = lambda _: None,
) -> list[Floats]:
    """The same for several views."""
    found = []
    for number, each in enumerate(seen, 1):
        found.append(light_of(material, each.view, lighting, samples))
        on_progress(number / len(seen))
    return found


@dataclass(frozen=True)
class Responses:
    """Samples of the response at pixels, in the frames of the uv set that is fitted."""

    uv: Floats
    """(2, N)"""
    wi: Floats
    """(3, N), as wo and value."""
    wo: Floats
    value: Floats
    weight: Floats
    """(N,), painted weights; 1 without paint."""

    @property
    def count(self) -> int:
        return int(self.uv.shape[1])

    def take(self, chosen: NDArray[np.int64] | slice) -> Responses:
        parts = (self.uv, self.wi, self.wo, self.value)
        uv, wi, wo, value = (part[:, chosen] for part in parts)
        return Responses(uv, wi, wo, value, self.weight[chosen])

    def shuffled(self, seed: int) -> Responses:
        """The samples in a random order."""
        return self.take(np.random.default_rng(seed).permutation(self.count))


def draw_responses(
    teacher: DeviceMaterial,
    surface: Surface,
    seen: Sequence[Seen],
    uv_set: str,
    count: int,
    seed: int,
    weights: Sequence[Floats] | None = None,
    on_progress: Progress = lambda _: None,
) -> Responses:
    """So many samples, spread evenly over the pixels of all views, each under a light of its
    own."""
    rng = np.random.default_rng(seed)
    total = sum(len(each.triangle) for each in seen)
    parts = []
    for number, each in enumerate(seen):
        repeats = max(1, round(count / total))
        paint = None if weights is None else weights[number]
        for _ in range(repeats):
            parts.append(_of_view(teacher, surface, each, uv_set, rng, paint))
        on_progress((number + 1) / len(seen))
    arrays = [np.concatenate(each, -1) for each in zip(*parts, strict=True)]
    return Responses(*arrays)


def _of_view(
    teacher: DeviceMaterial,
    surface: Surface,
    seen: Seen,
    uv_set: str,
    rng: np.random.Generator,
    paint: Floats | None,
) -> tuple[Floats, ...]:
    view = seen.view
    own = np.stack([view.tangent, view.bitangent, view.normal], 1)
    wo = np.einsum("nij,nj->ni", own, view.to_eye)
    wo[:, 2] = np.maximum(wo[:, 2], _LEAST_COSINE)
    wo /= np.linalg.norm(wo, axis=1, keepdims=True)
    wi = draw_lights(rng, wo)
    frames = Frames(view.position, view.tangent, view.bitangent, view.normal)
    value = teacher.response(view.uv, wi, wo.astype(np.float32), frames)
    weight = np.ones(len(value), np.float32) if paint is None else paint
    if not teacher.is_dark_and_opaque:
        cover = teacher.unlit(view.uv, wo.astype(np.float32), frames)[:, 3]
        value, weight = without_coverage(value, cover), weight * cover
    fitted = seen.on_set(surface, uv_set)
    if fitted is not view:
        turn = np.stack([fitted.tangent, fitted.bitangent, fitted.normal], 1) @ own.swapaxes(1, 2)
        wi, wo = (np.einsum("nij,nj->ni", turn, each) for each in (wi, wo))
    columns = (fitted.uv.T, wi.T, wo.T, value.T, weight)
    return tuple(np.asarray(each, np.float32) for each in columns)


def without_coverage(light: Floats, cover: Floats) -> Floats:
    """Light (N, 3) of the surface where it is, of light that is multiplied by coverage (N,)."""
    return np.asarray(light / np.maximum(cover, _LEAST_COVERAGE)[:, None], np.float32)


def draw_lights(rng: np.random.Generator, wo: Floats) -> Floats:
    """A direction of light for each view: half in a cosine lobe, half in mirror lobes."""
    count = len(wo)
    xi = rng.random((count, 3))
    kind = (xi[:, 2] * 2 * len(_LOBES)).astype(int)
    wi = _around_z(np.sqrt(xi[:, 0]), xi[:, 1])
    for number, alpha in enumerate(_LOBES):
        chosen = kind == number
        x = xi[chosen, 0]
        halfway = _around_z(np.sqrt((1 - x) / (1 + (alpha**2 - 1) * x)), xi[chosen, 1])
        towards = wo[chosen]
        mirrored = 2 * (towards * halfway).sum(1, keepdims=True) * halfway - towards
        wi[chosen] = np.where(mirrored[:, 2:] > _LEAST_COSINE, mirrored, wi[chosen])
    wi[:, 2] = np.maximum(wi[:, 2], 1e-3)
    wi /= np.linalg.norm(wi, axis=1, keepdims=True)
    return wi.astype(np.float32)


def batches(count: int, size: int, steps: int) -> Iterator[slice]:
    """Parts of shuffled samples for each step: all of them, again and again. Slices cost no copy,
    unlike a new order in each round."""
    size = min(size, count)
    at = 0
    for _ in range(steps):
        if at + size > count:
            at = 0
        yield slice(at, at + size)
        at += size


def _around_z(cosine: NDArray[np.float64], turn: NDArray[np.float64]) -> NDArray[np.float64]:
    sine = np.sqrt(np.maximum(0.0, 1.0 - cosine**2))
    angle = 2 * np.pi * turn
    return np.stack([sine * np.cos(angle), sine * np.sin(angle), cosine], axis=1)
