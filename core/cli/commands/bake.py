"""`verdigris bake`"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from verdigris.core.cli.shared import bake_options as option
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    Confined,
    DeviceChoice,
    MaterialNames,
    Search,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.baking.prepare import Prepared
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.mesh_points import MeshPoints
    from verdigris.core.settings.recipe import Recipe

    Chosen = Sequence[tuple[Document, Material]]

_ONE_PLACE = "islands that overlap get one of their places, and those without area one texel"


def bake(
    *,
    files: option.Files,
    given: option.RequestOptions,
    out: option.Out = Path(),
    name: option.BundleName = None,
    material: MaterialNames = None,
    search: Search = None,
    confined: Confined = False,
    mesh: option.Mesh = None,
    uv: option.UvSet = None,
    replace: option.Replace = False,
    as_json: AsJson = False,
    quiet: option.Quiet = False,
    device: DeviceChoice = None,
    if_changed: option.IfChanged = False,
) -> None:
    """Trains a neural material and writes it as a bundle, NAME.vdg.

    Ctrl-C ends the training early and writes the bundle, with exit code 0. SIGTERM does the same
    with exit code 143, and a closed terminal with 129. `--resume` continues the training.
    """
    from verdigris.core.baking.measure.memory import check_limits
    from verdigris.core.baking.prepare import prepare
    from verdigris.core.base.device import open_device
    from verdigris.core.bundle.files.manifest import SUFFIX
    from verdigris.core.cli.shared.if_changed import is_up_to_date, show_up_to_date
    from verdigris.core.importance.maps import read_importance
    from verdigris.core.material.load.mtlx_document import load_document, select_materials
    from verdigris.core.settings.presets import NEXT_PRESET

    request = given.request()
    check_limits(device)
    documents = [load_document(file, search or (), confined) for file in files]
    chosen = select_materials(documents, material or ())
    bundle_name = chosen[0][1].file_name if name is None else name.removesuffix(SUFFIX)
    surface = _load_mesh(mesh, uv)
    if if_changed:
        bundle = out / f"{bundle_name}{SUFFIX}"
        facts = surface.facts(uv) if surface else {}
        if is_up_to_date(chosen, bundle, request, facts):
            show_up_to_date(bundle, as_json, quiet)
            return
    opened = open_device(device)
    # before the map is read: `scene status` then sees that it was changed during the bake
    file = request.importance_file
    map_facts = _file_facts(file)
    weights = read_importance(file) if file else None
    points, weights = _on_mesh(surface, uv, weights, chosen)
    request = changed(request, importance=weights)
    prepared = prepare(request, chosen, opened, out, bundle_name, points)
    options = changed(
        prepared.options,
        keeps_versions=not replace,
        provenance=({"importance": map_facts},) * len(chosen) if map_facts else (),
    )
    recommendation = None
    if following := NEXT_PRESET.get(options.preset):
        longer = changed(request, preset=following)
        read = partial(longer.recipe, str(options.trainer), len(chosen))
        recommendation = partial(_recommend, options.preset, following, read)
    prepared = changed(prepared, options=options)
    _run(prepared, if_changed, as_json, quiet, recommendation)


def _run(
    prepared: Prepared,
    if_changed: bool,
    as_json: bool,
    quiet: bool,
    recommendation: Callable[[Path], str] | None,
) -> None:
    """Bakes, and shows the events. With `if_changed` a bake that was interrupted continues."""
    from verdigris.core.baking.bake import BakeControl, bake
    from verdigris.core.cli.shared.bake_ending import BakeEnding
    from verdigris.core.cli.shared.event_output import json_lines, live_line, result_only
    from verdigris.core.cli.shared.if_changed import continued

    on_terminal = partial(live_line, recommendation=recommendation)
    show = json_lines if as_json else result_only if quiet else on_terminal
    control = BakeControl()
    ending = BakeEnding(control)
    run = continued if if_changed else bake
    with ending.listening():
        ending.show(show, run(prepared.teachers, prepared.recipe, prepared.options, control))


def _recommend(preset: str, following: str, read: Callable[[], Recipe], bundle: Path) -> str:
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.cli.shared.next_preset import recommend

    return recommend(preset, following, read, open_bundle(bundle).manifest.source)


def _load_mesh(mesh: Path | None, uv: str | None) -> Surface | None:
    from verdigris.core.ladder.mesh.mesh_surface import load_surface

    if mesh is None and uv is not None:
        raise typer.BadParameter("needs a mesh: name it with --mesh", param_hint="--uv")
    return load_surface(mesh) if mesh else None


def _on_mesh(
    surface: Surface | None, uv: str | None, weights: NDArray[np.float32] | None, chosen: Chosen
) -> tuple[MeshPoints | None, NDArray[np.float32] | None]:
    """The points on which materials are evaluated, if there is a mesh, and the weights of its
    places."""
    from verdigris.core.ladder.mesh.mesh_domain import (
        coverage_weights,
        find_properties,
        mesh_points,
    )

    if surface is None:
        return None, weights
    properties: list[str] = []
    for document, material in chosen:
        found, warnings = find_properties(surface, list(document.nodes_of(material)), document.name)
        properties += found
        for warning in warnings:
            print(f"verdigris: {warning}", file=sys.stderr)
    points = mesh_points(surface, uv, properties=list(dict.fromkeys(properties)))
    report = surface.reports[surface.require_set(uv)]
    if not report.is_unique or report.without_area:
        print(f"verdigris: {surface.name}: {report.describe()}: {_ONE_PLACE}", file=sys.stderr)
    return points, coverage_weights(points, weights)


def _file_facts(importance: Path | None) -> dict[str, str] | None:
    """What identifies the map's file; None if there is no readable file."""
    from verdigris.core.material.load.provenance import file_facts

    with contextlib.suppress(OSError):
        return file_facts(importance) if importance and importance.is_file() else None
    return None


app = CommandApp()
app.add("bake copper_tray.mtlx --preset draft -o out", cls=option.BakeCommand)(bake)
