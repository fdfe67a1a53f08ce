"""`verdigris measure` and `verdigris compare`"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.commands.opening import open_teacher
from verdigris.core.commands.options import (
    AllowOutside,
    AsJson,
    DeviceChoice,
    MaterialName,
    Search,
    at_least,
)

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial


def measure(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A baked result (.npz).")],
    source: Annotated[Path, typer.Option("--source", help="The document it was baked from.")],
    samples: Annotated[int, typer.Option(help="Held-out samples.")] = 1 << 20,
    seed: Annotated[int, typer.Option(help="Where the held-out samples start.")] = 0,
    size: Annotated[int, typer.Option(help="Pixels a side of the sphere.")] = 256,
    error_map: Annotated[
        Path | None, typer.Option(help="Write the error by place as a picture.")
    ] = None,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Measures a result against the material that it was baked from.

    The reference is the material's mean over a texel of the result, which is the most that the
    result can hold; `point_…` are errors against single points, where finer detail counts too.
    """
    from verdigris.core.device import open_device
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.files import check_picture_path, write_picture
    from verdigris.core.pictures.heat import heat_colours
    from verdigris.core.training import measure as measures
    from verdigris.core.training.checkpoint import load

    count = int(at_least(samples, 1, "--samples"))
    at_least(seed, 0, "--seed")
    if error_map:
        check_picture_path(error_map)
    opened = open_device(device)
    saved = load(result)
    number = saved.require_material(material)
    student = Student(saved.parameters, opened, number)
    teacher = open_teacher(source, saved.source_names[number], search, allow_outside, opened)
    footprint = measures.texel_footprint(saved.parameters.layout.width)
    held_out = measures.draw_held_out(teacher, count, seed, footprint)
    on_samples = measures.measure_student(student, held_out)
    at_points = measures.measure_student(student, measures.draw_held_out(teacher, count, seed))
    sphere = measures.draw_sphere(teacher, size, footprint)
    on_sphere = measures.measure_pictures(student, sphere)
    if error_map:
        errors = measures.error_map(student, held_out, min(size, 256))
        write_picture(error_map, heat_colours(errors)[::-1])
    found = {
        "result": str(result),
        "material": saved.names[number],
        "samples": count,
        "seed": seed,
        **asdict(on_samples),
        **{f"point_{name}": value for name, value in asdict(at_points).items()},
        **{f"sphere_{name}": value for name, value in asdict(on_sphere).items()},
    }
    if as_json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:<16} {value:.5g}" if isinstance(value, float) else f"{name:<16} {value}")


def compare(
    first: Annotated[Path, typer.Argument(metavar="REFERENCE", help="A document or a result.")],
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="A document or a result.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture (.png).")],
    size: Annotated[int, typer.Option(help="Pixels a side of each part.")] = 384,
    view: Annotated[str, typer.Option(help="sphere or plane.")] = "sphere",
    environment: Annotated[float, typer.Option(help="Brightness of the studio.")] = 0.8,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    device: DeviceChoice = None,
) -> None:
    """Draws two materials and the FLIP heat map of their difference, side by side."""
    import numpy as np

    from verdigris.core.device import open_device
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.files import check_picture_path, write_picture
    from verdigris.core.pictures.heat import heat_colours
    from verdigris.core.pictures.render import Lighting, over_backdrop, render
    from verdigris.core.training.checkpoint import load
    from verdigris.core.training.metrics import ldr_flip, psnr

    check_picture_path(output)
    opened = open_device(device)
    lighting = Lighting(environment=at_least(environment, 0.0, "--environment"), emission=0.0)
    results = {path: load(path) for path in (first, second) if path.suffix == ".npz"}
    in_document = material
    for saved in results.values():
        # a document may call by another name what a result holds
        in_document = saved.source_names[saved.require_material(material)]
    pictures = []
    for path in (first, second):
        if path in results:
            number = results[path].require_material(material)
            shown: DeviceMaterial = Student(results[path].parameters, opened, number)
        else:
            shown = open_teacher(path, in_document, search, allow_outside, opened)
        picture = render(shown, view, size, lighting=lighting, is_flat=True)
        pictures.append(over_backdrop(picture))
    reference, other = pictures
    flip, heat = ldr_flip(other, reference)
    write_picture(output, np.concatenate([reference, other, heat_colours(heat)], axis=1))
    print(f"{output}: PSNR {psnr(other, reference):.1f} dB, FLIP {flip:.4f}")
