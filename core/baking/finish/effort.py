"""The effort of a bake's end: its samples, pictures and fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.baking.finish.fit_sampler import effort_on
from verdigris.core.baking.finish.fit_split import SplitEffort, split_effort_on
from verdigris.core.baking.finish.sampler_examples import Effort
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.measure.sky import SkyPlan, plan_for

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.device import Device
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.settings.bake_settings import BakeSettings


class PreviewPlan(NamedTuple):
    """The size of a bundle's picture."""

    size: int
    """Pixels a side."""
    subpixels: int
    """Along a side of each."""
    directions: int
    """Of the studio at each of these."""


# A small bake on a processor gets a picture that takes no longer than the bake.
_PREVIEW, _SOFTWARE_PREVIEW = PreviewPlan(256, 3, 16), PreviewPlan(192, 2, 12)
_SMALL_PREVIEW, _SMALL_RESOLUTION = PreviewPlan(128, 2, 4), 128
# Of a bundle that is written at once; its sphere has so many pixels a side.
_FIRST_PREVIEW, _FIRST_SPHERE = PreviewPlan(96, 2, 4), 96
# Trained samples for each evaluation of the proxies, which then take some hundredths of a bake, and
# evaluations at least and at most.
_TRAINED_A_PROXY, _PROXY_EVALUATIONS = 40, (1 << 14, 1 << 26)


@dataclass(frozen=True)
class FinishEffort:
    """What is drawn and fitted for a bundle."""

    sampler: Effort
    split: SplitEffort
    samples: int
    """Held-out samples."""
    sphere: GBuffer
    sky: SkyPlan
    preview: PreviewPlan
    proxies: int
    """Evaluations."""


def effort_of(run: Run) -> FinishEffort:
    """That of a result, which may take as long as a short bake."""
    device, trained = run.teachers[0].device, run.settings.iterations * run.settings.batch
    texels = run.settings.resolution**2
    return FinishEffort(
        effort_on(device, trained, texels),
        split_effort_on(device, trained, texels),
        final_samples(device),
        sphere_to_compare(),
        plan_for(device),
        preview_plan(device, run.settings),
        int(np.clip(trained // _TRAINED_A_PROXY, *_PROXY_EVALUATIONS)),
    )


def first_effort() -> FinishEffort:
    """That of a bundle which is written at once, and again when it is refined."""
    return FinishEffort(
        Effort(surfaces=192, directions=64, steps=80),
        SplitEffort(surfaces=512, steps=160),
        1 << 12,
        sphere_to_compare(_FIRST_SPHERE),
        SkyPlan(places=48, directions=512, texel_places=4),
        _FIRST_PREVIEW,
        _PROXY_EVALUATIONS[0],
    )


def final_samples(device: Device) -> int:
    """Held-out samples that a result is measured on: fewer where they take seconds."""
    return 1 << 15 if device.is_software else 1 << 18


def preview_plan(device: Device, settings: BakeSettings) -> PreviewPlan:
    """The picture of a result."""
    if not device.is_software:
        return _PREVIEW
    return _SMALL_PREVIEW if settings.resolution < _SMALL_RESOLUTION else _SOFTWARE_PREVIEW
