"""`verdigris measure`"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.baking.measure import measure as measures
from verdigris.core.baking.measure.sky import measure_sky
from verdigris.core.base.device import open_device
from verdigris.core.base.json_fields import find_number, find_table
from verdigris.core.base.outputs import check_apart
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.verify.rows import map_differences
from verdigris.core.cli.shared.opening import open_source, open_student, warn_of_changes
from verdigris.core.cli.shared.options import (
    AsJson,
    Bundle,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    SourceMesh,
    require_at_least,
    require_in_range,
)
from verdigris.core.material.evaluator import compile_material
from verdigris.core.material.load.provenance import files_read
from verdigris.core.pictures.compare.heat import automatic_top, heat_colours, with_colour_bar
from verdigris.core.pictures.compare.verdict import judge_bake
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.pictures.render import PICTURE_SIZE, PICTURE_SUBPIXELS, largest_size

app = CommandApp()

# All samples are in memory at the same time.
_MOST_SAMPLES = 1 << 24
_LARGEST_SPHERE = largest_size(PICTURE_SUBPIXELS)


@app.add("measure copper_tray.vdg --source copper_tray.mtlx")
def measure(
    bundle: Bundle,
    source: Annotated[
        Path, typer.Option("--source", help="The document from which the bundle was baked.")
    ],
    samples: Annotated[
        int, typer.Option(help=f"Number of held-out samples, 1 to {_MOST_SAMPLES}.")
    ] = 1 << 20,
    seed: Annotated[int, typer.Option(help="Seed of the held-out samples.")] = 0,
    size: Annotated[
        int, typer.Option(help=f"Width of the sphere's picture in pixels, 1 to {_LARGEST_SPHERE}.")
    ] = PICTURE_SIZE,
    error_map: Annotated[
        Path | None, typer.Option(help="Write a map of the errors as a picture: .png or .exr.")
    ] = None,
    mesh: SourceMesh = None,
    *,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Measures the errors of a bundle against its source material.

    The reference is the material's mean over a texel of the bundle. Errors that begin with `point_`
    compare single points instead, so detail below a texel counts as error. The sphere's picture
    shows reflected and transmitted light; emission and opacity are compared as maps.

    Errors that begin with `sky_` compare the light of a sky with a sun that places reflect or
    transmit: at the median place, at the 90th percentile and at the worst place. The bias is the
    share of all light that is gained or lost. Albedo, energy and reciprocity come from the bake. It
    warns if the source has changed since the bake (`warnings` in the JSON).
    """
    require_in_range(samples, 1, _MOST_SAMPLES, "--samples")
    require_at_least(seed, 0, "--seed")
    require_in_range(size, 1, _LARGEST_SPHERE, "--size")
    if error_map:
        check_picture_path(error_map)
    opened = open_bundle(bundle)
    chosen = open_device(device)
    student = open_student(opened, chosen)
    teacher = open_source(opened, source, options, chosen, mesh)
    if error_map:
        check_apart(error_map, files_read(teacher.document, teacher.material))
    compile_material(teacher)
    warnings = warn_of_changes(opened, teacher)
    view = measures.sphere_to_compare(size)
    footprint = measures.texel_footprint(opened.nominal_side)
    held_out = measures.draw_held_out(teacher, samples, seed, footprint)
    on_samples = measures.measure_student(student, held_out)
    at_points = measures.measure_student(student, measures.draw_held_out(teacher, samples, seed))
    on_sphere = measures.measure_pictures(teacher, student, view)
    under_sky = measure_sky(teacher, student, opened.nominal_side)
    maps = map_differences(opened, teacher)
    if error_map:
        errors = measures.error_map(student, held_out, min(size, 256))
        top = automatic_top(errors)
        write_picture(error_map, with_colour_bar(heat_colours(errors, top)[::-1], top))
    found = {
        "bundle": str(bundle),
        "material": opened.manifest.name,
        "samples": samples,
        "seed": seed,
        **asdict(on_samples),
        **{f"point_{name}": value for name, value in asdict(at_points).items()},
        **{f"sphere_{name}": value for name, value in asdict(on_sphere).items()},
        **{f"sky_{name}": value for name, value in asdict(under_sky).items()},
        **({} if maps.emission is None else {"emission_log_mae": maps.emission}),
        **({} if maps.opacity is None else {"opacity_mae": maps.opacity}),
        **_baked_figures(opened.manifest.errors),
    }
    preset = str(opened.manifest.source.get("preset", ""))
    verdict = judge_bake(on_samples, on_sphere, under_sky, preset)
    if as_json:
        judged = {"dots": verdict.dots, "verdict": verdict.text} if verdict else {}
        print(json.dumps({**found, **judged, "warnings": warnings}, indent=2))
        return
    if verdict:
        print(verdict.line)
    width = max(map(len, found))
    for name, value in found.items():
        shown = f"{value:.5g}" if isinstance(value, float) else value
        print(f"{name:<{width}} {shown}")


def _baked_figures(errors: Mapping[str, Any]) -> dict[str, float]:
    """Figures of a bundle's own response, from its untrusted manifest."""
    found = {
        f"{table}_{name}": find_number(find_table(errors, table), name)
        for table, name in (
            ("albedo", "median"),
            ("albedo", "percentile_90"),
            ("energy", "largest_albedo"),
            ("reciprocity", "median"),
            ("reciprocity", "percentile_90"),
        )
    }
    return {name: value for name, value in found.items() if value is not None}
