"""Places and directions at which numpy evaluates networks, prepared once for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.base.process.processor import on_all_cores, single_threaded_blas
from verdigris.core.material.sides import mirrored
from verdigris.core.network.forward_pass import ForwardPass, Places
from verdigris.core.network.latents.texels import corners
from verdigris.core.network.packed_decoder import PackedDecoder, packed
from verdigris.core.network.spec import LENGTH_EPSILON, UNSTRETCHED_WIDTH

if TYPE_CHECKING:
    from typing import Protocol

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray, Floats
    from verdigris.core.network.latents.texels import IndexArray
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

    class Network(Protocol):
        """What is evaluated."""

        @property
        def decoder(self) -> PackedDecoder: ...
        @property
        def below(self) -> PackedDecoder | None: ...
        @property
        def index_below(self) -> float: ...
        @property
        def layout(self) -> LatentLayout: ...
        @property
        def latents(self) -> FloatArray: ...
        @property
        def round_latents(self) -> Callable[[FloatArray, IndexArray], None] | None: ...


# Samples of one evaluation: their data fits into the cache.
_SAMPLES = 4096
# The work arrays of each thread, for both sides of one kind of network.
_own = threading.local()


class PackedNetwork(NamedTuple):
    """A trained network."""

    decoder: PackedDecoder
    layout: LatentLayout
    latents: FloatArray
    round_latents: Callable[[FloatArray, IndexArray], None] | None = None
    below: PackedDecoder | None = None
    """The decoder for light from below, if the surface transmits."""
    index_below: float = 0.0

    @classmethod
    def of(cls, parameters: Parameters) -> PackedNetwork:
        above, *below = map(packed, parameters.sides)
        latents = parameters.latents.astype(np.float32, copy=False)
        index = parameters.index_below
        return cls(
            above, parameters.layout, latents, below=next(iter(below), None), index_below=index
        )


class _Side(NamedTuple):
    """What is evaluated of one side of the surface."""

    directions: int
    places: Places
    is_dark: NDArray[np.bool_] | None
    """Where no light from below is refracted to the viewer, (directions, n); None above."""


class PreparedPlaces:
    """Places and directions that networks with one layout evaluate repeatedly."""

    def __init__(
        self,
        network: Network,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        level: int = 0,
        live: Floats | None = None,
        above: int | None = None,
    ) -> None:
        """`uv` is (N, 2), `wi` (N, directions, 3), `wo` (N, 3), and `live` (N, live inputs). The
        first `above` directions are above the surface, by default all, and the others below."""
        layout = network.layout
        self.count, self.directions = len(wi), wi.shape[1]
        self.points: int = max(1, _SAMPLES // self.directions)
        self.parts = -(-self.count // self.points)
        self._prepared: list[list[_Side]] = []
        level = min(level, layout.levels - 1)
        first_below = self.directions if above is None else above
        for number in range(self.parts):
            part = self.slice_of(number)
            live_of = None if live is None else live[part]
            sides = []
            for is_below, own in enumerate((wi[part, :above], wi[part, first_below:])):
                is_dark = None
                if is_below and own.size:
                    towards = np.moveaxis(own, -1, 0)
                    towards = mirrored(towards, wo[part].T[:, :, None], network.index_below)
                    own, is_dark = np.moveaxis(towards, 0, -1), towards[2].T <= 0
                if own.size:
                    places = self._of_part(layout, uv[part], own, wo[part], level, live_of)
                    sides.append(_Side(own.shape[1], places, is_dark))
            self._prepared.append(sides)

    def _of_part(
        self,
        layout: LatentLayout,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        level: int,
        live: Floats | None,
    ) -> Places:
        # all parts have the same size, so that they share their memory
        count, points = len(uv), self.points
        at, live_of = np.zeros((2, points), np.float32), np.zeros((3, points), np.float32)
        at[:, :count] = uv.T
        if live is not None:
            live_of[: live.shape[1], :count] = live.T
        directions = np.zeros((2, 3, wi.shape[1], points), np.float32)
        half, towards = directions
        towards[..., :count] = wi.transpose(2, 1, 0)
        half[..., :count] = wo.T[:, None]
        half += towards
        length = np.sqrt(np.einsum("cdn,cdn->dn", half, half))
        half /= np.maximum(length, np.float32(LENGTH_EPSILON))
        cosine = np.einsum("cdn,cdn->dn", half, towards)
        of_samples = directions.reshape(2, 3, -1), cosine.reshape(-1)
        return Places(*corners(layout, at, level), *of_samples, live_of)

    def part_of(self, place: int) -> int:
        return place // self.points

    def slice_of(self, number: int) -> slice:
        """The places of a part."""
        start = number * self.points
        return slice(start, min(self.count, start + self.points))

    def evaluate(self, network: Network, number: int) -> FloatArray:
        """The responses at the places of a part, (3, directions, n)."""
        part, found = self.slice_of(number), []
        for directions, places, is_dark in self._prepared[number]:
            decoder = network.decoder if is_dark is None else network.below
            assert decoder is not None
            kernel = _kernel(network, self.points, directions)
            with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
                seen = kernel.evaluate(decoder, network.latents, places)
            seen = seen.reshape(3, directions, self.points)[..., : part.stop - part.start]
            if is_dark is not None:
                seen[:, is_dark] = 0
            found.append(seen)
        return found[0] if len(found) == 1 else np.concatenate(found, 1)


def _kernel(network: Network, points: int, directions: int) -> ForwardPass:
    kernels: dict[Any, ForwardPass] = _own.__dict__.setdefault("kernels", {})
    key = network.decoder.spec, points, directions
    if key not in kernels:
        if len(kernels) > 1:
            kernels.clear()
        kernels[key] = ForwardPass(key[0], points * directions, directions)
    kernel = kernels[key]
    kernel.round_latents = network.round_latents
    return kernel


def highlights_of(network: Network, uv: Floats, live: Floats, level: int = 0) -> Floats:
    """Where highlights are at places, (N, 8): twice a normal and a width (GGX's alpha), by learned
    frames. They guide directions of light, and need not be exact."""
    found = np.empty((len(uv), 8), np.float32)
    forward = ForwardPass(network.decoder.spec, min(len(uv), _SAMPLES))
    forward.round_latents = network.round_latents
    # directions do not matter
    nothing = np.zeros((2, 3, 0), np.float32), np.zeros(0, np.float32)
    # the last part overlaps the one before, so that all have the same size
    for start in range(0, len(uv), _SAMPLES):
        first = min(start, len(uv) - forward.points)
        part = slice(first, first + forward.points)
        live_of = np.zeros((3, forward.points), np.float32)
        live_of[: live.shape[1]] = live[part].T
        at = corners(network.layout, np.ascontiguousarray(uv[part].T), level)
        normals, factors = forward.frames_of(
            network.decoder, network.latents, Places(*at, *nothing, live_of)
        )
        widths = UNSTRETCHED_WIDTH / np.sqrt(factors[:, 0] * factors[:, 1])
        of_frames = np.concatenate([normals, widths[:, None]], 1)
        # of two frames: a network with one has the same twice
        found[part] = of_frames[[0, -1]].transpose(2, 0, 1).reshape(-1, 8)
    return found


def responses(
    network: Network, uv: Floats, wi: Floats, wo: Floats, live: Floats, level: int = 0
) -> Floats:
    """The responses at places, (N, directions, 3), by all cores. `wi` is (N, directions, 3), and
    the others as for PreparedPlaces."""
    found = np.empty(wi.shape, np.float32)
    points = max(1, _SAMPLES // wi.shape[1])

    def evaluate(start: int) -> None:
        part = slice(start, start + points)
        places = PreparedPlaces(network, uv[part], wi[part], wo[part], level, live[part])
        found[part] = places.evaluate(network, 0).transpose(2, 1, 0)

    on_all_cores(evaluate, range(0, len(wi), points))
    return found
