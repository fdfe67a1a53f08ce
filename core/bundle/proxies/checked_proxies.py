"""The proxies of a bundle with their errors, from a student at the end of a bake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verdigris.core.base.array_types import Floats
from verdigris.core.bundle.proxies.light_sums import sums_on
from verdigris.core.bundle.proxies.make_proxies import (
    FEWEST_LIGHTS_ON_GPU,
    RespondAt,
    check_albedo,
    make_proxies,
)
from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.bundle.proxies.quadrature import Respond
from verdigris.core.bundle.proxies.transmitted_albedo import (
    check_transmitted_albedo,
    make_transmitted_albedo,
)
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student

Call = Callable[..., Any]


def _call(function: Call, *values: Any) -> Any:
    return function(*values)


@dataclass(frozen=True)
class CheckedProxies:
    """The proxies of a bundle, with their entries in the manifest's `errors`."""

    proxies: Proxies
    transmitted: TransmittedAlbedo | None
    """None for an opaque surface."""
    errors: dict[str, Any]


def proxies_of_student(
    parameters: Parameters, student: Student, evaluations: int, call: Call = _call
) -> CheckedProxies:
    """Albedo, normal and roughness as textures, from a student with these parameters; and the
    transmitted albedo, if the surface transmits. `call` calls a function, perhaps elsewhere."""
    before, respond_at = student.level, _respond_at(student, parameters.layout.levels - 1)
    above = parameters.sides[0]
    if student.device.is_software:
        made = make_proxies(above, respond_at, evaluations)
    else:
        over = sums_on(student)
        made = make_proxies(above, respond_at, evaluations, over, FEWEST_LIGHTS_ON_GPU)
    median, most = made.reciprocity
    errors = {
        "albedo": call(check_albedo, above, made.proxies).as_json(),
        "energy": {"largest_albedo": made.largest_albedo},
        "reciprocity": {"median": median, "percentile_90": most},
    }
    transmitted = None
    if parameters.transmitted:
        transmitted = make_transmitted_albedo(parameters, respond_at, evaluations)
        error = call(check_transmitted_albedo, parameters, transmitted)
        errors["transmitted_albedo"] = error.as_json()
    student.level = before
    return CheckedProxies(made.proxies, transmitted, errors)


def _respond_at(student: Student, last: int) -> RespondAt:
    """The student's responses; `last` is its last level."""

    def at(lod: float) -> Respond:
        def respond(uv: Floats, wi: Floats, wo: Floats) -> Floats:
            student.level = float(np.clip(max(lod / 2, lod - 1), 0, last))
            return student.response(uv, wi, wo)

        return respond

    return at
