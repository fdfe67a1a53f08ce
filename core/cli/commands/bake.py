"""`verdigris bake`"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace as changed
from functools import partial
from pathlib import Path

import typer

from verdigris.core.baking.measure.memory import check_limits
from verdigris.core.baking.prepare import Prepared, prepare
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.cli.shared import bake_options as option
from verdigris.core.cli.shared.bake_options import is_up_to_date, show_up_to_date
from verdigris.core.cli.shared.bake_output import (
    BakeEnding,
    json_lines,
    live_line,
    recommend_next,
    result_only,
    slower_than_graph,
)
from verdigris.core.cli.shared.link_options import linked
from verdigris.core.cli.shared.opening import place_on_mesh
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
from verdigris.core.hosts.result_folders import find_result_folder
from verdigris.core.importance.maps import read_importance
from verdigris.core.ladder.mesh.mesh_domain import coverage_weights
from verdigris.core.ladder.mesh.mesh_surface import load_surface
from verdigris.core.material.load.mtlx_document import load_document, select_materials
from verdigris.core.material.load.provenance import file_facts
from verdigris.core.progress import Event

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
    check_limits(device)
    changes = document_changes(set_input, define)
    documents = [load_document(file, search or (), confined, changes=changes) for file in files]
    chosen = select_materials(documents, material or ())
    bundle_name = chosen[0][1].file_name if name is None else name.removesuffix(SUFFIX)
    if mesh is None and uv is not None:
        raise typer.BadParameter("needs a mesh: name it with --mesh", param_hint="--uv")
    out = out or find_result_folder(files[0], bundle_name, others=(Path(),))
    surface = load_surface(mesh) if mesh else None
    if if_changed:
        bundle = out / f"{bundle_name}{SUFFIX}"
        if is_up_to_date(chosen, bundle, request, surface.facts(uv) if surface else {}):
            show_up_to_date(bundle, as_json, quiet)
            return
    opened = open_device(device)
    # before the map is read: `scene status` then sees that it was changed during the bake
    file = request.importance_file
    map_facts = _facts_of_map(file)
    weights = read_importance(file) if file else None
    points = None
    if surface:
        points = place_on_mesh(surface, uv, chosen)
        weights = coverage_weights(points, weights)
    request = changed(request, importance=weights)
    prepared = prepare(request, chosen, opened, out, bundle_name, points)
    prepared = prepared.with_options(
        keeps_versions=not replace,
        keeps_weights=file is None and mesh is None and not if_changed,
        provenance=({"importance": map_facts},) * len(chosen) if map_facts else (),
    )
    options = prepared.options
    recommend = recommend_next(options.preset, request, str(options.trainer), len(chosen))
    on_terminal = partial(
        live_line,
        recommend=recommend,
        preset=options.preset,
        check_speed=slower_than_graph(prepared.teachers),
    )
    show = json_lines if as_json else result_only if quiet else on_terminal
    control = BakeControl()
    with linked(link_at, control) if link or link_at else nullcontext(iter) as follow:
        _run(prepared, if_changed, show, control, follow)


def _run(
    prepared: Prepared,
    if_changed: bool,
    show: Callable[[Iterable[Event]], None],
    control: BakeControl,
    follow: Callable[[Iterator[Event]], Iterator[Event]],
) -> None:
    """Bakes, and shows the events. With `if_changed`, a bake that was interrupted continues.
    `follow` passes the events on."""
    ending = BakeEnding(control)
    run = prepared.continued if if_changed else prepared.bake
    with ending.listening():
        ending.show(show, follow(run(control)))


def _facts_of_map(file: Path | None) -> dict[str, str] | None:
    """What identifies the file of an importance map; None if there is no readable file."""
    with contextlib.suppress(OSError):
        return file_facts(file) if file and file.is_file() else None
    return None
