"""`verdigris bake`"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from verdigris.core.cli.shared.options import (
    PRESET_HELP,
    AsJson,
    Confined,
    DeviceChoice,
    MaterialNames,
    Search,
    SettingChanges,
    parse_setting_changes,
    path_argument,
    with_most_bytes,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.mesh_points import MeshPoints
    from verdigris.core.progress.events import Event
    from verdigris.core.settings.recipe import Recipe

GROUPS = {
    "Basic": ("preset", "out", "name", "material", "search", "confined", "resume"),
    "Material": ("live", "mesh"),
    "Quality": ("resolution", "most_bytes", "time_limit", "target"),
    "Paint": ("importance", "directions"),
    "Output": ("replace", "as_json", "quiet", "help"),
    "Expert": ("settings", "device"),
}
"""Headings of the help, and the options below each."""
_ONE_PLACE = "islands that overlap get one of their places, and those without area one texel"
_OLD_OPTIONS = {
    "--no-encoder": "use --set encode_from=0",
    "--compare-uniform": "docs/benchmarks/bench_paint.py makes this comparison",
}


class BakeCommand(TyperCommand):
    """The help in groups, and errors for options that became settings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = {each.name: each for each in self.get_params(ctx)}
        for group, names in {"Arguments": ("files",), **GROUPS}.items():
            records = [parameters[name].get_help_record(ctx) for name in names]
            with formatter.section(group):
                formatter.write_dl([each for each in records if each])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {each for parameter in self.params for each in parameter.opts}
        for word in args:
            option = word.partition("=")[0]
            if option == "--":
                break
            if option.startswith("--") and option not in known:
                remedy = _find_replacement(option)
                if remedy:
                    raise typer.BadParameter(f"not an option: {remedy}", ctx, None, option)
        return super().parse_args(ctx, args)


def _find_replacement(option: str) -> str | None:
    """What to use in place of an option that names a setting; None of other words."""
    from dataclasses import fields

    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.draw_settings import DrawSettings

    name = option.removeprefix("--").replace("-", "_")
    for prefix, settings in (("", BakeSettings), ("draw.", DrawSettings)):
        if name in {each.name for each in fields(settings)}:
            return f"use --set {prefix}{name}=VALUE"
    return _OLD_OPTIONS.get(option)


