"""What benchmarks of bakes share: the settings of a command line, and a bake that is kept."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.phases.trainers import choose_trainer
from verdigris.core.base.device import Device, open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.progress.events import Finished
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import require_settings

EXAMPLES = Path(__file__).parents[2] / "examples"


def begin(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Device, BakeSettings]:
    """What a command line chooses of a parser's own options and of these, and its device."""
    parser.add_argument("--preset", default="draft")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="NAME=VALUE")
    options = parser.parse_args()
    device = open_device(options.device)
    return options, device, chosen_settings(options, device)


def chosen_settings(
    options: argparse.Namespace, device: Device, materials: int = 1
) -> BakeSettings:
    """Those for so many materials that share a decoder."""
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
    trainer = choose_trainer(device)
    return require_settings(options.preset, trainer, materials).changed(changes)


def bake_and_load(
    teacher: Teacher, settings: BakeSettings
) -> tuple[Finished, Parameters, BakeSettings]:
    """The end of a bake, what it trained, and the settings that it settled on."""
    with tempfile.TemporaryDirectory() as folder:
        *_, event = bake([teacher], settings, BakeOptions("result", Path(folder)))
        assert isinstance(event, Finished)
        bundle = open_bundle(Path(event.result))
        parameters = bundle.parameters()
    settings = BakeSettings.from_json(bundle.manifest.source["settings"])
    return event, parameters, settings
