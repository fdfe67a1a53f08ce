"""Small closing pictures and measures of bakes, and few shaders: they would take most of a tiny
bake's time."""

import os
from dataclasses import fields
from functools import cache, partial

import numpy as np

from verdigris.core.baking.finish import figures, finish, fit_heads, fit_sampler, fit_split, heads
from verdigris.core.baking.finish.figures import PreviewPlan
from verdigris.core.baking.finish.fit_heads import HeadsEffort
from verdigris.core.baking.finish.heads import FinishEffort
from verdigris.core.baking.finish.sampler_examples import SEED, Effort
from verdigris.core.baking.measure import measure, sky
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.phases import time_limit, train
from verdigris.core.baking.state import run
from verdigris.core.bundle import half_floats
from verdigris.core.bundle.cost import time_responses
from verdigris.core.bundle.proxies import checked_proxies
from verdigris.core.bundle.proxies.make_proxies import AlbedoError
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.material.evaluator import POINT
from verdigris.core.material.teacher import probe

every_direction = probe._draw


@cache
def _draw_few():
    """A sixteenth of the directions of an albedo."""
    drawn = every_direction()
    few = len(drawn.uv) // 16
    return type(drawn)(*(getattr(drawn, each.name)[:few] for each in fields(drawn)))


# The effort for the sampler: a test that wants its fit leaves it out.
_NO_EFFORT = Effort(surfaces=24, directions=12, steps=3)


def _guess_sampler(spec, materials, effort):
    """The head of the sampler, before its fit if the effort is the least."""
    if effort != _NO_EFFORT:
        return fit_sampler.fit_sampler(spec, materials, effort)
    guess = fit_sampler._first_guess(spec, np.random.default_rng(SEED))
    return guess.astype(np.float16).astype(np.float32)


def _guess_split(spec, _materials, head, _effort):
    """The head of split-sum lighting before its fit."""
    own = spec.head_layers[2].weight_offset
    guess = fit_split._first_guess(spec, len(head)).astype(np.float16).astype(np.float32)
    return np.concatenate([head[:own], guess[own:]])


def _little_at_first():
    view = sphere_to_compare(size=16)
    return FinishEffort(
        HeadsEffort(_NO_EFFORT, fit_split.SMALL),
        1 << 10,
        view,
        sky.SkyPlan(16, 32, 64, 8, 1),
        SMALL_PREVIEW,
        1 << 11,
    )


SMALL_PREVIEW = PreviewPlan(16, 1, 4)
# The places of a measurement under the sky at which its lobes are fitted.
FEW_PLACES = 16
# Each takes the compiler half a second.
FEW_SHADERS = {name: runtime_files.TARGETS[name] for name in ("portable.hlsl", "cooperative.hlsl")}

# (object, name, value) of what makes them small, where no test looks at them.
SMALL_ENDINGS = (
    *(
        (module, "sphere_to_compare", partial(sphere_to_compare, size=16))
        for module in (heads, train)
    ),
    *((figures, name, SMALL_PREVIEW) for name in ("_SMALL_PREVIEW", "_SOFTWARE_PREVIEW")),
    (time_limit, "_CALIBRATION_SECONDS", 0.1),
    (run, "_QUICK_SAMPLES_ON_SOFTWARE", 1 << 10),
    (heads, "final_samples", lambda _device: 1 << 11),
    (sky, "SOFTWARE_PLAN", sky.SkyPlan(16, 32, 64, 8, 1)),
    (measure, "_DETAIL_SAMPLES", 1 << 10),
    (heads, "_PROXY_EVALUATIONS", (1 << 11, 1 << 11)),
    (sky, "_PLACES_FOR_SHARES", FEW_PLACES),
    # verify allows any error of proxies of a texel
    *(
        (checked_proxies, name, lambda _parameters, _stored: AlbedoError(1.0, 1.0, 32))
        for name in ("check_albedo", "check_transmitted_albedo")
    ),
    (fit_sampler, "SMALL", _NO_EFFORT),
    (fit_heads, "fit_sampler", _guess_sampler),
    (fit_heads, "_fit_split", _guess_split),
    (finish, "first_effort", _little_at_first),
    (half_floats, "_SAMPLES", 256),
    (probe, "_draw", _draw_few),
    # seconds of a dispatch that is timed, and how many of them
    (time_responses.time_material, "__defaults__", (1e-3, POINT, False)),
    (time_responses, "_REPEATS", 1),
    (runtime_files, "TARGETS", FEW_SHADERS),
    (os, "fsync", lambda _file: None),
)
