"""Stands for the process of bakes: reads a task as it does, and does what the settings' seed
says, in milliseconds. Every start is noted in a file beside the checkpoint."""

import json
import os
import signal
import sys
import time
from pathlib import Path

FINE, CRASH_ONCE, REFUSE, ERROR, HANG, TILL_KILL, NOISY, WAIT_ONCE, LEAVE_LOCKS, LIVE = range(10)


def say(**event):
    print(json.dumps(event), flush=True)


def main():
    while task := sys.stdin.readline():
        if bake(json.loads(task)) != LIVE:
            break
        say(event="ready")


def bake(task):
    sys.stderr = Path(task.get("log", os.devnull)).open("a")  # noqa: SIM115
    folder, names = Path(task["folder"]), [member["name"] for member in task["members"]]
    starts = folder / f"{task['name']}.starts"
    with starts.open("a") as file:
        file.write(f"{os.getpid()}\n")
    what = task["request"].get("changes", {}).get("seed", FINE)
    if what == REFUSE:
        bad = [name for name in names if name.startswith("bad")]
        for name in bad:
            say(event="refused", member=name, text=f"{name} does not compile")
        if bad:
            sys.exit(1)
    say(event="started", device="a fake", step=0, materials=names)
    if what == WAIT_ONCE and len(starts.read_text().split()) == 1:
        say(event="waited")
        return what
    if what == CRASH_ONCE and len(starts.read_text().split()) == 1:
        print("the driver has gone", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if what == LEAVE_LOCKS:
        for name in (task["name"], f"{task['name']}.vdg"):
            (folder / f".{name}.lock").write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    if what == ERROR:
        say(event="error", text="the graph goes round", kind="DocumentError", can_retry=False)
        sys.exit(1)
    if what == HANG:
        time.sleep(60)
    if what == NOISY:
        print("a library's own words", flush=True)
        print('{"no": "event"}', flush=True)
    say(event="step", step=0, steps=1, loss=0.5, seconds_left=0.1)
    while what == TILL_KILL and not (folder / "killed").exists():
        time.sleep(0.01)
    say(event="warning", text="transmission is dropped")
    say(event="finished", results=[str(folder / f"{name}.vdg") for name in names])
    return what


if __name__ == "__main__":
    main()
