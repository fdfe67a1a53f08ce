"""`verdigris farm template`, and the commands of its jobs: `task` and `finish`"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import SceneError, VerdigrisError
from verdigris.core.base.outputs import check_apart, check_output, write_file
from verdigris.core.base.process.worker_environment import require_launcher
from verdigris.core.batch.farm.farm_task import read_outcomes, run_task, tasks_of
from verdigris.core.batch.farm.openjd import (
    HostJobChoices,
    JobChoices,
    PathRule,
    failure,
    host_job_template,
    is_known,
    job_template,
    paths_of,
    read_material_list,
    read_path_rules,
)
from verdigris.core.batch.plan.plan import State
from verdigris.core.batch.plan.state_folder import run_lock
from verdigris.core.batch.run.run import finish_plan, write_summary
from verdigris.core.batch.run.summary import summary_lines
from verdigris.core.cli.shared.options import (
    CommandApp,
    DeviceChoice,
    SettingChanges,
    parse_setting_changes,
    path_argument,
)
from verdigris.core.cli.shared.scene_options import Out, Preset, SceneArguments, choices_of, plan_of
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.hosts.host import APPLICATIONS, find_application

app = CommandApp(
    "farm", "Bakes a scene on a farm, with Open Job Description or Dask. See docs/SCENES.md."
)

_JOBS = (".json", ".yaml", ".yml")

PathMapping = Annotated[
    Path | None, typer.Option(help="The path mapping rules that an Open Job session writes.")
]
JobFile = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the job to this file (.json or .yaml).")
]
Gpu = Annotated[bool, typer.Option("--gpu", help="Require machines with a GPU.")]
TaskSeconds = Annotated[
    int, typer.Option(min=0, help="Stop a task after this many seconds. 0 means never.")
]


@app.add("farm template assets -o job.json --retry 2")
def template(
    *,
    output: JobFile = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder for the bundles. Default: baked.")
    ] = None,
    given: SceneArguments,
    name: Annotated[str, typer.Option(help="The job's name. Default: the scene's name.")] = "",
    command: Annotated[
        str, typer.Option(help="The verdigris program on the farm's machines, without options.")
    ] = "verdigris",
    gpu: Gpu = False,
    task_seconds: TaskSeconds = 0,
    retry: Annotated[int, typer.Option(min=0, help="How often to repeat a bake that crashed.")] = 1,
) -> None:
    """Writes a job for a farm, with a task for each bake.

    The job is an Open Job Description, for `openjd run`, AWS Deadline Cloud and others.
    """
    if not command.strip():
        raise typer.BadParameter("is empty: name a program", param_hint="--command")
    if output:
        check_output(output, _JOBS)
        check_apart(output, [given.scene])
    found = plan_of(given, out, choices_of(given, force=True))
    for each in found.of(State.BROKEN):
        why = "; ".join(each.reasons)
        warn(f"{each.entry.name} is left out: {why}")
    job = JobChoices(
        name or f"Verdigris: {given.scene.stem}",
        command,
        tuple(given.as_options()),
        tuple(given.search or ()),
        gpu,
        task_seconds,
        retry,
        output.parent if output else None,
    )
    contents = job_template(given.scene, found.scene.out, tasks_of(found), job)
    text = json.dumps(contents, indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        write_file(output, text.encode("utf-8", "replace"))
        line = ["openjd", "run", str(output), "--step", "Report", "--run-dependencies"]
        _print_submission(line, paths_of(given.scene, found.scene.out, job), output)


@app.add("farm host-template shot.ma --parts 8 -o job.json", "host-template")
def host_template(
    scene: Annotated[Path, path_argument("SCENE", "A scene of Maya or Houdini.")],
    output: JobFile = None,
    out: Annotated[Path, typer.Option("--out", help="The folder for the bundles.")] = Path("baked"),
    preset: Preset = "",
    settings: SettingChanges = None,
    material: Annotated[
        list[str] | None, typer.Option(help="Write a task for this material. Repeatable.")
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option(
            "--list", help="Write a task for each material in this file of `batch.py --list`."
        ),
    ] = None,
    parts: Annotated[
        int, typer.Option(min=1, help="Without --material and --list: the default number of tasks.")
    ] = 1,
    viewport_textures: Annotated[
        bool,
        typer.Option("--viewport-textures", help="Also write plain textures (PNG) for viewports."),
    ] = False,
    name: Annotated[str, typer.Option(help="The job's name. Default: the scene's name.")] = "",
    interpreter: Annotated[
        str, typer.Option(help="mayapy or hython on the farm's machines. Default: the bare name.")
    ] = "",
    launcher: Annotated[
        str,
        typer.Option(help="batch.py on the farm's machines. Default: its path on this machine."),
    ] = "",
    gpu: Gpu = False,
    task_seconds: TaskSeconds = 0,
) -> None:
    """Writes a job that bakes a scene of Maya or Houdini.

    The application runs on the farm.
    """
    application = find_application(scene)
    if application is None:
        known = ", ".join(suffix for each in APPLICATIONS for suffix in each.suffixes)
        raise SceneError(
            f"{scene} is not a scene of Maya or Houdini ({known}): for other scenes, use "
            "`verdigris farm template`"
        )
    if not scene.is_file():
        raise SceneError(f"{scene}: there is no such file")
    if output:
        check_output(output, _JOBS)
        check_apart(output, [scene, *([listed] if listed else [])])
    parse_setting_changes(settings)
    options = ["--viewport-textures"] if viewport_textures else []
    if settings:
        options += ["--", *(part for each in settings for part in ("--set", each))]
    choices = HostJobChoices(
        name or f"Verdigris: {scene.stem}",
        interpreter or application.interpreter,
        launcher or str(require_launcher("batch")),
        preset,
        parts,
        tuple(options),
        gpu,
        task_seconds,
        output.parent if output else None,
    )
    materials = [*(material or ()), *(read_material_list(listed) if listed else ())]
    job = host_job_template(scene, out, list(dict.fromkeys(materials)), choices)
    text = json.dumps(job, indent=2) + "\n"
    if output is None:
        print(text, end="")
    else:
        write_file(output, text.encode("utf-8", "replace"))
        paths = {"Scene": scene.absolute(), "Out": out.absolute()}
        _print_submission(["openjd", "run", str(output)], paths, output)


def _print_submission(line: list[str], paths: Mapping[str, Path], output: Path) -> None:
    """Prints the command that runs a job here, with the paths that the job does not contain."""
    for key, path in paths.items():
        line += [] if is_known(path, output.parent) else ["-p", f"{key}={path}"]
    print(shlex.join(line))


@app.add("farm task assets --task copper_tray")
def task(
    *,
    name: Annotated[str, typer.Option("--task", help="The name of the bake.")],
    out: Out = None,
    given: SceneArguments,
    path_mapping: PathMapping = None,
    retry: Annotated[int, typer.Option(min=0, help="How often to repeat a bake that crashed.")] = 0,
    device: DeviceChoice = None,
) -> None:
    """Runs one bake of a job.

    It prints its progress for the farm. If the same task runs again, it continues.
    """

    def report(text: str) -> None:
        print(text, flush=True)

    try:
        choices = choices_of(given, device)
        found = plan_of(given, out, choices, _rules(path_mapping))
        done = run_task(found, name, choices, retry, report)
    except VerdigrisError as problem:
        report(failure(str(problem)))
        raise
    if not done:
        raise typer.Exit(1)


@app.add("farm finish assets")
def finish(*, out: Out = None, given: SceneArguments, path_mapping: PathMapping = None) -> None:
    """Writes scene packs, summary and report after all tasks.

    The exit code is 3 if bundles failed or are missing.
    """
    found = plan_of(given, out, choices_of(given), _rules(path_mapping))
    with run_lock(found.scene.out, wait=True):
        summary = finish_plan(found, read_outcomes(found))
        files = write_summary(summary)
    print("\n".join(summary_lines(summary, files)))
    if summary.exit_code:
        raise typer.Exit(summary.exit_code)


def _rules(path: Path | None) -> tuple[PathRule, ...]:
    return read_path_rules(path)
