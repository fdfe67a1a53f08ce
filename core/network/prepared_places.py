"""Places and directions at which numpy evaluates networks, prepared once for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.process.processor import on_all_cores, single_threaded_blas
from verdigris.core.network.forward_pass import ForwardPass, Places
from verdigris.core.network.latents.texels import corners
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.spec import LENGTH_EPSILON

if TYPE_CHECKING:
    from typing import Protocol

    from verdigris.core.base.array_types import FloatArray, Floats
    from verdigris.core.network.latents.texels import IndexArray
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import LatentLayout

    class Network(Protocol):
        """What is evaluated."""

        @property
        def decoder(self) -> PackedDecoder: ...
        @property
        def layout(self) -> LatentLayout: ...
        @property
        def latents(self) -> FloatArray: ...
        @property
        def round_latents(self) -> Callable[[FloatArray, IndexArray], None] | None: ...


# Samples of one evaluation: their data fits into the cache.
_SAMPLES = 4096
# Width of a highlight whose half vectors a network does not stretch.
_UNSTRETCHED = 0.08
# The work arrays of each thread, for one kind of network at a time.
_own = threading.local()


class PackedNetwork(NamedTuple):
    """A trained network."""

    decoder: PackedDecoder
    layout: LatentLayout
    latents: FloatArray
    round_latents: Callable[[FloatArray, IndexArray], None] | None = None

    @classmethod
    def of(cls, parameters: Parameters) -> PackedNetwork:
        decoder = PackedDecoder(parameters.spec)
        decoder.pack(parameters)
        latents = parameters.latents.astype(np.float32, copy=False)
        return cls(decoder, parameters.layout, latents)


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
    ) -> None:
        """`uv` is (N, 2), `wi` (N, directions, 3), `wo` (N, 3), and `live` (N, live inputs)."""
        layout = network.layout
        self.count, self.directions = len(wi), wi.shape[1]
        self._points: int = max(1, _SAMPLES // self.directions)
        self.parts = -(-self.count // self._points)
        self._prepared: list[Places] = []
        level = min(level, layout.levels - 1)
        for number in range(self.parts):
            part = self.slice_of(number)
            live_of = None if live is None else live[part]
            self._prepared.append(
                self._of_part(layout, uv[part], wi[part], wo[part], level, live_of)
            )

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
        count, points = len(uv), self._points
        at, live_of = np.zeros((2, points), np.float32), np.zeros((3, points), np.float32)
        at[:, :count] = uv.T
        if live is not None:
            live_of[: live.shape[1], :count] = live.T
        directions = np.zeros((2, 3, self.directions, points), np.float32)
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
        return place // self._points

    def slice_of(self, number: int) -> slice:
        """The places of a part."""
        start = number * self._points
        return slice(start, min(self.count, start + self._points))

    def evaluate(self, network: Network, number: int) -> FloatArray:
        """The responses at the places of a part, (3, directions, n)."""
        part = self.slice_of(number)
        kernel = _kernel(network, self._points, self.directions)
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            found = kernel.evaluate(network.decoder, network.latents, self._prepared[number])
        by_place = found.reshape(3, self.directions, self._points)
        return by_place[..., : part.stop - part.start]


def _kernel(network: Network, points: int, directions: int) -> ForwardPass:
    key = network.decoder.spec, points, directions
    if getattr(_own, "key", None) != key:
        _own.key, _own.kernel = key, ForwardPass(key[0], points * directions, directions)
    kernel: ForwardPass = _own.kernel
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
        widths = _UNSTRETCHED / np.sqrt(factors[:, 0] * factors[:, 1])
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
