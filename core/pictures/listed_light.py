"""Draws a network on a CPU: the device lists the directions of light, and numpy evaluates them.

Under a software driver, the device's kernel of a network takes several times as long. A kernel that
lists directions knows no material, so that it compiles once, in a moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.process.processor import on_all_cores, usable_processors
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.network.forward_pass import ForwardPass, Places
from verdigris.core.network.latents.texels import corners
from verdigris.core.network.prepared_places import PackedNetwork, highlights_of, responses
from verdigris.core.network.student import Student

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.kernels import Source
    from verdigris.core.material.evaluator import DeviceMaterial, Footprint
    from verdigris.core.network.parameters import Parameters

# Samples of one evaluation: their data fits into the cache.
_SAMPLES = 4096
# Numbers of a direction: see shaders/pictures/direction_list.slang.
_LISTED = 11
_HALF_AND_WI, _COSINE, _SCALE, _MOST = slice(0, 6), 6, slice(7, 10), 10


class NetworkLight:
    """What a network shows in listed directions of light."""

    def __init__(self, material: DeviceMaterial, parameters: Parameters, level: int) -> None:
        self._material = material
        self._network = PackedNetwork.of(parameters)
        self._level = min(level, parameters.layout.levels - 1)

    def unlit(self, uv: Floats) -> Floats:
        """Emission and coverage at places, (N, 4)."""
        if self._material.is_dark_and_opaque:
            return np.tile(np.array([0, 0, 0, 1], np.float32), (len(uv), 1))
        towards = np.tile(np.array([0, 0, 1], np.float32), (len(uv), 1))
        return self._material.unlit(uv, towards)

    def responses(self, uv: Floats, wi: Floats, wo: Floats, live: Floats | None = None) -> Floats:
        """The responses at places to their directions, (N, directions, 3), as `wi` is. `live` are
        live values, (N, inputs)."""
        if live is None:
            live = np.tile(np.array(self._material.live, np.float32), (len(uv), 1))
        return responses(self._network, uv, wi, wo, live, self._level)

    def lit(
        self, source: Source, entry: str, uv: Floats, directions: int, variables: Mapping[str, Any]
    ) -> Floats:
        """The sum of light, (N, 3), from the directions at these places that a kernel lists."""
        device, count = self._material.device, len(uv)
        if not directions or not count:
            return np.zeros((count, 3), np.float32)
        listed = device.new_space(_LISTED * directions * count)
        kernel = device.shared_kernels({}, ()).get((source,), entry)
        device.dispatch(kernel, count, {**variables, "gListed": listed})
        numbers = listed.to_numpy().view(np.float32).reshape(_LISTED, directions, count)
        return self._sum(uv, numbers)

    def highlights(self, uv: Floats) -> Floats:
        """Where highlights are at places, (N, 8): twice a normal and a width."""
        live = np.tile(np.array(self._material.live, np.float32), (len(uv), 1))
        return highlights_of(self._network, uv, live, self._level)

    @profiled("evaluate network")
    def _sum(self, uv: Floats, listed: Floats) -> Floats:
        _, directions, count = listed.shape
        points = min(count, max(1, _SAMPLES // directions))
        # the last part overlaps the one before, so that all have the same size
        starts = [*range(0, count - points, points), count - points]
        indices, weights = corners(self._network.layout, np.ascontiguousarray(uv.T), self._level)
        live = np.array((*self._material.live, 0.0, 0.0, 0.0)[:3], np.float32)
        live = np.broadcast_to(live[:, None], (3, points))
        light, decoder = np.empty((count, 3), np.float32), self._network.decoder

        def evaluate(chosen: Sequence[int]) -> None:
            forward = ForwardPass(decoder.spec, points * directions, directions)
            for start in chosen:
                part = slice(start, start + points)
                numbers = listed[:, :, part].reshape(_LISTED, -1)
                places = Places(
                    indices[:, part],
                    weights[:, part],
                    numbers[_HALF_AND_WI].reshape(2, 3, -1),
                    numbers[_COSINE],
                    live,
                )
                with np.errstate(over="ignore", invalid="ignore"):
                    seen = forward.evaluate(decoder, self._network.latents, places)
                seen *= numbers[_SCALE]
                np.minimum(seen, numbers[_MOST], out=seen)
                light[part] = seen.reshape(3, directions, points).sum(1).T

        workers = min(usable_processors(), len(starts))
        on_all_cores(evaluate, [starts[first::workers] for first in range(workers)])
        return light


def network_of(material: DeviceMaterial, footprint: Footprint) -> NetworkLight | None:
    """The network of a material, where numpy draws it; otherwise None, and the device does."""
    if not isinstance(material, (Student, BundleMaterial)) or footprint.places > 1:
        return None
    if material.index_below:
        # directions of light from below are not listed
        return None
    found = material.in_numpy() if material.device.is_software else None
    return None if found is None else NetworkLight(material, *found)
