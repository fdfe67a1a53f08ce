"""Options that commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from verdigris.core.base.errors import why_no_folder

Number = TypeVar("Number", int, float)


def _folders(paths: list[Path] | None) -> list[Path] | None:
    """The folders, or an error of usage that names what is none."""
    for path in paths or ():
        why = why_no_folder(path)
        if why:
            raise typer.BadParameter(f"{why}: correct it, or leave it out")
    return paths


def path_argument(metavar: str, text: str) -> Any:
    """An argument that names a file or a bundle. That it may not be read is told by whoever reads
    it, and is no wrong use."""
    return typer.Argument(metavar=metavar, help=text, readable=False)


PRESETS_IN_WORDS = "draft, standard or final; unless said, draft on a processor, standard on a GPU."
File = Annotated[Path, path_argument("FILE", "A MaterialX document (.mtlx).")]
FileOrBundle = Annotated[
    Path, path_argument("FILE", "A MaterialX document (.mtlx), or what a bake has made (.vdg).")
]
Bundle = Annotated[Path, path_argument("BUNDLE", "What a bake has made (.vdg).")]
MaterialName = Annotated[
    str | None, typer.Option("--material", "-m", help="Which material, when FILE has several.")
]
MaterialNames = Annotated[
    list[str] | None,
    typer.Option("--material", "-m", help="Which material, when a FILE has several; repeatable."),
]
Search = Annotated[
    list[Path] | None,
    typer.Option(
        "--search",
        "-s",
        callback=_folders,
        help="A folder that textures and includes may lie in; repeatable.",
    ),
]
AllowOutside = Annotated[
    bool,
    typer.Option("--allow-outside", help="Let FILE name files outside its folder and --search."),
]
DeviceChoice = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="auto, software, vulkan, d3d12, metal or cuda; with an adapter number: vulkan:1.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def at_least(value: float, low: float, option: str) -> float:
    """The value, or an error of usage that names its option."""
    if finite(value, option) < low:
        raise typer.BadParameter(f"{value} is less than {low}", param_hint=option)
    return value


def finite(value: float, option: str) -> float:
    """The value, or an error of usage that names its option."""
    if not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number", param_hint=option)
    return value


def in_range(value: Number, low: Number, high: Number, option: str) -> Number:
    """The value, or an error of usage that names its option and both ends."""
    if not low <= value <= high:
        raise typer.BadParameter(f"{value} is not in the range {low} to {high}", param_hint=option)
    return value


def chosen_view(view: str | None, mesh: Path | None) -> str:
    """The view that was asked for, which a mesh is drawn in only where it is that of one."""
    from verdigris.core.pictures.render import VIEWS

    if view not in (None, *VIEWS):
        raise typer.BadParameter(
            f"{view!r} is not known: use {' or '.join(VIEWS)}", param_hint="--view"
        )
    if view == "mesh" and not mesh:
        raise typer.BadParameter("'mesh' needs one: name its file with --mesh", param_hint="--view")
    if mesh and view not in (None, "mesh"):
        raise typer.BadParameter(
            f"{mesh} is not drawn in the view {view!r}: leave that out", param_hint="--mesh"
        )
    return view or ("mesh" if mesh else "sphere")
