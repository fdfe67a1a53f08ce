"""`verdigris weights`: makes importance maps from meshes and views, and shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from verdigris.core.base.outputs import check_apart
from verdigris.core.cli.shared.options import AsJson, CommandApp, parse_three, require_finite
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.geometry.mesh_values import load_painted_mesh
from verdigris.core.geometry.uv_layout import FIRST_TILE
from verdigris.core.importance.camera import Camera, look_at, read_camera
from verdigris.core.importance.from_mesh import MapSettings, WeightMaps, weight_maps
from verdigris.core.importance.from_view import ViewSettings, view_maps
from verdigris.core.importance.maps import check_map_path, read_importance, write_importance
from verdigris.core.pictures.compare.heat import heat_colours
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.sampling.distribution import distribution_of

app = CommandApp(
    "weights", "Makes and shows importance maps. A map has a weight for each place on a surface."
)

MeshFile = Annotated[Path, typer.Argument(metavar="MESH", help="A mesh (.obj, .usd) with uvs.")]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="The map (.exr). Several UDIM tiles give a file each."),
]
Size = Annotated[int, typer.Option(help="Width of the map in texels.")]
Dilation = Annotated[int, typer.Option(help="Number of texels by which uv islands are extended.")]
Repeat = Annotated[
    bool, typer.Option("--repeat", help="The texture repeats: put all uvs into one map.")
]


@app.add("weights from-mesh tray.obj -a color --high 8 -o paint.exr", "from-mesh")
def from_mesh(
    mesh: MeshFile,
    attribute: Annotated[
        str,
        typer.Option(
            "--attribute",
            "-a",
            help="The painted attribute: color for OBJ, a primvar for USD. NAME.r takes one "
            "channel.",
        ),
    ],
    output: Output,
    size: Size = 1024,
    dilation: Dilation = 4,
    base: Annotated[float, typer.Option(help="Weight of texels outside of all faces.")] = 1.0,
    low: Annotated[float | None, typer.Option(help="Weight for the painted value 0.")] = None,
    high: Annotated[float | None, typer.Option(help="Weight for the painted value 1.")] = None,
    repeat: Repeat = False,
) -> None:
    """Makes an importance map from an attribute painted on a mesh.

    Weights are relative: 1 is normal, 8 gets eight times as many samples, 0 gets none. The painted
    values are the weights. With --low and --high, values from 0 to 1 become weights between the
    two.
    """
    check_map_path(output)
    settings = MapSettings(size, dilation, base, "repeat" if repeat else "udim", wraps=repeat)
    ends = (0.0, 1.0)
    if low is not None or high is not None:
        ends = (
            1.0 if low is None else require_finite(low, "--low"),
            1.0 if high is None else require_finite(high, "--high"),
        )
    loaded, weights, warnings = load_painted_mesh(mesh, attribute, *ends)
    maps = weight_maps(loaded.uv, weights, settings)
    _write(maps, output, warnings)


@app.add("weights from-view tray.obj --camera shot.json -o seen.exr", "from-view")
def from_view(
    mesh: MeshFile,
    output: Output,
    camera: Annotated[
        Path | None,
        typer.Option(
            help="The camera (.json): matrix (camera to world, position in the last row), fov, "
            "resolution."
        ),
    ] = None,
    eye: Annotated[str | None, typer.Option(help="The camera's position: x,y,z.")] = None,
    target: Annotated[
        str | None, typer.Option(help="The position that the camera looks at: x,y,z.")
    ] = None,
    up: Annotated[str, typer.Option(help="The up direction: x,y,z.")] = "0,1,0",
    fov: Annotated[float, typer.Option(help="Horizontal field of view in degrees.")] = 40.0,
    resolution: Annotated[str, typer.Option(help="Size of the picture in pixels: WxH.")] = (
        "1920x1080"
    ),
    hidden: Annotated[
        float, typer.Option(help="Weight of texels that the camera does not see.")
    ] = 0.1,
    most: Annotated[float, typer.Option(help="Largest weight.")] = 8.0,
    size: Size = 1024,
    dilation: Dilation = 4,
    repeat: Repeat = False,
) -> None:
    """Makes an importance map from a camera's view.

    The weight of a texel grows with its size in the picture. The mean weight of visible texels is
    1.
    """
    check_map_path(output)
    by_places = eye is not None and target is not None
    if (camera is not None) == by_places or (camera is not None and (eye or target)):
        raise typer.BadParameter("use either --camera, or --eye and --target")
    seen_by: Camera
    if camera is not None:
        seen_by = read_camera(camera)
    else:
        across, _, down = resolution.partition("x")
        if not (across.isdecimal() and down.isdecimal()):
            raise typer.BadParameter(
                f"{resolution!r} is not a size: use WxH, such as 1920x1080",
                param_hint="--resolution",
            )
        at, towards = parse_three(eye or "", "--eye"), parse_three(target or "", "--target")
        pixels = int(across), int(down)
        seen_by = look_at(at, towards, parse_three(up, "--up"), fov, pixels)
    settings = MapSettings(size, dilation, hidden, "repeat" if repeat else "udim", wraps=repeat)
    _write(
        view_maps(load_mesh(mesh, is_upright=False), seen_by, ViewSettings(hidden, most), settings),
        output,
    )


@app.add("weights show paint.exr -o paint.png", "show")
def show(
    map_file: Annotated[Path, typer.Argument(metavar="MAP", help="An importance map.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Draw the map to this file (.png).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prints statistics of a map, and draws it.

    Black is the weight 0, and pale yellow is the largest weight.
    """
    if output:
        check_picture_path(output)
        check_apart(output, [map_file])
    weights = read_importance(map_file)
    found: dict[str, Any] = {"map": str(map_file), **_statistics(weights)}
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name:<22} {value:.4g}" if isinstance(value, float) else f"{name:<22} {value}")
    if output:
        write_picture(output, heat_colours(weights, float(weights.max()))[::-1])


def _statistics(weights: NDArray[np.float32]) -> dict[str, Any]:
    densities = distribution_of(weights).densities
    if not densities.size:
        densities = np.ones_like(weights)
    live = weights[weights > 0]
    painted = weights > 1
    return {
        "size": f"{weights.shape[1]} x {weights.shape[0]}",
        "least": float(weights.min()),
        "least_live": float(live.min()),
        "mean": float(weights.mean(dtype=np.float64)),
        "most": float(weights.max()),
        "left_out": float((weights == 0).mean()),
        "above_1": float(painted.mean()),
        "samples_above_1": float(densities[painted].sum(dtype=np.float64) / densities.size),
        "times_as_dense": float(densities.max()),
    }


def _write(maps: WeightMaps, output: Path, warnings: tuple[str, ...] = ()) -> None:
    for warning in (*warnings, *maps.warnings):
        warn(warning)
    is_one = list(maps.tiles) == [FIRST_TILE]
    for number, tile in sorted(maps.tiles.items()):
        path = output if is_one else output.with_name(f"{output.stem}.{number}{output.suffix}")
        write_importance(path, tile.weights)
        share = tile.covered / tile.weights.size
        print(f"{path}: {tile.weights.min():g} to {tile.weights.max():g}, {share:.0%} covered")
