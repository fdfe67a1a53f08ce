"""`verdigris cost`: what a neural material and its graph cost"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.baking.measure.measure import classify
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.base.device import open_device
from verdigris.core.bundle.cost.cost import cost_of_bundle, forecast, print_cost
from verdigris.core.bundle.files.read import is_bundle, open_bundle
from verdigris.core.cli.shared.opening import open_teacher, require_own_material
from verdigris.core.cli.shared.options import (
    PRESET_HELP,
    AsJson,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    path_argument,
)
from verdigris.core.settings.presets import default_preset, require_recipe

app = CommandApp()


@app.add("cost copper_tray.mtlx --preset standard")
def cost(
    file: Annotated[Path, path_argument("FILE", "A bundle (.vdg), or a document to forecast.")],
    source: Annotated[
        Path | None, typer.Option("--source", help="The document from which the bundle was baked.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help=f"Preset of the forecast bake: {PRESET_HELP}")
    ] = None,
    resolution: Annotated[int | None, typer.Option(help="Resolution of the forecast bake.")] = None,
    *,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Reports bytes and times of a neural material and of its graph.

    Times are in nanoseconds on this device. For a document, forecasts the cost of a bake.
    """
    is_baked = is_bundle(file)
    for option, value in (("--preset", preset), ("--resolution", resolution)):
        if is_baked and value is not None:
            raise typer.BadParameter(
                f"{file} is a bundle, which contains its settings: leave it out", param_hint=option
            )
    if source is not None and not is_baked:
        raise typer.BadParameter(
            f"{file} is a document and is compared with its own graph: leave it out",
            param_hint="--source",
        )
    opened = open_device(device)
    if is_baked:
        bundle = open_bundle(file)
        teacher = None
        if source is None:
            require_own_material(bundle, file, options.material)
        else:
            name = options.material or bundle.source_name
            live = bundle.wanted_live
            teacher = open_teacher(source, replace(options, material=name), opened, live)
        found = cost_of_bundle(bundle, opened, teacher)
    else:
        trainer = choose_trainer(opened)
        recipe = require_recipe(preset or default_preset(trainer), trainer)
        if resolution is not None:
            recipe = recipe.changed({"resolution": resolution})
        teacher = open_teacher(file, options, opened)
        found = forecast(teacher, recipe[classify([teacher], recipe)])
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        print_cost(found)
