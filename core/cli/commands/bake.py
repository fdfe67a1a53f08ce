"""`verdigris bake`"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.options import (
    PRESETS_IN_WORDS,
    AllowOutside,
    AsJson,
    DeviceChoice,
    MaterialNames,
    Search,
    path_argument,
)

if TYPE_CHECKING:
    from verdigris.core.progress.events import Event
    from verdigris.core.settings.bake_settings import BakeSettings


def bake(
    files: Annotated[
        list[Path],
        path_argument("FILE...", "MaterialX documents. Several share one decoder."),
    ],
    preset: Annotated[str, typer.Option("--preset", "-p", help=PRESETS_IN_WORDS)] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the result.")] = Path(),
    name: Annotated[str | None, typer.Option(help="Name of the result, NAME.vdg.")] = None,
    network: Annotated[str | None, typer.Option(help="Decoder: 2x16, 2x32 or 3x64.")] = None,
    resolution: Annotated[int | None, typer.Option(help="Latent texels a side.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Steps of training.")] = None,
    batch: Annotated[int | None, typer.Option(help="Samples a step.")] = None,
    candidates: Annotated[int | None, typer.Option(help="Starts that are tried.")] = None,
    activation: Annotated[
        str | None, typer.Option(help="silu, leaky_relu, leaky_smelu or relu.")
    ] = None,
    latent_bits: Annotated[
        int | None, typer.Option(help="Bits of a latent channel: 8, or 4, or 0 for half floats.")
    ] = None,
    no_encoder: Annotated[
        bool,
        typer.Option("--no-encoder", help="Train a large texture without a small one before it."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Where the random numbers start.")] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that the training is fitted into.")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(help="Stop at this log-space error.")
    ] = None,
    importance: Annotated[
        Path | None, typer.Option(help="An image (or .npy) of how much each place matters.")
    ] = None,
    compare_uniform: Annotated[
        bool,
        typer.Option(
            "--compare-uniform", help="Bake without the map, too, and say what it has changed."
        ),
    ] = False,
    directions: Annotated[
        str | None,
        typer.Option(help="Which directions matter: a profile, or a table (.json, .npy)."),
    ] = None,
    viewport_textures: Annotated[
        bool,
        typer.Option(
            "--viewport-textures", help="Also write flattened textures, for viewports (PNG)."
        ),
    ] = False,
    trainer: Annotated[str | None, typer.Option(help="tensor (GPU) or numpy (CPU).")] = None,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="How often the state is written, for --resume.")
    ] = 5.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from a checkpoint.")] = False,
    material: MaterialNames = None,
    search: Search = None,
    allow_outside: AllowOutside = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only.")] = False,
    device: DeviceChoice = None,
) -> None:
    """Trains a neural material. Ctrl-C ends it early and keeps what there is, with exit code 0.
    SIGTERM does so, too, with exit code 143, and a terminal that is closed, with 129: --resume then
    does the rest."""
    from verdigris.core.baking.bake import BakeControl, BakeOptions
    from verdigris.core.baking.bake import bake as run
    from verdigris.core.baking.measure.memory import check_limits
    from verdigris.core.baking.phases.trainers import choose_trainer
    from verdigris.core.base.device import open_device
    from verdigris.core.bundle.files.manifest import SUFFIX
    from verdigris.core.cli.shared.ending import Ending
    from verdigris.core.importance.maps import read_importance
    from verdigris.core.material.load.document import load_document
    from verdigris.core.material.load.selection import select_materials
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.presets import default_preset, require_settings

    check_limits(device)
    opened = open_device(device)
    kind = trainer or choose_trainer(opened)
    changes = {
        "network": network,
        "resolution": resolution,
        "iterations": iterations,
        "batch": batch,
        "candidates": candidates,
        "activation": activation,
        "latent_bits": latent_bits,
        "encode_from": 0 if no_encoder else None,
        "seed": seed,
    }
    # before it is read: of a map that is painted on meanwhile, `scene status` is to tell
    painted = _facts_of(importance)
    weights = read_importance(importance) if importance else None
    documents = [load_document(file, search or (), allow_outside) for file in files]
    chosen = select_materials(documents, material or ())
    settings = require_settings(preset or default_preset(kind), kind, len(chosen)).changed(
        {name: value for name, value in changes.items() if value is not None}
    )
    if directions is not None:
        settings = _looking(settings, directions)
    teachers = [Teacher(document, each, opened) for document, each in chosen]
    options = BakeOptions(
        name=teachers[0].material.file_name if name is None else name.removesuffix(SUFFIX),
        folder=out,
        trainer=kind,
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
        time_limit=time_limit,
        target_error=target_error,
        importance=weights,
        viewport_textures=viewport_textures,
        provenance=({"importance": painted},) * len(teachers) if painted else (),
    )
    control = BakeControl()
    from verdigris.core.cli.shared.progress import json_lines, live_line, result_only

    show = json_lines if as_json else result_only if quiet else live_line
    ending = Ending(control)

    def shown(events: Iterable[Event]) -> None:
        ending.show(show, events)

    with ending.listening():
        if compare_uniform:
            from verdigris.core.cli.shared.compared import bake_both

            read = [importance] if importance else []
            bake_both(teachers, settings, options, control, shown, as_json, read)
        else:
            shown(run(teachers, settings, options, control))


def _looking(settings: BakeSettings, directions: str) -> BakeSettings:
    from dataclasses import replace

    from verdigris.core.settings.direction_profiles import read_directions

    name, table = read_directions(directions)
    return replace(settings, draw=replace(settings.draw, directions=name, direction_table=table))


def _facts_of(importance: Path | None) -> dict[str, str] | None:
    """The map's file; None where there is none to read."""
    from verdigris.core.material.load.provenance import file_facts

    with contextlib.suppress(OSError):
        return file_facts(importance) if importance else None
    return None
