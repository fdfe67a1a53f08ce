"""Kills runs of a scene at random steps and lets them go on, then compares with one that nobody
killed.

    python killed_runs.py FOLDER --materials 2 --kills 5 --longest-delay 3

A delay lets the kill fall anywhere: between checkpoints, into the writing of one, into measuring.

Prints, as JSON, the steps of the checkpoints that each killed run left, from which steps bakes went
on, and whether the bundles are the same.
"""

import argparse
import hashlib
import json
import os
import random
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

from verdigris.core.baking.state import checkpoint
from verdigris.core.base.lock import HeldError, locked
from verdigris.core.batch.run import bake_queue, bake_task
from verdigris.core.batch.run.bake_process import BAKED, FAILED, Outcome
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.verify.verify import verify

DOCUMENT = """<materialx version="1.39">
<checkerboard name="C" type="color3"><input name="uvtiling" type="vector2" value="4, 4"/>
<input name="color1" type="color3" value="{colour}"/></checkerboard>
<oren_nayar_diffuse_bsdf name="D" type="BSDF">
<input name="color" type="color3" nodename="C"/></oren_nayar_diffuse_bsdf>
<surface name="S" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="D"/></surface>
<surfacematerial name="{name}" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="S"/></surfacematerial></materialx>"""
SETTINGS = ("resolution=16", "batch=256", "network=2x16", "starts=2", "start_share=0.05")
NUMBERS = ("weights.bin", "latents.ktx2")
LONGEST = 600
_TESTS = Path(__file__).parents[1]
_SMALL = runpy.run_path(str(_TESTS / "brisk.py"))["SMALL"]
# A bake of runs of about as many steps on any machine, which waits behind a checkpoint.
_BAKE = """
import itertools, time, types
from verdigris.core.baking.state import trainers
from verdigris.core.batch.run import bake_task
trainers.time = types.SimpleNamespace(monotonic=itertools.count(0, 0.19).__next__)
run = bake_task.run
def run_and_wait(task, post):
    def post_and_wait(event):
        post(event)
        if event["event"] == "checkpointed" and event["step"] >= {at}:
            time.sleep({seconds})
    return run(task, post_and_wait)
bake_task.run = run_and_wait
bake_task.main()
"""
# the command, whose bakes end with small pictures and measures
BRISK_RUN = """
import runpy, sys
from verdigris.core.batch.run import bake_process
bake_process.bake_command = lambda: [sys.executable, "-P", "-u", "-c", {bake!r}]
runpy.run_module("verdigris.core", run_name="__main__")
"""
# what says when, or by which process, and not what
TIMES = ("seconds", "bake_seconds")


def words(folder, out, steps):
    settings = [part for each in (*SETTINGS, f"iterations={steps}") for part in ("--set", each)]
    where = ["-o", str(folder / out), "--device", "software", "--checkpoint-seconds", "0"]
    return ["scene", "run", str(folder / "docs"), "--json", *where, *settings]


def start(folder, out, steps, at, seconds):
    """A run whose bakes wait some seconds behind each checkpoint from a step on."""
    bake = _SMALL + _BAKE.format(at=at, seconds=seconds)
    command = [sys.executable, "-c", BRISK_RUN.format(bake=bake), *words(folder, out, steps)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)


def bake_here(_, task, report, *__):
    """Bakes in this process, as nobody kills it."""
    return Outcome(FAILED if bake_task.run(task, report) else BAKED)


def told(folder, out, steps):
    """What a run that nobody kills tells, to its end."""
    run_command = runpy.run_path(str(_TESTS / "in_process.py"))["run_command"]
    small = runpy.run_path(str(_TESTS / "small_endings.py"))["SMALL_ENDINGS"]
    patches = (*small, (bake_queue.BakeProcess, "bake", bake_here))
    code, printed, errors = run_command(words(folder, out, steps), *patches)
    assert code == 0, errors
    return [json.loads(line) for line in printed.splitlines()]


def kill_in_training(process, at, delay):
    """Kills it some seconds after a bake has a checkpoint of this step or a later one; the steps
    that its bakes began at."""
    begun, event = [], None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "started":
            begun.append(event["step"])
        if event["event"] == "checkpointed" and event["step"] >= at:
            break
    else:
        raise AssertionError(f"it has ended with code {process.wait()} behind {event}")
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(LONGEST)
    process.stdout.close()
    return begun


def wait_for_bakes(folder, names):
    """Until the bakes of a killed run, which end when it is gone, have let go of their locks."""
    for name in names:
        end = time.monotonic() + LONGEST
        while True:
            try:
                with locked(folder, name):
                    break
            except HeldError:
                assert time.monotonic() < end
                time.sleep(0.02)


def kept_steps(folder):
    """Of the checkpoints here."""
    return [checkpoint.load(path).facts["step"] for path in sorted(folder.glob("*.npz"))]


def facts(bundle):
    """The numbers' digests, and the manifest without times."""
    digests = {name: hashlib.sha256((bundle / name).read_bytes()).hexdigest() for name in NUMBERS}
    manifest = json.loads((bundle / "manifest.json").read_text())
    for name in TIMES:
        manifest["source"].pop(name, None)
    return digests, manifest


def differences(first, second, where=""):
    """Where two manifests are not the same."""
    if isinstance(first, dict) and isinstance(second, dict):
        keys = sorted({*first, *second})
        parts = [differences(first.get(key), second.get(key), f"{where}.{key}") for key in keys]
        return [each for part in parts for each in part]
    return [] if first == second else [f"{where[1:]}: {first} and {second}"]


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--materials", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--longest-delay", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    (given.folder / "docs").mkdir(parents=True, exist_ok=True)
    names = [f"m{number}" for number in range(given.materials)]
    for number, name in enumerate(names):
        text = DOCUMENT.format(name=name, colour=f"0.{number + 1}, 0.5, 0.3")
        (given.folder / "docs" / f"{name}.mtlx").write_text(text)
    told(given.folder, "whole", given.steps)
    chance = random.Random(given.seed)
    begun, kept = [], []
    for _ in range(given.kills):
        at = chance.uniform(0.0, 0.7) * given.steps
        delay = chance.uniform(0.0, given.longest_delay)
        # without a delay, the kill falls where the bake waits for it
        process = start(given.folder, "killed", given.steps, at, 0 if delay else LONGEST)
        begun.append(kill_in_training(process, at, delay))
        wait_for_bakes(given.folder / "killed", names)
        kept.append(kept_steps(given.folder / "killed"))
    rest = told(given.folder, "killed", given.steps)
    pairs = [
        [facts(given.folder / out / f"{name}.vdg") for out in ("whole", "killed")] for name in names
    ]
    bundles = [open_bundle(given.folder / "killed" / f"{name}.vdg") for name in names]
    return {
        "kept_steps": kept,
        "begun_at_steps": [
            *begun,
            [event["step"] for event in rest if event["event"] == "started"],
        ],
        "ended": {
            event["material"]: event["status"] for event in rest if event["event"] == "ended"
        },
        "numbers_equal": all(first[0] == second[0] for first, second in pairs),
        "manifests_differ": [
            each for first, second in pairs for each in differences(first[1], second[1])
        ],
        "verify": all(verify(bundle).holds for bundle in bundles),
        "left_behind": sorted(
            path.name
            for path in (given.folder / "killed").iterdir()
            if path.suffix in (".npz", ".tmp", ".lock")
        ),
    }


if __name__ == "__main__":
    print(json.dumps(main()))
