"""`verdigris bake`

A bake by a resident worker needs little of this program: what only others need is imported where
they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import typer

from verdigris.core.baking.bake_job import BakeJob, with_speeds
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.baking.warm_up import begin_warm_up
from verdigris.core.base.device import open_device
from verdigris.core.cli.shared import bake_options as option
from verdigris.core.cli.shared.bake_options import is_up_to_date, show_up_to_date
from verdigris.core.cli.shared.bake_output import (
    BakeEnding,
    json_lines,
    live_line,
    recommend_next,
    result_only,
)
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    Confined,
    Define,
    DeviceChoice,
    MaterialNames,
    Search,
    SetInput,
    document_changes,
)
from verdigris.core.progress import Event
from verdigris.core.worker.client.resident import bake_by_resident, find_resident

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.material.domain import MeshPoints

    Follow = Callable[[Iterator[Event]], Iterator[Event]]

app = CommandApp()


@app.add("bake copper_tray.mtlx --preset draft -o out", cls=option.BakeCommand)
def bake(
    *,
    files: option.Files,
    given: option.RequestOptions,
    out: option.Out = None,
    name: option.BundleName = None,
    material: MaterialNames = None,
    search: Search = None,
    confined: Confined = False,
    set_input: SetInput = None,
    define: Define = None,
    mesh: option.Mesh = None,
    uv: option.UvSet = None,
    replace: option.Replace = False,
    as_json: AsJson = False,
    quiet: option.Quiet = False,
    device: DeviceChoice = None,
    if_changed: option.IfChanged = False,
    link: option.Link = False,
    link_at: option.LinkAt = None,
) -> None:
    """Trains a neural material and writes it as a bundle, NAME.vdg.

    Ctrl-C ends the training early and writes the bundle, with exit code 0. SIGTERM does the same
    with exit code 143. A closed terminal does so with 129. `--resume` continues the training.
    """
    request = given.request()
    # a mistake is a usage error here
    document_changes(set_input, define)
    job = BakeJob(
        files=tuple(map(str, files)),
        request=request,
        folder=str(out) if out is not None else None,
        name=name,
        materials=tuple(material or ()),
        search=tuple(map(str, search or ())),
        confined=confined,
        inputs=tuple(set_input or ()),
        defines=tuple(define or ()),
        keeps_versions=not replace,
        keeps_weights=not if_changed,
    )
    if mesh is None and uv is not None:
        raise typer.BadParameter("needs a mesh: name it with --mesh", param_hint="--uv")
    control = BakeControl()
    slower: dict[str, str] | None = None if as_json or quiet else {}
    on_terminal = partial(
        live_line,
        recommend=recommend_next(request, max(len(files), len(material or ()))),
        preset=request.preset or "",
        check_speed=lambda bundle: (slower or {}).get(str(bundle), ""),
    )
    show = json_lines if as_json else result_only if quiet else on_terminal
    surface: Surface | None = None
    if mesh is not None:
        from verdigris.core.ladder.mesh.mesh_surface import load_surface

        surface = load_surface(mesh)
    opened = job.open() if if_changed else None
    if opened is not None:
        from verdigris.core.bundle.files.manifest import SUFFIX

        bundle = opened.folder / f"{opened.name}{SUFFIX}"
        facts = surface.facts(uv) if surface else {}
        if is_up_to_date(opened.chosen, bundle, request, facts):
            show_up_to_date(bundle, as_json, quiet)
            return
    resident = find_resident(device) if not (mesh or link or link_at) else None
    if resident is not None:
        _run(bake_by_resident(resident, job, device, control, slower, if_changed), show, control)
        return
    from verdigris.core.baking.measure.memory import check_limits

    check_limits(device)
    opened = opened or job.open()
    on_device = open_device(device)
    points: MeshPoints | None = None
    if surface is not None:
        from verdigris.core.cli.shared.opening import place_on_mesh

        points = place_on_mesh(surface, uv, opened.chosen)
    prepared = opened.prepare(on_device, points)
    link_of_bake: AbstractContextManager[Follow] = nullcontext(iter)
    if link or link_at:
        from verdigris.core.cli.shared.link_options import linked

        link_of_bake = linked(link_at, control)
    with link_of_bake as follow:
        # a bake of --if-changed that was interrupted continues
        run = prepared.continued if if_changed else prepared.bake
        events = with_speeds(follow(run(control)), prepared.teachers, slower)
        _run(events, show, control)
    if slower is not None:
        # somebody is at a terminal, and will bake again
        begin_warm_up(on_device)


def _run(
    events: Iterable[Event], show: Callable[[Iterable[Event]], None], control: BakeControl
) -> None:
    """Bakes, and shows the events."""
    ending = BakeEnding(control)
    with ending.listening():
        ending.show(show, events)
