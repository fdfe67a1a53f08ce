"""`verdigris ladder`"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.baking.fit_ladder import fit_ladder
from verdigris.core.baking.ladder_request import LadderRequest
from verdigris.core.base.device import open_device
from verdigris.core.base.text import counted, format_bytes
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    path_argument,
)
from verdigris.core.cli.shared.picture_options import Hdri, Rotate, open_environment
from verdigris.core.cli.shared.terminal import progress_line, warn
from verdigris.core.hosts.ladder_looks import describe_switch
from verdigris.core.importance.camera import read_camera
from verdigris.core.importance.maps import read_importance
from verdigris.core.ladder.mesh.mesh_surface import load_surface
from verdigris.core.ladder.output.write_ladder import PAGE
from verdigris.core.ladder.rungs.neural import NeuralRung
from verdigris.core.ladder.rungs.registry import RUNGS
from verdigris.core.lighting.environment import STUDIO

app = CommandApp()

_DEFAULT_RUNGS = "pbr,unlit,reflection,detail,vertex"
_NOWHERE = "visibly different at all sizes"


@dataclass(frozen=True)
class FitOptions:
    """What is fitted, to which views, and how long."""

    rungs: Annotated[
        str,
        typer.Option(
            help="Rungs to fit, separated by commas: "
            f"{', '.join(f'{each.name} ({each.stores})' for each in RUNGS)}."
        ),
    ] = _DEFAULT_RUNGS
    size: Annotated[int, typer.Option(help="Texels per side of the textures, 4 to 4096.")] = 256
    uv: Annotated[
        str | None,
        typer.Option(
            help="The uv set of "
            f"{', '.join(each.name for each in RUNGS if each.is_on_material_set)}. Default: the "
            "mesh's first."
        ),
    ] = None
    views: Annotated[
        int | None, typer.Option(help="Number of views around the mesh for the fit.")
    ] = None
    held_out: Annotated[
        int | None, typer.Option(help="Number of other views, which are only measured.")
    ] = None
    steps: Annotated[
        int | None,
        typer.Option(
            help="Steps of the fit of glTF textures. Rungs that store light take a fifth of them."
        ),
    ] = None
    bundle: Annotated[
        Path | None, typer.Option(help="The bundle for the rung neural. Default: bake one.")
    ] = None
    preset: Annotated[str, typer.Option(help="Preset of the bake for the rung neural.")] = ""
    ktx: Annotated[bool, typer.Option("--ktx/--no-ktx", help="Also write KTX 2.0 textures.")] = True
    texture_format: Annotated[
        str,
        typer.Option(
            help="Format of KTX 2.0 textures: rgba8, or bc7 for block compression (BC7; BC5 for "
            "normals and coats; BC4 for one channel)."
        ),
    ] = "rgba8"

    def request(self, output: Path) -> LadderRequest:
        """The request for a ladder in this folder."""
        names = tuple(word.strip() for word in self.rungs.split(",") if word.strip())
        counts = {name: getattr(self, name) for name in ("views", "steps", "held_out")}
        changes: dict[str, Any] = {name: each for name, each in counts.items() if each is not None}
        changes["texture_format"] = self.texture_format
        request = LadderRequest(
            output, names, self.size, changes, self.uv, self.preset, self.bundle, self.ktx
        )
        if self.preset and not request.has_baked:
            needed = f"needs the rung {NeuralRung.name} in --rungs"
            raise typer.BadParameter(needed, param_hint="--preset")
        return request


@app.add("ladder copper_tray.mtlx --mesh tray.obj -o out")
def ladder(
    file: Annotated[
        Path,
        path_argument("FILE", "A MaterialX document (.mtlx) or a shader file (.slang, .hlsl)."),
    ],
    mesh: Annotated[Path, typer.Option(help="The mesh: .obj or .usd.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for all results.")],
    *,
    given: FitOptions,
    hdri: Hdri = None,
    rotate: Rotate = 0.0,
    camera: Annotated[
        list[Path] | None,
        typer.Option(
            help="Fit to this camera (.json, as for `weights from-view`) instead of views around "
            "the mesh. Repeatable."
        ),
    ] = None,
    importance: Annotated[
        Path | None, typer.Option(help="An importance map in the first uv set: see `weights`.")
    ] = None,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Fits forms of a material on a mesh, for slower devices.

    The rungs go from the neural material down to vertex colours. ladder.html in the folder compares
    them. docs/LADDER.md explains the rest.
    """
    request = given.request(output)
    opened = open_device(device)
    surface = load_surface(mesh)
    cameras = [read_camera(each) for each in camera or ()]
    weights = read_importance(importance) if importance else None
    environment = open_environment(hdri or STUDIO, rotate)
    document = options.load(file)
    chosen = document.require_material(options.material)
    with progress_line() as show:
        report = fit_ladder(
            document, chosen, surface, environment, opened, request, cameras, weights, show
        )
    if as_json:
        print(json.dumps(report, indent=1))
        return
    for warning in report["warnings"]:
        warn(warning)
    for rung in report["rungs"]:
        print(
            f"{rung['name']:<11} {format_bytes(rung['bytes']):>9}   FLIP {rung['flip']:.3f} "
            f"({rung['flip_of_pictures']:.3f} with background)   "
            f"{'good ' + describe_switch(rung) if rung['switch_pixels'] else _NOWHERE:<30} "
            f"{rung['seconds']:.0f} s"
        )
    print(f"{output / PAGE}: {counted(len(report['rungs']), 'rung')} on {mesh}")
