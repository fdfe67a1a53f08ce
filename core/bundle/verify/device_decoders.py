"""Decoders of a bundle on a device, for verification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.device import MOST_CONSTANT_BYTES, Device, open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.bundle.files.arithmetic import PORTABLE
from verdigris.core.bundle.runtime.device_materials import (
    RuntimeChoice,
    fastest_advised,
    read_stored,
)
from verdigris.core.bundle.runtime.evaluate_queries import (
    MatrixEvaluator,
    QueryEvaluator,
    has_cooperative_matrices,
)
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.bundle.runtime.runtime_files import other_modules
from verdigris.core.bundle.verify.rows import OnDevice

if TYPE_CHECKING:
    from collections.abc import Callable

    from verdigris.core.base.array_types import Floats
    from verdigris.core.bundle.files.arithmetic import Arithmetic
    from verdigris.core.bundle.files.manifest_parts import Bounds, FileRecord
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.network.spec import NetworkSpec

    Decoder = Callable[[Floats, Floats, Floats, Floats], Floats]


def decoders_on(bundle: Bundle, device: Device) -> OnDevice:
    """All decoders and samplers with exact filtering that device and bundle allow."""
    stored = [read_stored(bundle)]
    choices = exact_choices(device, fits_in_constants(bundle.spec), bundle.advised)
    found = [(name, QueryEvaluator(stored, device, choice)) for name, choice in choices]
    decoders: list[tuple[str, Decoder]] = [(name, each.response) for name, each in found]
    if has_cooperative_matrices(device):
        decoders.append(("cooperative matrices", MatrixEvaluator(stored, device).response))
    below = bundle.transmitted
    return OnDevice(
        decoders,
        [(name, each.sample) for name, each in found if bundle.manifest.has_sampler],
        decoders_on(below, device) if below else None,
    )


def device_notes(bundle: Bundle, device: Device) -> list[str]:
    """Notes on decoders that are not checked, with reasons, and on shaders that are not."""
    manifest = bundle.manifest
    notes = unchecked_reasons(device, [("the bundle", manifest.arithmetic, manifest.bounds)])
    if not fits_in_constants(bundle.spec):
        notes.append(
            f"the decoder in constants is not checked: it exceeds {MOST_CONSTANT_BYTES >> 10} KB"
        )
    return notes + shader_notes(bundle.spec, manifest.runtime)


def shader_notes(spec: NetworkSpec, runtime: Iterable[FileRecord]) -> list[str]:
    """A note on the shaders in runtime/ that differ from the checked ones."""
    files = other_modules(spec, runtime)
    if not files:
        return []
    return [f"not checked, because this Verdigris writes other files: {', '.join(files)}"]


def unchecked_reasons(
    device: Device, parts: Iterable[tuple[str, Arithmetic | None, Bounds]]
) -> list[str]:
    """Why cooperative vectors are not checked: one line for each part that needs plain code;
    otherwise one line for a device without them."""
    reasons = [
        arithmetic.portable_reason(name, bounds)
        for name, arithmetic, bounds in parts
        if arithmetic and arithmetic.advised == PORTABLE
    ]
    if not fastest_advised(device, None).is_cooperative:
        reasons = [] if reasons else [f"{device.name} has none"]
    return [f"cooperative vectors are not checked: {reason}" for reason in reasons]


def exact_choices(
    device: Device, with_constants: bool = False, advised: str | None = None
) -> list[tuple[str, RuntimeChoice]]:
    """All choices with exact filtering that the device has and `advised` allows, by name."""
    found = [("portable", RuntimeChoice())]
    fastest = fastest_advised(device, advised)
    if fastest.is_cooperative:
        name = f"cooperative, {advised}" if fastest.way else "cooperative"
        found.append((name, fastest))
        found.append((f"{name}, row-major", replace(fastest, is_optimal=False)))
    if with_constants:
        which = [each for each in found if each[1].is_optimal]
        found += [(f"{name}, constants", replace(way, is_constant=True)) for name, way in which]
    return found


def find_device(
    choice: str | None, report: Callable[[str], object], is_needed: bool = False
) -> Device | None:
    """Opens the device. If there is none, reports that and returns None, unless one is needed."""
    try:
        return open_device(choice)
    except DeviceError as failure:
        if choice or is_needed:
            raise
        report(f"only numpy is checked: {failure}")
        return None
