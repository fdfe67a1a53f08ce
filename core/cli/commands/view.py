"""`verdigris view`"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import fastest_advised
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.cli.shared.opening import open_source, require_own_material
from verdigris.core.cli.shared.options import (
    Bundle,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    require_finite,
    require_in_range,
)
from verdigris.core.cli.shared.picture_options import (
    Hdri,
    LiveValues,
    Rotate,
    Shape,
    ViewMesh,
    bundle_values,
    choose_view,
    parse_values,
)
from verdigris.core.geometry.mesh import in_atlas, load_mesh
from verdigris.core.geometry.shapes import find_shape
from verdigris.core.pictures.light_of_view import read_light
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.pictures.render import MOST_STUDIO_SAMPLES
from verdigris.core.pictures.viewer import HELP, Viewer, ViewWindow

app = CommandApp()

_SMALLEST_WINDOW, _LARGEST_WINDOW = 16, 2048


@app.add("view copper_tray.vdg --source copper_tray.mtlx")
def view(
    bundle: Bundle,
    source: Annotated[
        Path | None,
        typer.Option("--source", help="Compare with the document from which the bundle was baked."),
    ] = None,
    shape: Shape = None,
    mesh: ViewMesh = None,
    size: Annotated[
        int,
        typer.Option(
            help=f"Width of the window in pixels, {_SMALLEST_WINDOW} to {_LARGEST_WINDOW}."
        ),
    ] = 640,
    hdri: Hdri = None,
    rotate: Rotate = 0.0,
    samples: Annotated[
        int,
        typer.Option(
            help="Directions of light after which the picture under an environment is final."
        ),
    ] = 256,
    shot: Annotated[
        Path | None,
        typer.Option(help="Write the window's first final picture to this file, and close."),
    ] = None,
    live: LiveValues = None,
    *,
    options: DocumentOptions,
    device: DeviceChoice = None,
) -> None:
    """Shows a bundle in a window, decoded by its runtime shader.

    In the window you can orbit, move the light, wipe between reference and neural material, show
    their heat map, and choose mip level and exposure. --hdri, or an HDRI that is dropped on the
    window, lights the bundle; the picture is refined while nothing moves.
    """
    if shot:
        check_picture_path(shot)
    require_in_range(size, _SMALLEST_WINDOW, _LARGEST_WINDOW, "--size")
    require_in_range(samples, 1, MOST_STUDIO_SAMPLES, "--samples")
    if rotate and not hdri:
        raise typer.BadParameter("needs an environment: name it with --hdri", param_hint="--rotate")
    require_finite(rotate, "--rotate")
    if hdri:
        # an error comes before the bundle is opened
        read_light(hdri)
    chosen = choose_view(shape, mesh)
    opened = open_bundle(bundle)
    values = bundle_values(opened, parse_values(live))
    if source is None:
        require_own_material(opened, bundle, options.material)
    on = open_device(device)
    if on.is_software and not device:
        raise DeviceError(
            f"view needs a GPU, and the only device is {on}: use `verdigris render` or "
            "`verdigris compare`, or open a slow window with --device software"
        )
    choice = replace(
        fastest_advised(on, opened.advised), is_constant=fits_in_constants(opened.spec)
    )
    reference = None
    if source:
        reference = open_source(opened, source, options, on, has_mesh_option=False)
        reference.live = values
    shown = BundleMaterial(opened, on, choice)
    shown.live = values
    viewer = Viewer(
        shown,
        max(opened.layout.width, opened.layout.height),
        opened.layout.levels,
        reference,
        chosen,
        in_atlas(load_mesh(mesh), opened.manifest.tiles) if mesh else find_shape(chosen),
        samples,
    )
    if hdri:
        viewer.light_by(hdri, rotate)
    window = ViewWindow(
        viewer,
        on,
        size,
        f"{opened.manifest.name} ({choice.decoder})",
        lambda file: viewer.light_by(file, rotate),
    )

    def keep(picture: Any) -> bool:
        if shot:
            write_picture(shot, picture)
        return shot is not None

    print(f"{bundle}: {HELP}")
    window.run(keep)
