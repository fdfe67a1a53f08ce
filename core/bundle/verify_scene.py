"""Proves a scene: every material against its own reference, through what all of them share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.device_eval import QueryEvaluator, exact_choices, left_out, shader_notes
from verdigris.core.bundle.runtime import fits_in_constants
from verdigris.core.bundle.verify import (
    Decoder,
    Row,
    Verification,
    decoder_rows,
    parameters_decoder,
    teacher_notes,
    teacher_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from verdigris.core.bundle.device_materials import RuntimeChoice, Stored
    from verdigris.core.bundle.reference import Floats
    from verdigris.core.bundle.scene import Scene
    from verdigris.core.device import Device

# Textures that a shader sees and the device holds at a time: well within what devices bind.
_AT_ONCE = 64


def verify_scene(scene: Scene, device: Device | None = None) -> Verification:
    """Checks every file, then numpy and every exact decoder of the device, a group of whose
    materials lies in one buffer, on each material's reference."""
    scene.check_files()
    rows, unchecked = [], []
    on_device = _device_rows(scene, device) if device else [[] for _ in scene.materials]
    for material, parameters, others in zip(
        scene.materials, scene.parameters(), on_device, strict=True
    ):
        reference = scene.reference(material)
        decoders = [("numpy", parameters_decoder(parameters))]
        found = decoder_rows(decoders, reference, material.bounds) + others
        found += teacher_rows(material.latents.layout, reference, material.bounds)
        rows += [replace(row, what=f"{material.name}: {row.what}") for row in found]
        unchecked += teacher_notes(f"the graph of {material.name}", reference, material.bounds)
    parts = [(each.name, each.arithmetic, each.bounds) for each in scene.materials]
    notes = left_out(device, parts) + shader_notes(scene.spec, scene.runtime) if device else []
    return Verification(str(scene.folder), tuple(rows), (*notes, *unchecked))


def _device_rows(scene: Scene, device: Device) -> list[list[Row]]:
    """Of every material; the device holds the textures of one group at a time."""
    stored = scene.stored()
    found: list[list[Row]] = [[] for _ in stored]

    def compare(name: str, choice: RuntimeChoice, together: Sequence[int]) -> None:
        evaluator = QueryEvaluator([stored[each] for each in together], device, choice)
        for index, each in enumerate(together):
            material = scene.materials[each]
            decoders = [(name, _decoder(evaluator, index))]
            found[each] += decoder_rows(decoders, scene.reference(material), material.bounds)

    for name, choice in exact_choices(device, fits_in_constants(scene.spec), scene.advised):
        for together in _groups(stored, choice):
            compare(name, choice, together)
    return found


def _groups(stored: Sequence[Stored], choice: RuntimeChoice) -> Iterator[list[int]]:
    """The materials that a shader sees at a time: of one decoder, where that is in constants."""
    decoders: dict[bytes, list[int]] = {}
    for index, each in enumerate(stored):
        decoders.setdefault(each.weights if choice.is_constant else b"", []).append(index)
    for members in decoders.values():
        yield from (members[begin : begin + _AT_ONCE] for begin in range(0, len(members), _AT_ONCE))


def _decoder(evaluator: QueryEvaluator, material: int) -> Decoder:
    def decode(uv: Floats, lod: Floats, wi: Floats, wo: Floats) -> NDArray[Any]:
        return evaluator.response(uv, lod, wi, wo, material)

    return decode
