"""`verdigris scene plan`, `run` and `status`"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.adapters import SOFTWARE, check_choice, hardware_devices
from verdigris.core.base.device import cache_folder
from verdigris.core.batch.farm.dask_engine import DaskEngine
from verdigris.core.batch.farm.openjd import PathRule, map_path
from verdigris.core.batch.plan.inputs import DigestCache
from verdigris.core.batch.plan.packs import require_packable
from verdigris.core.batch.plan.plan import Choices, Plan, State, bundle_of, make_plan
from verdigris.core.batch.plan.state_folder import run_lock
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_queue import (
    Engine,
    FailurePolicy,
    LocalEngine,
    concurrent_bakes,
    concurrent_bakes_on,
)
from verdigris.core.batch.run.progress_view import JsonView, open_view
from verdigris.core.batch.run.run import RunOptions, log_folder, run_plan, write_summary
from verdigris.core.batch.run.summary import (
    Summary,
    plan_json,
    plan_lines,
    status_json,
    status_lines,
    summary_lines,
)
from verdigris.core.batch.scene.entry import DocumentCache, Rule
from verdigris.core.batch.scene.scene import (
    Grouping,
    Scene,
    SceneOptions,
    read_scene,
    require_pack_names,
)
from verdigris.core.cli.shared.options import (
    PRESET_HELP,
    AsJson,
    CommandApp,
    Confined,
    DeviceChoice,
    Search,
    SettingChanges,
    as_usage_error,
    parse_setting_changes,
)
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.settings.bake_settings import TRAINERS
from verdigris.core.settings.presets import require_recipe

app = CommandApp(
    "scene",
    "Bakes all materials of a scene: plan, run, status. See docs/SCENES.md.",
)
EXIT_STALE = 4

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The folder for the bundles. Default: baked.")
]
Preset = Annotated[
    str, typer.Option("--preset", "-p", help=f"Preset of all materials: {PRESET_HELP}")
]
Force = Annotated[
    bool, typer.Option("--force", help="Bake all materials, also those that are up to date.")
]


@dataclass(frozen=True)
class SceneArguments:
    """What all commands of scenes take: the scene, and how its materials are baked."""

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
            "--by-hand", help="With --shared-decoder: use only the groups of the scene file."
        ),
    ] = False
    group_size: Annotated[
        int,
        typer.Option(
            min=2, metavar="N", help="Most materials of a group that is formed automatically."
        ),
    ] = 8
    search: Search = None
    confined: Confined = False

    def as_options(self) -> list[str]:
        """The words of a command line that give the same, without the scene and --search."""
        options = [part for each in self.settings or () for part in ("--set", each)]
        options += ["--preset", self.preset] if self.preset else []
        options += ["--shared-decoder"] if self.shared_decoder else []
        options += ["--by-hand"] if self.by_hand else []
        options += ["--group-size", str(self.group_size)] if self.shared_decoder else []
        options += [part for each in self.only or () for part in ("--only", each)]
        return options + (["--confined"] if self.confined else [])


@app.add("scene plan assets --preset final")
def plan(
    *,
    out: Out = None,
    given: SceneArguments,
    force: Force = False,
    device: DeviceChoice = None,
    as_json: AsJson = False,
) -> None:
    """Lists the materials that need a bake, and the time it takes."""
    found = plan_of(given, out, choices_of(given, device, force))

    print(json.dumps(plan_json(found), indent=1) if as_json else "\n".join(plan_lines(found)))


@app.add("scene run assets -o baked --jobs 2")
def run(
    *,
    out: Out = None,
    given: SceneArguments,
    retry: Annotated[int, typer.Option(min=0, help="Times to repeat a bake that crashed.")] = 0,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going/--stop-at-failure", help="Whether to continue after a failure."),
    ] = True,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Number of bakes at a time.")
    ] = None,
    pack: Annotated[
        list[str] | None,
        typer.Option(help="Write a scene pack of all bundles, NAME.vdg. Repeatable."),
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="Bake on a dask cluster.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until another run in this folder has ended.")
    ] = False,
    force: Force = False,
    checkpoint_seconds: Annotated[
        float, typer.Option(help="Seconds between two checkpoints of a bake.")
    ] = 5.0,
    device: DeviceChoice = None,
    as_json: AsJson = False,
) -> None:
    """Bakes all materials that are not up to date.

    Exit code 0: all are baked. 3: some failed. 130: Ctrl-C; the next run continues.
    """
    choices = choices_of(given, device, force, checkpoint_seconds)
    read, _ = _read(given, out)
    beside = [entry.name for entry in read.entries if not entry.folder]
    bundles = {each.name: bundle_of(each, read.out) for each in read.entries if not each.problem}
    with as_usage_error("--pack"):
        require_pack_names(pack or (), beside, str(given.scene))
        require_packable(dict.fromkeys(pack or (), ()), bundles, str(given.scene))

    with run_lock(read.out, wait, warn):
        # after the lock: another run may have baked materials meanwhile
        found = plan_of(given, out, choices)
        for each in found.materials:
            if each.is_to_do and each.entry.links:
                warn(f"{each.entry.name}: {each.entry.links_note}")
        options = RunOptions(FailurePolicy(retry, keep_going), tuple(pack or ()))

        def engine(works: int) -> Engine:
            tasks = [work.task for work in found.works]
            return _engine(dask, device, jobs, works, tasks, found.scene.out)

        summary = run_plan(
            found, choices, options, engine, lambda total, at: open_view(total, at, as_json)
        )
        files = write_summary(summary)
    if as_json:
        # after the summary is written: a closed output loses only these lines
        JsonView(0).refused(found.of(State.BROKEN))
        print(json.dumps({"event": "summary", "file": str(files[0]), **summary.counts}))
    else:
        print("\n".join(summary_lines(summary, files)))
    _exit(summary)


@app.add("scene status assets -o baked")
def status(
    *,
    out: Out = None,
    given: SceneArguments,
    as_json: AsJson = False,
) -> None:
    """Lists bundles that are out of date, with the reasons. Exit code 4 if there are any."""
    found = plan_of(given, out, choices_of(given))

    print(json.dumps(status_json(found), indent=1) if as_json else "\n".join(status_lines(found)))
    if len(found.of(State.CURRENT)) < len(found.materials):
        raise typer.Exit(EXIT_STALE)


def choices_of(
    given: SceneArguments,
    device: str | None = None,
    force: bool = False,
    checkpoint_seconds: float = 5.0,
) -> Choices:
    """How to plan a scene, from options of the command line."""
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


def _read(
    given: SceneArguments, out: Path | None, path_rules: tuple[PathRule, ...] = ()
) -> tuple[Scene, DocumentCache]:
    if given.preset:
        with as_usage_error("--preset"):
            require_recipe(given.preset, TRAINERS[0])
    changes = parse_setting_changes(given.settings)
    rule = Rule(request=BakeRequest(preset=given.preset or None, changes=changes))
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
    given: SceneArguments,
    out: Path | None,
    choices: Choices,
    path_rules: tuple[PathRule, ...] = (),
) -> Plan:
    """The plan of a scene, from options of the command line."""
    read, documents = _read(given, out, path_rules)
    return make_plan(read, choices, DigestCache(cache_folder()), documents)


def _engine(
    dask: str | None,
    device: str | None,
    jobs: int | None,
    works: int,
    tasks: Sequence[Task],
    out: Path,
) -> Engine:
    devices = (device,) if device else hardware_devices()
    if dask is not None:
        return DaskEngine(dask, jobs or max(1, len(devices)), devices)
    if device == "software":
        devices, jobs = (device,), jobs or concurrent_bakes(tasks)
    slots = min(jobs or concurrent_bakes_on(len(devices)) or concurrent_bakes(tasks), works)
    return LocalEngine(devices, slots, log_folder(out).absolute())


def _exit(summary: Summary) -> None:
    if summary.exit_code:
        raise typer.Exit(summary.exit_code)
