"""Evaluates the training network in place, without a copy. On a processor this takes a sixth of the
time of the device's kernel: nothing is uploaded, texels out of view are not touched, and geometry
and lighting are prepared once per view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.process.processor import single_threaded_blas
from verdigris.core.sampling.training_sample import TRAINING_SAMPLE
from verdigris.core.training.numpy.kernel import Kernel
from verdigris.core.training.numpy.prepared_batch import BatchPreparation, PreparedBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork

    Floats = NDArray[np.float32]
    Light = tuple[Floats, Floats]
    """Unit direction to a light, and its colour."""

# Points of one evaluation: their data fits into the cache.
_POINTS = 512
# Least cosine to the eye, as in shade_view.slang: a smooth normal can face away.
_LEAST_COSINE = 1e-3
# The kernel needs a loss, which is not used here.
_ANY_LOSS = "cbrt_log"


class PreparedPlaces:
    """Places and directions that a network evaluates repeatedly."""

    def __init__(
        self,
        network: LiveNetwork,
        uv: Floats,
        wi: Floats,
        wo: Floats,
        level: int = 0,
        live: Floats | None = None,
    ) -> None:
        """For networks of this layout. `uv` is (N, 2), `wi` (N, directions, 3), `wo` (N, 3), and
        `live` (N, live inputs)."""
        spec, layout = network.decoder.spec, network.layout
        self.count, self.directions = len(wi), wi.shape[1]
        self.parts: int = max(1, -(-self.count // _POINTS))
        self._points = -(-self.count // self.parts)
        self._kernel = Kernel(
            spec, layout, _ANY_LOSS, max(1, self._points) * self.directions, self.directions
        )
        self._prepared: list[PreparedBatch] = []
        batch = np.zeros((self._points, self.directions), TRAINING_SAMPLE)
        batch["level"] = min(level, layout.levels - 1)
        for number in range(self.parts if self.count else 0):
            part = self._slice(number)
            size = part.stop - part.start
            batch["uv"][:size] = uv[part, None]
            batch["wi"][:size] = wi[part]
            batch["wo"][:size] = wo[part, None]
            if live is not None:
                batch["live"][:size, :, : live.shape[1]] = live[part, None]
            preparation = BatchPreparation(layout, batch.size, self.directions)
            preparation.load(0, batch.reshape(-1))
            preparation.prepare()
            self._prepared.append(preparation.batch())

    def part_of(self, place: int) -> int:
        return place // self._points

    def _slice(self, number: int) -> slice:
        start = number * self._points
        return slice(start, min(self.count, start + self._points))

    def evaluate(self, network: LiveNetwork, number: int) -> tuple[slice, Floats]:
        """The places of a part and their responses, (n, directions, 3)."""
        part = self._slice(number)
        if not self._prepared:
            return part, np.zeros((0, self.directions, 3), np.float32)
        self._kernel.round_latents = network.round_latents
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
            found = self._kernel.evaluate(network.decoder, network.latents, self._prepared[number])
        by_place = found.reshape(3, self.directions, self._points).transpose(2, 1, 0)
        return part, by_place[: part.stop - part.start]


class LitView:
    """The pixels of a view under a few lights."""

    def __init__(
        self,
        network: LiveNetwork,
        view: GBuffer,
        lights: Sequence[Light],
        level: int,
        live: Sequence[float] = (),
    ) -> None:
        self.pixel = view.pixel
        frame = np.stack([view.tangent, view.bitangent, view.normal], 1)
        towards = np.stack([direction for direction, _ in lights])
        wi = np.einsum("nij,lj->nli", frame, towards)
        wo = np.einsum("nij,nj->ni", frame, view.to_eye)
        wo[:, 2] = np.maximum(wo[:, 2], _LEAST_COSINE)
        wo /= np.linalg.norm(wo, axis=1, keepdims=True)
        is_lit = wi[..., 2] > 0
        colours = np.stack([colour for _, colour in lights])
        self._gain = np.where(is_lit[..., None], colours, 0).astype(np.float32)
        # any valid direction: no light comes from there
        wi[~is_lit] = (0.0, 0.0, 1.0)
        values = np.tile(np.array(live, np.float32), (len(wi), 1))
        self._places = PreparedPlaces(network, view.uv, wi, wo, level, values)

    @property
    def parts(self) -> int:
        return self._places.parts

    def draw(self, network: LiveNetwork, number: int) -> tuple[NDArray[np.int64], Floats]:
        """The pixels of a part, and their light with coverage, (n, 4)."""
        part, response = self._places.evaluate(network, number)
        light = np.ones((len(response), 4), np.float32)
        np.einsum("nlc,nlc->nc", response, self._gain[part], out=light[:, :3])
        return self.pixel[part], light
