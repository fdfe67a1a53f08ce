"""Estimates the time and the size of bakes, without a device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from statistics import median
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import find_number, find_table, find_whole
from verdigris.core.network.spec import require_preset
from verdigris.core.settings.bake_settings import BakeSettings

# On a machine without bundles: samples per second of 2x32, seconds besides training, and those of
# trials of sizes (docs/BENCHMARKS.md). Larger decoders take longer in proportion to their
# multiplications.
_RATES = {"tensor": 3e8, "numpy": 1e6}
_BESIDE = {"tensor": 6.0, "numpy": 3.0}
_TRIALS = {"tensor": 0.0, "numpy": 9.0}
# With constants, proxies and the preview.
_SHADERS_AND_REFERENCE = 1_400_000


def samples_of(settings: BakeSettings) -> float:
    """The samples that a bake draws, with those of discarded starts."""
    return settings.iterations * settings.batch * (1 + settings.discarded_share)


class Estimate:
    """Learns the speed of this machine from existing bundles."""

    def __init__(self) -> None:
        # by trainer and network
        self._seen: dict[tuple[str, str], list[float]] = {}

    def learn(self, source: Mapping[str, Any]) -> None:
        """Adds the `source` section of a bundle."""
        settings = find_table(source, "settings")
        seconds, step = find_number(source, "seconds") or 0.0, find_whole(source, "step") or 0
        batch = find_whole(settings, "batch") or 0
        if min(seconds, step, batch) <= 0:
            return
        key = str(source.get("trainer")), str(settings.get("network"))
        samples = step * batch * (1 + _discarded_share(settings))
        self._seen.setdefault(key, []).append(samples / seconds)

    def seconds(self, settings: BakeSettings, trainer: str, time_limit: float | None) -> float:
        """Estimated seconds of a bake."""
        beside = _BESIDE[trainer] + (_TRIALS[trainer] if settings.size.is_open else 0.0)
        if time_limit is not None:
            return time_limit + beside
        seen = self._seen.get((trainer, settings.network))
        rate = median(seen) if seen else _RATES[trainer] * _ease(settings.network)
        return samples_of(settings) / rate + beside


def _discarded_share(settings: Mapping[str, Any]) -> float:
    """The discarded share in a bundle's settings; 0 for settings from another version."""
    try:
        return BakeSettings.from_json(dict(settings)).discarded_share
    except (SettingsError, TypeError, ValueError, AttributeError):
        return 0.0


def _ease(network: str) -> float:
    return require_preset("2x32").multiply_adds / require_preset(network).multiply_adds


@lru_cache(maxsize=64)
def bundle_bytes(settings: BakeSettings) -> tuple[int, int]:
    """The bytes of a bundle that an engine loads, and its bytes on disk, without maps of emission
    and opacity."""
    from verdigris.core.worker.session.forecast import estimate

    found = estimate(settings)
    loaded = found.texture_bytes + found.decoder_bytes
    return loaded, loaded + _SHADERS_AND_REFERENCE
