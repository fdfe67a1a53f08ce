"""Stands for the worker's Python: it takes `verdigris bake FILE --json …` and does what the name of
the bundle says, in milliseconds. Its number is in NAME.pid, beside the bundle."""

import json
import os
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path

SECONDS = float(os.environ.get("FAKE_SECONDS", "20"))


def say(**event):
    print(json.dumps(event), flush=True)


def main():
    arguments = sys.argv[1:]
    assert arguments[:5] == ["-P", "-u", "-m", "verdigris.core", "bake"], arguments
    given = dict(pairwise(arguments))
    name, out = given["--name"], Path(given["--out"])
    bundle = str(out / f"{name}.vdg")
    asked = []
    out.mkdir(parents=True, exist_ok=True)
    # one that is stubborn notes that it was asked, and goes on
    note = (out / f"{name}.asked").touch if name.startswith("stubborn") else lambda: asked.append(1)
    signal.signal(signal.SIGINT, lambda *_: note())
    (out / f"{name}.pid").write_text(str(os.getpid()))
    if name.startswith("current"):
        say(event="up_to_date", results=[bundle], textures=[{}])
        return 0
    say(event="started", materials=[name])
    say(event="phase", name="training", number=1, count=1)
    end = time.monotonic() + (0 if name.startswith("quick") else SECONDS)
    step = 0
    while not asked and (step == 0 or time.monotonic() < end):
        say(event="step", step=step, steps=1000, loss=0.5, seconds_left=SECONDS)
        step += 1
        time.sleep(0.02)
    if name.startswith("unborn"):
        print("verdigris: nothing was learnt", file=sys.stderr)
        return 1
    say(event="finished", results=[bundle], stopped_by="request" if asked else "steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
