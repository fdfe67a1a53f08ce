"""Verifies a scene pack: each material against its own reference."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.files.manifest import has_sampler
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.bundle.verify.device_decoders import (
    exact_choices,
    shader_notes,
    unchecked_reasons,
)
from verdigris.core.bundle.verify.relief_rows import relief_rows
from verdigris.core.bundle.verify.rows import (
    Decoder,
    albedo_rows,
    decoder_rows,
    numpy_sampler,
    sampler_rows,
    teacher_rows,
    texture_rows,
    transmitted_albedo_rows,
)
from verdigris.core.bundle.verify.sphere_density import density_row
from verdigris.core.bundle.verify.verify import Verification, parameters_decoder, teacher_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.runtime.device_materials import RuntimeChoice, StoredMaterial
    from verdigris.core.bundle.scene.scene_material import SceneMaterial
    from verdigris.core.bundle.scene.scene_pack import ScenePack
    from verdigris.core.bundle.verify.rows import Row
    from verdigris.core.network.parameters import Parameters

# Textures on the device at a time: well below what devices can bind.
AT_ONCE = 64


def verify_scene(scene: ScenePack, device: Device | None = None) -> Verification:
    """Checks every file, then numpy and every exact decoder of the device on each material."""
    scene.check_files()
    rows, unchecked = [], []
    sides = [side for material in scene.materials for side in material.sides]
    on_device = iter(_device_rows(scene, sides, device) if device else [[] for _ in sides])
    for material, parameters in zip(scene.materials, scene.parameters(), strict=True):
        bounds = material.bounds
        above, *below = (
            _side_rows(scene, side, own, next(on_device))
            for side, own in zip(material.sides, parameters.sides, strict=True)
        )
        reference, textures = scene.reference(material), scene.textures(material)
        found = above + texture_rows(reference, textures)
        if textures.proxies:
            found += albedo_rows(parameters.sides[0], textures.proxies, bounds)
        found += teacher_rows(material.latents.layout, reference, bounds)
        for side in below:
            found += [replace(row, what=f"transmitted: {row.what}") for row in side]
            if has_sampler(scene.tensors):
                found.append(density_row(parameters))
            if passing := scene.transmitted_albedo(material):
                found += transmitted_albedo_rows(parameters, passing, bounds)
        if heights := scene.relief(material):
            found += relief_rows(heights, None)
        rows += [replace(row, what=f"{material.name}: {row.what}") for row in found]
        unchecked += teacher_notes(f"the graph of {material.name}", reference, bounds)
    parts = [(each.name, each.arithmetic, each.bounds) for each in scene.materials]
    notes = (
        unchecked_reasons(device, parts) + shader_notes(scene.spec, scene.runtime) if device else []
    )
    return Verification(str(scene.folder), tuple(rows), (*notes, *unchecked), len(scene.materials))


def _side_rows(
    scene: ScenePack, side: SceneMaterial, parameters: Parameters, others: list[Row]
) -> list[Row]:
    """Rows of numpy for one side of a material, and those of the device."""
    reference = scene.reference(side)
    rows = decoder_rows([("numpy", parameters_decoder(parameters))], reference, side.bounds)
    return rows + sampler_rows(numpy_sampler(parameters), reference, side.bounds) + others


def _device_rows(
    scene: ScenePack, sides: Sequence[SceneMaterial], device: Device
) -> list[list[Row]]:
    """Rows of every side. One group at a time is read and uploaded, to limit memory."""
    found: list[list[Row]] = [[] for _ in sides]

    def compare(name: str, choice: RuntimeChoice, together: dict[int, StoredMaterial]) -> None:
        evaluator = QueryEvaluator(list(together.values()), device, choice)
        for index, each in enumerate(together):
            material = sides[each]
            decoders = [(name, _decoder(evaluator, index))]
            reference = scene.reference(material)
            found[each] += decoder_rows(decoders, reference, material.bounds)
            if has_sampler(scene.tensors):
                samplers = [(name, partial(evaluator.sample, material=index))]
                found[each] += sampler_rows(samplers, reference, material.bounds)

    choices = exact_choices(device, fits_in_constants(scene.spec), scene.advised)

    def compare_group(group: list[int]) -> None:
        stored = dict(zip(group, scene.stored([sides[each] for each in group]), strict=True))
        for name, choice in choices:
            for part in _by_decoder(sides, group) if choice.is_constant else [group]:
                compare(name, choice, {each: stored[each] for each in part})

    for group in _groups(sides):
        compare_group(group)
    return found


def _groups(sides: Sequence[SceneMaterial]) -> Iterator[list[int]]:
    """Groups of at most AT_ONCE sides, ordered by decoder."""
    ordered = [each for part in _by_decoder(sides, range(len(sides))) for each in part]
    for begin in range(0, len(ordered), AT_ONCE):
        yield ordered[begin : begin + AT_ONCE]


def _by_decoder(sides: Sequence[SceneMaterial], indices: Iterable[int]) -> list[list[int]]:
    """The sides by decoder, because a constant buffer holds one."""
    decoders: dict[int, list[int]] = {}
    for each in indices:
        decoders.setdefault(sides[each].weights_offset, []).append(each)
    return list(decoders.values())


def _decoder(evaluator: QueryEvaluator, material: int) -> Decoder:
    def decode(
        uv: Floats, lod: Floats, wi: Floats, wo: Floats, live: Floats | None = None
    ) -> NDArray[Any]:
        return evaluator.response(uv, lod, wi, wo, material, live=live)

    return decode
