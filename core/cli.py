"""The `verdigris` command. Each command imports its work when it runs: help answers at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from verdigris.core.errors import VerdigrisError

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="verdigris",
    help="Bakes MaterialX materials into compact neural materials for games.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A MaterialX document (.mtlx).")]
MaterialName = Annotated[
    str | None, typer.Option("--material", "-m", help="Which material, when FILE has several.")
]
Search = Annotated[
    list[Path] | None,
    typer.Option(
        "--search", "-s", help="A folder that textures and includes may lie in; repeatable."
    ),
]
AllowOutside = Annotated[
    bool,
    typer.Option(
        "--allow-outside", help="Let FILE refer to files outside its folder and --search."
    ),
]
DeviceChoice = Annotated[
    str | None,
    typer.Option(
        "--device",
        help="auto, software, vulkan, d3d12, metal or cuda; with an adapter number: vulkan:1.",
    ),
]


@app.command()
def inspect(
    file: File,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    probe: Annotated[
        bool, typer.Option(help="Evaluate the material to see whether it reflects anything.")
    ] = True,
    device: DeviceChoice = None,
) -> None:
    """Says what is in a document, and what of each material a bake keeps, approximates or drops."""
    from verdigris.core.material.document import load_document
    from verdigris.core.material.report import describe, print_reports

    document = load_document(file, search or (), allow_outside)
    reports = describe(document, material, probe=probe, device_choice=device)
    if as_json:
        print(
            json.dumps({"file": str(file), "materials": [r.as_json() for r in reports]}, indent=2)
        )
    else:
        print_reports(str(file), reports)
    if any(report.problem for report in reports):
        raise typer.Exit(EXIT_FAILURE)


@app.command()
def render(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")],
    view: Annotated[str, typer.Option(help="sphere, plane or mesh.")] = "sphere",
    mesh: Annotated[
        Path | None, typer.Option(help="An OBJ or USD file, for the view 'mesh'.")
    ] = None,
    size: Annotated[int, typer.Option(help="Pixels a side.")] = 512,
    reference: Annotated[
        bool, typer.Option("--reference", help="Draw the material's own graph.")
    ] = False,
    environment: Annotated[
        float, typer.Option(help="Brightness of the studio; 0 leaves one light alone.")
    ] = 0.8,
    light: Annotated[
        str, typer.Option(help="Direction towards the light: x right, y up, z to the viewer.")
    ] = "-0.45,0.6,0.66",
    samples: Annotated[int, typer.Option(help="Studio directions at each sub-pixel.")] = 32,
    material: MaterialName = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    device: DeviceChoice = None,
) -> None:
    """Draws a material on a sphere, a plane or a mesh."""
    from verdigris.core.device import open_device
    from verdigris.core.material.document import load_document
    from verdigris.core.material.teacher import Teacher
    from verdigris.core.pictures.files import check_picture_path, write_picture
    from verdigris.core.pictures.mesh import load_mesh
    from verdigris.core.pictures.render import Lighting, over_backdrop
    from verdigris.core.pictures.render import render as draw

    check_picture_path(output)
    lighting = Lighting(
        direction=_direction(light),
        environment=_at_least(environment, 0.0, "--environment"),
        samples=int(_at_least(samples, 1, "--samples")),
    )
    shape = load_mesh(mesh) if mesh else None
    document = load_document(file, search or (), allow_outside)
    teacher = Teacher(document, document.require_material(material), open_device(device))
    picture = draw(teacher, "mesh" if mesh and view == "sphere" else view, size, shape, lighting)
    is_png = output.suffix.lower() == ".png"
    write_picture(output, over_backdrop(picture) if is_png else picture)
    print(f"{output}: {teacher.material.name}, {size} x {size}, on {teacher.device}")


def _direction(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not three numbers: x,y,z", param_hint="--light"
        ) from None
    if not 1e-12 < x * x + y * y + z * z < 1e12:
        raise typer.BadParameter(f"{text!r} has no direction", param_hint="--light")
    return x, y, z


def _at_least(value: float, low: float, option: str) -> float:
    if not value >= low:
        raise typer.BadParameter(f"{value} is less than {low}", param_hint=option)
    return value


def main() -> None:
    """Runs the command: exit 0 when done, 1 when it failed, 2 when it was used wrongly."""
    try:
        app()
    except VerdigrisError as failure:
        print(f"verdigris: {failure}", file=sys.stderr)
        sys.exit(EXIT_FAILURE)
    except KeyboardInterrupt:
        print("verdigris: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
