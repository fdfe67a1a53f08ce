"""What it costs to round latents: measured as that phase begins, and on what is stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.bundle.precision.gptq_rounding import round_gptq
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.quantise import LatentRange, fit_ranges, on_grid
from verdigris.core.progress.events import Event, Warning

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.settings.schedule import Quantisation

# A cost that is worth a word: less is not seen, as a part of the error before or by itself.
_WORTH_TELLING = 1.02
_LEAST_TOLD = 5e-5


def as_stored(
    parameters: Parameters,
    quantisation: Quantisation | None,
    ranges: Sequence[LatentRange] | None,
) -> Parameters:
    """What bundles would hold of these: half floats, and latents on the grid of their ranges, or of
    those that they have if none are fixed."""
    if quantisation is None:
        stored = parameters.copy()
        stored.latents[:] = parameters.latents.astype(np.float16)
    else:
        stored = on_grid(parameters, ranges or fit_ranges(parameters), quantisation.bits)
    stored.decoder[:] = round_gptq(parameters)
    return stored


def note_error_before(run: Run) -> None:
    """Keeps the error of latents that are not rounded."""
    quantisation = run.settings.training().quantisation
    assert quantisation is not None
    before = _errors(run, run.filled_parameters())
    run.rounding = {"bits": quantisation.bits, "log_mae_before": before}


def tell_cost(run: Run) -> Iterator[Event]:
    """At the end: keeps the error of what is stored, and says if it is much more than before."""
    quantisation = run.settings.training().quantisation
    if quantisation is None:
        return
    if not run.rounding:
        # the bake was ended before the phase began
        note_error_before(run)
    run.rounding["log_mae_after"] = _errors(run, run.stored_parameters())
    for name, facts in zip(run.names, facts_by_material(run), strict=True):
        before, after = facts["log_mae_before"], facts["log_mae_after"]
        if after > max(_WORTH_TELLING * before, before + _LEAST_TOLD):
            yield Warning(
                f"{name}: {quantisation.bits} bits a latent channel cost "
                f"{100 * (after / before - 1):.0f}% (log error {before:.4f} before, {after:.4f} "
                "rounded): use --set latent_bits=0 for half floats, at twice the size"
            )


def facts_by_material(run: Run) -> list[dict[str, Any]]:
    """What run.rounding says of each material."""
    return [
        {name: value[number] if isinstance(value, list) else value for name, value in known}
        for number, known in ((number, run.rounding.items()) for number in range(len(run.names)))
    ]


def _errors(run: Run, parameters: Parameters) -> list[float]:
    return [found.log_mae for found in run.measure(parameters).samples]
