"""`verdigris measure` and `verdigris compare`"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.baking.measure import measure as measures
from verdigris.core.baking.measure.sky import measure_sky
from verdigris.core.base.device import open_device
from verdigris.core.base.json_fields import find_number, find_table
from verdigris.core.base.outputs import check_apart
from verdigris.core.bundle.files.read import Bundle as OpenBundle
from verdigris.core.bundle.files.read import is_bundle, open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.verify.map_differences import map_differences
from verdigris.core.bundle.verify.verify import source_notes
from verdigris.core.cli.shared.opening import open_source, open_student, require_own_material
from verdigris.core.cli.shared.options import (
    AsJson,
    Bundle,
    CommandApp,
    Confined,
    DeviceChoice,
    DocumentOptions,
    Search,
    SourceMesh,
    path_argument,
    require_at_least,
    require_in_range,
)
from verdigris.core.cli.shared.picture_options import (
    LiveValues,
    bundle_values,
    parse_values,
    wanted_values,
)
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.ladder.mesh.baked_mesh import find_points
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.load.mtlx_document import (
    Document,
    Material,
    load_document,
    select_materials,
)
from verdigris.core.material.load.provenance import files_read
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.use_material import compile_material
from verdigris.core.pictures.compare.colour_bar import with_colour_bar
from verdigris.core.pictures.compare.comparison import compare_materials
from verdigris.core.pictures.compare.heat import automatic_top, heat_colours
from verdigris.core.pictures.compare.verdict import judge_bake
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.pictures.render import PICTURE_SIZE, PICTURE_SUBPIXELS, Lighting, largest_size

app = CommandApp()

# All samples are in memory at the same time.
_MOST_SAMPLES = 1 << 24
_LARGEST_SPHERE = largest_size(PICTURE_SUBPIXELS)
_LARGEST_PART = largest_size()
_COMPARED_VIEWS = ("sphere", "plane")
ComparedNames = Annotated[
    list[str] | None,
    typer.Option(
        "--material",
        "-m",
        help="The material's name, if a document has several. Twice: for REFERENCE, then OTHER.",
    ),
]


@app.add("measure copper_tray.vdg --source copper_tray.mtlx")
def measure(
    bundle: Bundle,
    source: Annotated[
        Path, typer.Option("--source", help="The document that the bundle was baked from.")
    ],
    samples: Annotated[
        int, typer.Option(help=f"Number of held-out samples, 1 to {_MOST_SAMPLES}.")
    ] = 1 << 20,
    seed: Annotated[int, typer.Option(help="Seed of the held-out samples.")] = 0,
    size: Annotated[
        int, typer.Option(help=f"Width of the sphere's picture in pixels, 1 to {_LARGEST_SPHERE}.")
    ] = PICTURE_SIZE,
    error_map: Annotated[
        Path | None, typer.Option(help="Write a map of the error as a picture: .png or .exr.")
    ] = None,
    mesh: SourceMesh = None,
    *,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Measures the errors of a bundle against its source material.

    The reference is the material's mean over a texel of the bundle. Errors that begin with `point_`
    are against single points, so detail below a texel counts as error. The sphere's picture shows
    reflected light only; emission and opacity are compared as maps.

    Errors that begin with `sky_` are of the light that places reflect from a sky with a sun: of the
    median place, of the 90th percentile and of the worst place. The bias is the share of all light
    that is gained or lost. The bake measured albedo, energy and reciprocity. A warning reports a
    source that has changed since the bake (`warnings` in the JSON).
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
    warnings = _warn_of_changes(opened, teacher)
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
    verdict = judge_bake(on_samples, on_sphere, under_sky)
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


@app.add("compare copper_tray.mtlx copper_tray.vdg -o compared.png")
def compare(
    first: Annotated[Path, path_argument("REFERENCE", "A document or a bundle.")],
    second: Annotated[Path, path_argument("OTHER", "A document or a bundle.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")],
    size: Annotated[
        int, typer.Option(help=f"Width of each picture in pixels, 1 to {_LARGEST_PART}.")
    ] = 384,
    view: Annotated[str, typer.Option(help="sphere or plane.")] = "sphere",
    environment: Annotated[
        float, typer.Option(help="Brightness of the studio environment; 0: only one light.")
    ] = 0.8,
    live: LiveValues = None,
    material: ComparedNames = None,
    search: Search = None,
    confined: Confined = False,
    device: DeviceChoice = None,
) -> None:
    """Draws two materials and a heat map of their difference.

    The map shows FLIP. The pictures show reflected light without emission, lit by one light and a
    studio, on a backdrop. The printed PSNR and FLIP are those of these pictures. `measure` uses
    another light and has other figures.
    """
    if view not in _COMPARED_VIEWS:
        raise typer.BadParameter(
            f"{view!r} is not known: use {' or '.join(_COMPARED_VIEWS)}", param_hint="--view"
        )
    check_picture_path(output)
    require_in_range(size, 1, _LARGEST_PART, "--size")
    lighting = Lighting(
        environment=require_at_least(environment, 0.0, "--environment"), emission=0.0
    )
    bundles = {path: open_bundle(path) for path in (first, second) if is_bundle(path)}
    documents = [
        load_document(path, search or (), confined)
        for path in (first, second)
        if path not in bundles
    ]
    for path, bundle in bundles.items():
        # with a document, the names may be those of the document
        for name in () if documents else material or ():
            require_own_material(bundle, path, name)
    values = parse_values(live)
    shares = {path: bundle_values(bundle, values) for path, bundle in bundles.items()}
    names = material or [bundle.source_name for bundle in bundles.values()][:1]
    materials = _compared_materials(documents, names)
    opened = open_device(device)
    wanted = [each for bundle in bundles.values() for each in bundle.wanted_live]
    wanted = wanted if bundles else wanted_values(values)
    # a document beside a bundle is drawn as it was baked
    baked = next(iter(bundles.values()), None)
    points = [find_points(baked, *each, has_option=False) if baked else None for each in materials]
    teachers = [
        Teacher(*each, opened, where, live=wanted)
        for each, where in zip(materials, points, strict=True)
    ]
    for each in materials:
        check_apart(output, files_read(*each))
    for bundle in bundles.values():
        for teacher in teachers:
            _warn_of_changes(bundle, teacher)
    graphs = iter(teachers)
    shown: list[DeviceMaterial] = [
        BundleMaterial(bundles[path], opened) if path in bundles else next(graphs)
        for path in (first, second)
    ]
    for path, drawn in zip((first, second), shown, strict=True):
        # a document is drawn at the values of the bundle
        drawn.live = shares.get(path, next(iter(shares.values()), drawn.live))
    compared = compare_materials(shown[0], shown[1], view, size, lighting)
    write_picture(output, compared.picture)
    light = "one light and a studio" if environment else "one light"
    print(
        f"{output}: PSNR {compared.psnr:.1f} dB, FLIP {compared.flip:.4f} "
        f"(of this picture of reflected light, lit by {light}; measure uses another light)"
    )


def _warn_of_changes(bundle: OpenBundle, teacher: Teacher) -> list[str]:
    """Prints and returns what has changed in the source since the bake."""
    warnings = source_notes(bundle, teacher)
    for warning in warnings:
        warn(warning)
    return warnings


def _compared_materials(
    documents: Sequence[Document], names: Sequence[str]
) -> list[tuple[Document, Material]]:
    """A material of each document. Two names are one for each document; one name is for both."""
    if len(names) == len(documents) == 2:
        return [
            (document, document.require_material(name))
            for document, name in zip(documents, names, strict=True)
        ]
    if len(names) > 1:
        raise typer.BadParameter(
            f"{len(names)} names for {len(documents)} documents: use one for each document",
            param_hint="--material",
        )
    return select_materials(documents, names) if documents else []
