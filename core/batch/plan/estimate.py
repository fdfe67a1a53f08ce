"""Estimates of time and size of bakes, without a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from statistics import median
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import find_number, find_table, find_whole
from verdigris.core.network.spec import PRESETS, require_preset
from verdigris.core.settings.bake_settings import BakeSettings

# Samples per second of 2x32, and seconds besides training, on a machine without bundles: see
# docs/BENCHMARKS.md. Larger decoders take longer in proportion to their multiplications.
_RATES = {"tensor": 3e8, "numpy": 1e6}
_BESIDE = {"tensor": 6.0, "numpy": 12.0}
_SHADERS_AND_REFERENCE = 360_000
# Samples of 2x32 from which on steps take most of the time, as in `standard`: shorter bakes do not
# show the speed of other decoders.
_LONG = {"tensor": 9e8, "numpy": 4e7}


def samples_of(settings: BakeSettings) -> float:
    """Samples that a bake draws, with those of starts that are not trained on."""
    return settings.iterations * settings.batch * (1 + settings.discarded_share)


class Estimate:
    """Learns the speed of this machine from existing bundles."""

    def __init__(self) -> None:
        # by trainer and network
        self._seen: dict[tuple[str, str], list[float]] = {}
        # by trainer: of long bakes, as if by 2x32
        self._speeds: dict[str, list[float]] = {}

    def learn(self, source: Mapping[str, Any]) -> None:
        """Adds the `source` section of a bundle."""
        settings = find_table(source, "settings")
        seconds, step = find_number(source, "seconds") or 0.0, find_whole(source, "step") or 0
        batch, network = find_whole(settings, "batch") or 0, str(settings.get("network"))
        if min(seconds, step, batch) <= 0 or network not in PRESETS:
            return
        trainer, ease = str(source.get("trainer")), _ease(network)
        samples = step * batch * (1 + _discarded_share(settings))
        self._seen.setdefault((trainer, network), []).append(samples / seconds)
        if samples / ease > _LONG.get(trainer, math.inf):
            self._speeds.setdefault(trainer, []).append(samples / seconds / ease)

    def seconds(self, settings: BakeSettings, trainer: str, time_limit: float | None) -> float:
        """Estimated seconds of a bake."""
        if time_limit is not None:
            return time_limit + _BESIDE[trainer]
        return samples_of(settings) / self._rate(trainer, settings.network) + _BESIDE[trainer]

    def _rate(self, trainer: str, network: str) -> float:
        """Samples per second: of bakes of this decoder, or else of long ones of others."""
        if own := self._seen.get((trainer, network)):
            return median(own)
        return median(self._speeds.get(trainer, [_RATES[trainer]])) * _ease(network)


def _discarded_share(settings: Mapping[str, Any]) -> float:
    """The discarded share of a bundle's settings; 0 for settings of another version."""
    try:
        return BakeSettings.from_json(dict(settings)).discarded_share
    except (SettingsError, TypeError, ValueError, AttributeError):
        return 0.0


def _ease(network: str) -> float:
    return require_preset("2x32").multiply_adds / require_preset(network).multiply_adds


@lru_cache(maxsize=64)
def bundle_bytes(settings: BakeSettings) -> tuple[int, int]:
    """Bytes of a bundle that an engine loads, and bytes on disk, without maps of emission and
    opacity."""
    from verdigris.core.worker.session.forecast import estimate

    found = estimate(settings)
    loaded = found.texture_bytes + found.decoder_bytes
    return loaded, loaded + _SHADERS_AND_REFERENCE
