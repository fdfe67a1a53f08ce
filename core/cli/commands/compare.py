"""`verdigris compare`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.device import open_device
from verdigris.core.base.outputs import check_apart
from verdigris.core.bundle.files.read import is_bundle, open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.cli.shared.opening import require_own_material, warn_of_changes
from verdigris.core.cli.shared.options import (
    CommandApp,
    Confined,
    DeviceChoice,
    Search,
    path_argument,
    require_at_least,
    require_in_range,
    require_known,
)
from verdigris.core.cli.shared.picture_options import (
    LiveValues,
    bundle_values,
    parse_values,
    wanted_values,
)
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
from verdigris.core.pictures.compare.comparison import compare_materials, draw_reference, sheet_of
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.pictures.render import Lighting, largest_size

app = CommandApp()

_LARGEST_PART = largest_size()
_COMPARED_SHAPES = ("sphere", "plane")
_MOST_OTHERS = 3
ComparedNames = Annotated[
    list[str] | None,
    typer.Option(
        "--material",
        "-m",
        metavar="NAME",
        help="The material's name, if a document has several. Once for all documents, or once for "
        "each of them in their order.",
    ),
]


@app.add("compare copper_tray.mtlx copper_tray.vdg -o compared.png")
def compare(
    files: Annotated[
        list[Path],
        path_argument(
            "REFERENCE OTHER...", f"Documents or bundles: the reference, and up to {_MOST_OTHERS}."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "--out", "-o", help="The picture: .png or .exr.")
    ],
    size: Annotated[
        int, typer.Option(help=f"Width of each picture in pixels, 1 to {_LARGEST_PART}.")
    ] = 384,
    view: Annotated[str, typer.Option(help="sphere or plane.")] = "sphere",
    environment: Annotated[
        float, typer.Option(help="Brightness of the studio. 0 leaves only one light.")
    ] = 0.8,
    live: LiveValues = None,
    material: ComparedNames = None,
    search: Search = None,
    confined: Confined = False,
    device: DeviceChoice = None,
) -> None:
    """Draws two to four materials and maps of their difference.

    A map shows FLIP, compared with the first material. The pictures show light of one lamp and a
    studio that surfaces reflect or transmit, without emission, before a backdrop. The printed PSNR
    and FLIP belong to these pictures. `measure` uses another light and prints other figures.
    """
    require_known(view, _COMPARED_SHAPES, "--view")
    check_picture_path(output)
    require_in_range(size, 1, _LARGEST_PART, "--size")
    lighting = Lighting(
        environment=require_at_least(environment, 0.0, "--environment"), emission=0.0
    )
    if not 2 <= len(files) <= 1 + _MOST_OTHERS:
        raise typer.BadParameter(
            f"{len(files)} files: name the reference and 1 to {_MOST_OTHERS} others",
            param_hint="REFERENCE OTHER...",
        )
    bundles = {path: open_bundle(path) for path in files if is_bundle(path)}
    documents = [
        load_document(path, search or (), confined) for path in files if path not in bundles
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
            warn_of_changes(bundle, teacher)
    graphs = iter(teachers)
    shown: list[DeviceMaterial] = [
        BundleMaterial(bundles[path], opened) if path in bundles else next(graphs) for path in files
    ]
    for path, drawn in zip(files, shown, strict=True):
        # a document is drawn at the values of the bundle
        drawn.live = shares.get(path, next(iter(shares.values()), drawn.live))
    drawn_first = draw_reference(shown[0], view, size, lighting)
    found = [
        compare_materials(shown[0], other, view, size, lighting, drawn=drawn_first)
        for other in shown[1:]
    ]
    write_picture(output, sheet_of(found))
    light = "one light and a studio" if environment else "one light"
    of = f"(of this picture without emission, lit by {light}; measure uses another light)"
    for path, compared in zip(files[1:], found, strict=True):
        name = f"{output}, {path.name}" if len(found) > 1 else str(output)
        print(f"{name}: PSNR {compared.psnr:.1f} dB, FLIP {compared.flip:.4f} {of}")


def _compared_materials(
    documents: Sequence[Document], names: Sequence[str]
) -> list[tuple[Document, Material]]:
    """A material of each document. As many names name one each; one name is for all."""
    if len(names) == len(documents) > 1:
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
