"""`verdigris verify`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.scene.scene_pack import is_scene, open_scene
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.device_decoders import decoders_on, device_notes, find_device
from verdigris.core.bundle.verify.rows import NOTHING
from verdigris.core.bundle.verify.verify import print_verification, source_notes
from verdigris.core.bundle.verify.verify import verify as prove
from verdigris.core.cli.shared.opening import open_source, require_own_material
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    SourceMesh,
    path_argument,
)
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.compress.set_files import is_texture_set, open_set
from verdigris.core.compress.verify_set import verify_set
from verdigris.core.ladder.mesh.baked_mesh import mesh_notes

app = CommandApp()


@app.add("verify copper_tray.vdg --source copper_tray.mtlx")
def verify(
    bundle: Annotated[
        Path, path_argument("BUNDLE", "A bundle (.vdg), a scene pack or a set of textures (.vdt).")
    ],
    source: Annotated[
        Path | None, typer.Option("--source", help="The document from which the bundle was baked.")
    ] = None,
    mesh: SourceMesh = None,
    *,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Checks that all decoders agree on a bundle.

    Compares the decoders with the values that are stored in a bundle, a scene pack or a set of
    textures (.vdt). With --source, also compares them with the material's graph. The exit code is 1
    if a difference exceeds its bound.
    """
    if mesh is not None and source is None:
        raise typer.BadParameter("needs --source FILE", param_hint="--mesh")
    if is_texture_set(bundle):
        if source or options.material:
            raise SettingsError(
                f"{bundle} is a compressed set of textures: leave out --source and --material; "
                "`verdigris compress --picture` compares it with its images"
            )
        result = verify_set(open_set(bundle), find_device(device, warn))
    elif is_scene(bundle):
        if source or options.material:
            raise SettingsError(
                f"{bundle} is a scene pack of several documents: leave out --source and "
                "--material, or verify the single bundles with them"
            )
        result = verify_scene(open_scene(bundle), find_device(device, warn))
    else:
        opened = open_bundle(bundle)
        if source is None:
            require_own_material(opened, bundle, options.material)
        on = find_device(device, warn, is_needed=source is not None)
        teacher = None
        notes = device_notes(opened, on) if on else []
        if source and on:
            teacher = open_source(opened, source, options, on, mesh)
            notes = [*source_notes(opened, teacher), *mesh_notes(opened), *notes]
        shipped = decoders_on(opened, on) if on else NOTHING
        result = prove(opened, shipped.decoders, teacher, notes, shipped.samplers, shipped.below)
    if as_json:
        print(json.dumps(result.as_json(), indent=2))
    else:
        print_verification(result)
    if not result.holds:
        raise typer.Exit(1)
