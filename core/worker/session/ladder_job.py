"""Fits a ladder of the open material."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.worker.protocol.worker_events import Fitted, Fitting

if TYPE_CHECKING:
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.progress import Event
    from verdigris.core.worker.protocol.commands import Ladder
    from verdigris.core.worker.session.opening import OpenMaterial

# Seconds between two events of a ladder.
_INTERVAL = 0.1
# The uv set of a mesh from a host.
_SCENE_SET = "st"


def run_ladder(
    command: Ladder, material: OpenMaterial, mesh: Mesh | None, post: Callable[[Event], None]
) -> None:
    """Posts what is fitted, and the report at the end. `mesh` is a mesh of the host's scene;
    without it, the command names a file."""
    from verdigris.core.baking.fit_ladder import fit_ladder
    from verdigris.core.baking.ladder_request import LadderRequest
    from verdigris.core.ladder.mesh.mesh_surface import Surface, load_surface
    from verdigris.core.lighting.environment import STUDIO
    from verdigris.core.lighting.named_environments import find_environment

    teacher = material.teacher
    request = LadderRequest(
        Path(command.folder), command.rungs, command.size, preset=command.preset
    )
    if mesh is None:
        surface = load_surface(Path(command.mesh))
    else:
        surface = Surface(mesh, {_SCENE_SET: mesh.uv}, name=command.mesh)
    last = 0.0

    def show(what: str, part: float) -> None:
        nonlocal last
        now = time.monotonic()
        if part >= 1 or now - last > _INTERVAL:
            last = now
            post(Fitting(what, part))

    environment = find_environment(command.lit_by or STUDIO)
    report = fit_ladder(
        material.opened.document, teacher.material, surface, environment, teacher.device, request,
        on_progress=show,
    )  # fmt: skip
    post(Fitted(command.folder, report))