def bake(
    files: Annotated[
        list[Path],
        path_argument("FILE...", "MaterialX documents (.mtlx). Several share one decoder."),
    ],
    preset: Annotated[str, typer.Option("--preset", "-p", help=PRESET_HELP)] = "",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the bundle. Default: this folder.")
    ] = Path(),
    name: Annotated[
        str | None, typer.Option(help="The bundle's name. Default: the material's name.")
    ] = None,
    material: MaterialNames = None,
    search: Search = None,
    confined: Confined = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the last checkpoint.")
    ] = False,
    live: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW..HIGH",
            help="Keep an input of the graph open, as in wetness=0..1; 'inspect' lists them. "
            "@DEFAULT or :DENSITY may follow. Up to three.",
        ),
    ] = None,
    resolution: Annotated[
        int | None,
        typer.Option(
            help="Latent texels per side, a power of two. Default: as few as the material needs."
        ),
    ] = None,
    most_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="BYTES",
            help="Most bytes of the bundle on a GPU, such as 1.4M: fewer texels, or 4 latents a "
            "texel for 8, whichever costs less.",
        ),
    ] = None,
    # the same as --set iterations=N
    iterations: Annotated[int | None, typer.Option(hidden=True)] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Train for at most this many seconds.")
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            help="Stop when the result is good, very-good or indistinguishable. Default: the last."
        ),
    ] = "",
    target_error: Annotated[
        float | None, typer.Option(hidden=True, help="Stop when the log MAE is below this value.")
    ] = None,
    importance: Annotated[
        Path | None,
        typer.Option(help="An importance map, as an image or .npy: where to sample more."),
    ] = None,
    directions: Annotated[
        str | None,
        typer.Option(
            help="A direction profile, or a table of weights (.json, .npy): which directions to "
            "sample more."
        ),
    ] = None,
    viewport_textures: Annotated[
        bool,
        typer.Option(
            "--viewport-textures",
            hidden=True,
            help="Also write plain textures (PNG) for viewports.",
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Remove the bundle before it. Default: it stays as a version, see "
            "'verdigris versions'.",
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only the path of the bundle.")
    ] = False,
    mesh: Annotated[
        Path | None,
        typer.Option(
            help="Evaluate the material on this mesh (.obj, .usd): its positions, normals, uv sets "
            "and painted colours. --uv SET bakes in another uv set than its first."
        ),
    ] = None,
    uv: Annotated[str | None, typer.Option(hidden=True)] = None,
    settings: SettingChanges = None,
    # the same as --set seed=N
    seed: Annotated[int | None, typer.Option(hidden=True)] = None,
    device: DeviceChoice = None,
    # for programs: the help has room for the most common options
    trainer: Annotated[str | None, typer.Option(hidden=True)] = None,
    if_changed: Annotated[bool, typer.Option("--if-changed", hidden=True)] = False,
    checkpoint_seconds: Annotated[float, typer.Option(hidden=True)] = 5.0,
) -> None:
    """Trains a neural material and writes it as a bundle, NAME.vdg.

    Ctrl-C ends the training early and writes the bundle, with exit code 0. SIGTERM does the same
    with exit code 143, and a closed terminal with 129. `--resume` continues the training.
    """
    from verdigris.core.base.device import begin_driver, open_device

    begin_driver(device)
    from verdigris.core.baking.bake import BakeControl, BakeOptions
    from verdigris.core.baking.bake import bake as run
    from verdigris.core.baking.measure.memory import check_limits
    from verdigris.core.baking.state.trainers import choose_trainer
    from verdigris.core.batch.scene.entry import BakeRequest
    from verdigris.core.bundle.files.manifest import SUFFIX
    from verdigris.core.cli.shared.bake_ending import BakeEnding
    from verdigris.core.cli.shared.if_changed import continued, is_up_to_date, show_up_to_date
    from verdigris.core.importance.maps import read_importance
    from verdigris.core.material.live_inputs.live_input import parse_all_wanted
    from verdigris.core.material.load.mtlx_document import load_document, select_materials
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.pictures.verdict import require_target
    from verdigris.core.settings.json_changes import changed
    from verdigris.core.settings.presets import (
        NEXT_PRESET,
        default_preset,
        for_live_inputs,
        require_recipe,
    )

    changes = parse_setting_changes(settings)
    options = {"resolution": resolution, "iterations": iterations, "seed": seed}
    changes |= {name: value for name, value in options.items() if value is not None}
    if most_bytes is not None:
        changes = with_most_bytes(changes, most_bytes)
    target = require_target(target) if target else ""
    wanted = parse_all_wanted(live or ())
    check_limits(device)
    documents = [load_document(file, search or (), confined) for file in files]
    chosen = select_materials(documents, material or ())
    bundle_name = chosen[0][1].file_name if name is None else name.removesuffix(SUFFIX)
    if if_changed:
        if len(chosen) > 1:
            raise typer.BadParameter(
                f"needs one material, and these are {len(chosen)}: bake each by itself",
                param_hint="--if-changed",
            )
        request = BakeRequest(
            preset,
            changes,
            importance,
            directions or "",
            time_limit,
            target_error,
            target,
            wanted,
        )
        bundle = out / f"{bundle_name}{SUFFIX}"
        if is_up_to_date(*chosen[0], bundle, request, trainer, viewport_textures):
            show_up_to_date(bundle, as_json, quiet)
            return
    opened = open_device(device)
    kind = trainer or choose_trainer(opened)
    # before the map is read: `scene status` then sees that it was changed during the bake
    map_facts = _file_facts(importance)
    weights = read_importance(importance) if importance else None
    recipe = require_recipe(preset or default_preset(kind), kind, len(chosen))
    recipe = for_live_inputs(recipe, len(wanted))
    recipe = changed(recipe, changes)
    if directions is not None:
        recipe = _with_directions(recipe, directions)
    points = None
    if mesh is not None:
        points, weights = _on_mesh(mesh, uv, weights, chosen)
    elif uv is not None:
        raise typer.BadParameter("needs a mesh: name it with --mesh", param_hint="--uv")
    teachers = [Teacher(document, each, opened, points, live=wanted) for document, each in chosen]
    bake_options = BakeOptions(
        name=bundle_name,
        folder=out,
        trainer=kind,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
        time_limit=time_limit,
        target_error=target_error,
        target=target,
        importance=weights,
        viewport_textures=viewport_textures,
        preset=preset or default_preset(kind),
        keeps_versions=not replace,
        provenance=({"importance": map_facts},) * len(teachers) if map_facts else (),
    )
    control = BakeControl()
    from verdigris.core.cli.shared.event_output import json_lines, live_line, result_only

    on_terminal = partial(live_line, next_preset=NEXT_PRESET.get(bake_options.preset))
    show = json_lines if as_json else result_only if quiet else on_terminal
    ending = BakeEnding(control)

    def shown(events: Iterable[Event]) -> None:
        ending.show(show, events)

    with ending.listening():
        bake_events = continued if if_changed else run
        shown(bake_events(teachers, recipe, bake_options, control))


def _on_mesh(
    mesh: Path,
    uv: str | None,
    weights: NDArray[np.float32] | None,
    chosen: Sequence[tuple[Document, Material]],
) -> tuple[MeshPoints, NDArray[np.float32]]:
    """The surface on which materials are evaluated, and the weights of its places."""
    from verdigris.core.ladder.mesh_domain import coverage_weights, find_properties, mesh_points
    from verdigris.core.ladder.surface import load_surface

    surface = load_surface(mesh)
    properties: list[str] = []
    for document, material in chosen:
        found, warnings = find_properties(surface, list(document.nodes_of(material)), document.name)
        properties += found
        for warning in warnings:
            print(f"verdigris: {warning}", file=sys.stderr)
    points = mesh_points(surface, uv, properties=list(dict.fromkeys(properties)))
    report = surface.reports[surface.require_set(uv)]
    if not report.is_unique or report.without_area:
        print(f"verdigris: {mesh}: {report.describe()}: {_ONE_PLACE}", file=sys.stderr)
    return points, coverage_weights(points, weights)


def _with_directions(recipe: Recipe, directions: str) -> Recipe:
    from verdigris.core.settings.direction_profiles import read_directions

    name, table = read_directions(directions)
    return recipe.changed({"draw": {"directions": name, "direction_table": table}})


def _file_facts(importance: Path | None) -> dict[str, str] | None:
    """What identifies the map's file; None if there is no readable file."""
    from verdigris.core.material.load.provenance import file_facts

    with contextlib.suppress(OSError):
        return file_facts(importance) if importance else None
    return None
