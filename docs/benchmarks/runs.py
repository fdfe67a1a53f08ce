"""Shared by benchmarks of bakes: the recipe of a command line, and a bake with its result."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.base.device import Device, open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.progress import Finished
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Recipe, require_recipe

EXAMPLES = Path(__file__).parents[2] / "examples"


def begin(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Device, Recipe]:
    """The options of a command line, its device and its recipe."""
    parser.add_argument("--preset", default="draft")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="NAME=VALUE")
    options = parser.parse_args()
    device = open_device(options.device)
    return options, device, chosen_recipe(options, device)


def chosen_recipe(options: argparse.Namespace, device: Device, materials: int = 1) -> Recipe:
    """The recipe for so many materials that share a decoder."""
    recipe = require_recipe(options.preset, choose_trainer(device), materials)
    return recipe.changed(chosen_changes(options))


def chosen_changes(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that replace the preset's."""
    changes: dict[str, Any] = {}
    for change in options.changes:
        name, _, text = change.partition("=")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if name.startswith("draw."):
            changes.setdefault("draw", {})[name[5:]] = value
        else:
            changes[name] = value
    return changes


def describe(options: argparse.Namespace) -> str:
    """The preset and its changes."""
    return " ".join([options.preset, *options.changes])


def bake_and_load(
    teacher: Teacher, recipe: BakeSettings | Recipe
) -> tuple[Finished, Parameters, BakeSettings]:
    """The last event of a bake, its parameters, and the settings that it used."""
    with tempfile.TemporaryDirectory() as folder:
        *_, event = bake([teacher], recipe, BakeOptions("result", Path(folder)))
        assert isinstance(event, Finished)
        bundle = open_bundle(Path(event.result))
        parameters = bundle.parameters()
    used = BakeSettings.from_json(bundle.manifest.source["settings"])
    return event, parameters, used


def each_case(cases: Iterable[str], run: Callable[[str], None]) -> None:
    """Runs cases one by one. One that fails is named, and the next may run."""
    for case in cases:
        try:
            run(case)
        except Exception as failure:  # noqa: BLE001 - the next case may run
            print(f"{case}: {type(failure).__name__}: {failure}", flush=True)
