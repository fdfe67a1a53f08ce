"""Options of the commands that bake a scene, here or on a farm, and the plan that they make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.adapters import SOFTWARE, check_choice, hardware_devices
from verdigris.core.base.device import cache_folder
from verdigris.core.batch.farm.openjd import PathRule, map_path
from verdigris.core.batch.plan.inputs import DigestCache
from verdigris.core.batch.plan.plan import Choices, Plan, make_plan
from verdigris.core.batch.scene.entry import DocumentCache, Rule
from verdigris.core.batch.scene.scene import Grouping, Scene, SceneOptions, read_scene
from verdigris.core.cli.shared.options import (
    PRESET_HELP,
    Confined,
    Search,
    SettingChanges,
    as_usage_error,
    parse_setting_changes,
)
from verdigris.core.settings.bake_settings import TRAINERS
from verdigris.core.settings.presets import require_recipe

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder for the bundles. Default: baked.")
]
Preset = Annotated[
    str, typer.Option("--preset", "-p", help=f"Preset of all materials: {PRESET_HELP}")
]
Force = Annotated[
    bool, typer.Option("--force", help="Bake all materials, even if they are up to date.")
]


@dataclass(frozen=True)
class SceneArguments:
    """The scene of a command, and how its materials are baked."""

    scene: Annotated[
        Path,
        typer.Argument(
            metavar="SCENE",
            help="A scene (.json), a folder of documents, a document, a USD stage, or the summary "
            "that a plug-in's batch program wrote.",
        ),
    ]
    preset: Preset = ""
    settings: SettingChanges = None
    viewport_textures: Annotated[
        bool,
        typer.Option(
            "--viewport-textures",
            help="Also write plain textures (PNG) for viewports, and for the looks of stages.",
        ),
    ] = False
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PATTERN",
            help="Bake only materials whose names match this pattern. Repeatable.",
        ),
    ] = None
    shared_decoder: Annotated[
        bool, typer.Option("--shared-decoder", help="Let similar materials share a decoder.")
    ] = False
    by_hand: Annotated[
        bool,
        typer.Option(
            "--by-hand",
            help="With --shared-decoder: form only the groups that the scene file names.",
        ),
    ] = False
    group_size: Annotated[
        int,
        typer.Option(
            min=2, metavar="N", help="The most materials in a group that is formed automatically."
        ),
    ] = 8
    search: Search = None
    confined: Confined = False

    def as_options(self) -> list[str]:
        """The words of a command line with the same arguments, without the scene and --search."""
        options = [part for each in self.settings or () for part in ("--set", each)]
        options += ["--preset", self.preset] if self.preset else []
        options += ["--viewport-textures"] if self.viewport_textures else []
        options += ["--shared-decoder"] if self.shared_decoder else []
        options += ["--by-hand"] if self.by_hand else []
        options += ["--group-size", str(self.group_size)] if self.shared_decoder else []
        options += [part for each in self.only or () for part in ("--only", each)]
        return options + (["--confined"] if self.confined else [])


def choices_of(
    given: SceneArguments,
    device: str | None = None,
    force: bool = False,
    checkpoint_seconds: float = 5.0,
) -> Choices:
    """How to plan a scene."""
    if device:
        with as_usage_error("--device"):
            check_choice(device)
    if not checkpoint_seconds >= 0:
        raise typer.BadParameter(
            f"{checkpoint_seconds} is not 0 or more", param_hint="--checkpoint-seconds"
        )
    grouping = Grouping.NONE
    if given.shared_decoder:
        grouping = Grouping.BY_HAND if given.by_hand else Grouping.BY_PLAN
    elif given.by_hand:
        raise typer.BadParameter("use it with --shared-decoder", param_hint="--by-hand")
    trainer = "numpy" if device == SOFTWARE else None
    likely = "tensor" if device or hardware_devices() else "numpy"
    size = given.group_size
    return Choices(trainer, likely, device or "", grouping, size, force, checkpoint_seconds)


def read_given(
    given: SceneArguments, out: Path | None, path_rules: tuple[PathRule, ...] = ()
) -> tuple[Scene, DocumentCache]:
    """The scene, and the documents that were read for it."""
    if given.preset:
        with as_usage_error("--preset"):
            require_recipe(given.preset, TRAINERS[0])
    changes = parse_setting_changes(given.settings)
    textures = given.viewport_textures or None
    request = BakeRequest(preset=given.preset or None, changes=changes, viewport_textures=textures)
    rule = Rule(request=request)
    options = SceneOptions(
        out,
        tuple(given.search or ()),
        given.confined,
        tuple(given.only or ()),
        (rule,),
        lambda path: map_path(path, path_rules),
    )
    documents = DocumentCache()
    return read_scene(given.scene, options, documents), documents


def plan_of(
    given: SceneArguments, out: Path | None, choices: Choices, path_rules: tuple[PathRule, ...] = ()
) -> Plan:
    """The plan of a scene."""
    read, documents = read_given(given, out, path_rules)
    return make_plan(read, choices, DigestCache(cache_folder()), documents)
