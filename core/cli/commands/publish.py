"""`verdigris publish`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.text import counted
from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.bundle.verify.verify import source_notes
from verdigris.core.cli.shared.options import (
    CommandApp,
    Confined,
    DeviceChoice,
    Search,
    path_argument,
    require_in_range,
)
from verdigris.core.cli.shared.terminal import progress_line, warn
from verdigris.core.geometry.mesh import in_atlas, load_mesh
from verdigris.core.ladder.mesh.baked_mesh import find_points
from verdigris.core.material.load.mtlx_document import Document, load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.publish import (
    Published,
    check_page_path,
    draw_references,
    preview_reference,
    write_page,
)

app = CommandApp()

_LARGEST_PICTURE = 2048


@app.add("publish tray.vdg --source copper_tray.mtlx -o review.html")
def publish(
    bundles: Annotated[list[Path], path_argument("BUNDLE...", "Bundles (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, NAME.html.")],
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--source",
            help="A document from which bundles were baked. The page then compares with pictures "
            "of the source material in the studio and under a sky, instead of the small picture "
            "in each bundle. Repeatable.",
        ),
    ] = None,
    mesh: Annotated[
        Path | None,
        typer.Option(help="A mesh (.obj, .usd) on which the page also shows the materials."),
    ] = None,
    title: Annotated[
        str | None, typer.Option(help="The page's title. Default: the materials' names.")
    ] = None,
    size: Annotated[
        int,
        typer.Option(
            help=f"Width of the pictures of --source in pixels, 16 to {_LARGEST_PICTURE}."
        ),
    ] = 384,
    search: Search = None,
    confined: Confined = False,
    device: DeviceChoice = None,
) -> None:
    """Writes a web page that shows bundles on any computer or phone.

    On the page, people turn the materials, move the light and compare with the source. The page is
    one file, which needs neither a server nor a network.
    """
    check_page_path(output)
    require_in_range(size, 16, _LARGEST_PICTURE, "--size")
    opened = [open_bundle(path) for path in bundles]
    for bundle in opened:
        bundle.check_files()
    tiles = {bundle.manifest.tiles for bundle in opened}
    if mesh and len(tiles) > 1:
        raise VerdigrisError(
            f"{mesh}: the bundles have different UDIM tiles: publish each of them by itself with "
            "the mesh"
        )
    shape = in_atlas(load_mesh(mesh), tiles.pop()) if mesh else None
    sources = _open_sources(source, opened, search, confined)
    published = _with_references(opened, sources, size, device)
    size_of_page = write_page(output, published, title or "", shape, mesh.stem if mesh else "")
    pictures = counted(sum(len(each.references) for each in published), "reference picture")
    print(f"{output}: {counted(len(opened), 'material')}, {pictures}, {size_of_page / 1e6:.2f} MB")


def _open_sources(
    paths: Sequence[Path] | None,
    bundles: Sequence[Bundle],
    search: list[Path] | None,
    confined: bool,
) -> dict[int, Document]:
    """The document of each bundle, by the bundle's place. Every document must belong to a
    bundle."""
    found: dict[int, Document] = {}
    for path in paths or ():
        document = load_document(path, search or (), confined)
        own = {
            place: document
            for place, bundle in enumerate(bundles)
            if document.find_material(bundle.source_name)
        }
        if not own:
            names = ", ".join(repr(bundle.source_name) for bundle in bundles)
            raise typer.BadParameter(
                f"{path} contains none of the materials {names}: name the document of a bundle, or "
                "leave it out",
                param_hint="--source",
            )
        found |= own
    return found


def _with_references(
    bundles: Sequence[Bundle], sources: dict[int, Document], size: int, device: str | None
) -> list[Published]:
    on = open_device(device) if sources else None
    result = []
    with progress_line() as show:
        for place, bundle in enumerate(bundles):
            document = sources.get(place)
            if document is None or on is None:
                small = preview_reference(bundle)
                result.append(Published(bundle, (small,) if small else ()))
                continue
            before = sum(each < place for each in sources)

            def of_all(part: float, before: int = before) -> None:
                show("drawing", (before + part) / len(sources))

            result.append(_draw(bundle, document, on, size, of_all))
    return result


def _draw(
    bundle: Bundle,
    document: Document,
    device: Device,
    size: int,
    on_progress: Callable[[float], None],
) -> Published:
    material = document.require_material(bundle.source_name)
    points = find_points(bundle, document, material, has_option=False)
    teacher = Teacher(document, material, device, points, bundle.wanted_live)
    for note in source_notes(bundle, teacher):
        warn(f"{bundle.manifest.name}: {note}")
    return Published(bundle, draw_references(teacher, size, on_progress))
