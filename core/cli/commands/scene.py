"""`verdigris scene plan`, `run` and `status`"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.adapters import hardware_devices
from verdigris.core.batch.farm.dask_engine import DaskEngine
from verdigris.core.batch.plan.packs import require_packable
from verdigris.core.batch.plan.plan import State, bundle_of
from verdigris.core.batch.plan.state_folder import run_lock
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_queue import (
    Engine,
    FailurePolicy,
    LocalEngine,
    concurrent_bakes,
    concurrent_bakes_on,
)
from verdigris.core.batch.run.looks import write_looks_of
from verdigris.core.batch.run.progress_view import JsonView, open_view
from verdigris.core.batch.run.run import RunOptions, log_folder, run_plan, write_summary
from verdigris.core.batch.run.summary import (
    plan_json,
    plan_lines,
    status_json,
    status_lines,
    summary_lines,
)
from verdigris.core.batch.scene.scene import require_pack_names
from verdigris.core.cli.shared.options import AsJson, CommandApp, DeviceChoice, as_usage_error
from verdigris.core.cli.shared.scene_options import (
    Force,
    Out,
    SceneArguments,
    choices_of,
    plan_of,
    read_given,
)
from verdigris.core.cli.shared.terminal import warn

app = CommandApp("scene", "Bakes all materials of a scene: plan, run, status. See docs/SCENES.md.")
EXIT_STALE = 4


@app.add("scene plan assets --preset final")
def plan(
    *,
    out: Out = None,
    given: SceneArguments,
    force: Force = False,
    device: DeviceChoice = None,
    as_json: AsJson = False,
) -> None:
    """Lists the materials that need a bake, and how long it takes."""
    found = plan_of(given, out, choices_of(given, device, force))
    print(json.dumps(plan_json(found), indent=1) if as_json else "\n".join(plan_lines(found)))


@app.add("scene run assets -o baked --jobs 2")
def run(
    *,
    out: Out = None,
    given: SceneArguments,
    retry: Annotated[int, typer.Option(min=0, help="How often to repeat a bake that crashed.")] = 0,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going/--stop-at-failure", help="Whether to continue after a failure."),
    ] = True,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Number of bakes at the same time.")
    ] = None,
    pack: Annotated[
        list[str] | None,
        typer.Option(help="Write a scene pack of all bundles, NAME.vdg. Repeatable."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Bake on a Dask cluster: the address of its scheduler, or local.",
        ),
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

    The exit code is 0 if all materials are baked, 3 if some failed, and 130 after Ctrl-C. The next
    run continues.
    """
    choices = choices_of(given, device, force, checkpoint_seconds)
    read, _ = read_given(given, out)
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
        looks = list(write_looks_of(found))
    if as_json:
        # after the summary is written: a closed output loses only these lines
        JsonView(0).refused(found.of(State.BROKEN))
        print(json.dumps({"event": "summary", "file": str(files[0]), **summary.counts}))
    else:
        print("\n".join((*summary_lines(summary, files), *looks)))
    if summary.exit_code:
        raise typer.Exit(summary.exit_code)


@app.add("scene status assets -o baked")
def status(*, out: Out = None, given: SceneArguments, as_json: AsJson = False) -> None:
    """Lists bundles that are out of date, with the reasons.

    The exit code is 4 if there are any.
    """
    found = plan_of(given, out, choices_of(given))
    print(json.dumps(status_json(found), indent=1) if as_json else "\n".join(status_lines(found)))
    if len(found.of(State.CURRENT)) < len(found.materials):
        raise typer.Exit(EXIT_STALE)


def _engine(
    dask: str | None,
    device: str | None,
    jobs: int | None,
    works: int,
    tasks: Sequence[Task],
    out: Path,
) -> Engine:
    """What runs the bakes: a Dask cluster, or processes of this machine."""
    devices = (device,) if device else hardware_devices()
    if dask is not None:
        return DaskEngine(dask, jobs or max(1, len(devices)), devices)
    if device == "software":
        devices, jobs = (device,), jobs or concurrent_bakes(tasks)
    slots = min(jobs or concurrent_bakes_on(len(devices)) or concurrent_bakes(tasks), works)
    return LocalEngine(devices, slots, log_folder(out).absolute())
