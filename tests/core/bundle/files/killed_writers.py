"""Writes bundles in processes that are killed at every step they take in the file system.

    python killed_writers.py FOLDER

Prints, as JSON, for each way to replace a bundle what a reader finds after each death: "before",
"after", "none", or what is wrong.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files import replace_folder as replacing
from verdigris.core.bundle.files import write as writing
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import Reference, make_reference
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec

STEPS = ("open", "os.", "shutil.", "ctypes.")


def exported(seed):
    spec = NetworkSpec(hidden_width=8, activation="silu")
    return export_numbers(initialise(spec, LatentLayout(8, 8, 4), seed))


NUMBERS = {"before": exported(1), "after": exported(2)}
# No more rows than there must be, worked out once: all of them take longer than the write itself.
REFERENCES = {}
for name, numbers in NUMBERS.items():
    rows = make_reference(numbers.parameters)
    columns = (rows.uv, rows.lod, rows.wi, rows.wo, rows.exported)
    REFERENCES[name] = Reference(*(column[::2] for column in columns))


# What is written is encoded once, too: nothing is on the disk before all of it is.
CONTENTS = {
    name: Contents(name, reference=REFERENCES[name], runtime={"a.slang": b"// code"})
    for name in NUMBERS
}
ENCODED = {name: writing._files(NUMBERS[name], CONTENTS[name]) for name in NUMBERS}
writing._files = lambda _, contents: ENCODED[contents.name]


def make(path, name):
    writing.write_bundle(path, NUMBERS[name], CONTENTS[name])


def die_at(step, path):
    """In a process of its own: the write, ended by SIGKILL before its step of this number."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    taken = 0

    def count(event, arguments):
        nonlocal taken
        # the kill is an event, too
        if event.startswith(STEPS) and taken <= step:
            taken += 1
            if taken > step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    make(path, "after")
    os._exit(0)


def die_after(seconds, path):
    """The same, ended after some time."""
    child = os.fork()
    if child == 0:
        make(path, "after")
        os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def what_is_there(path):
    try:
        bundle = open_bundle(path)
        bundle.check_files()
        name = bundle.manifest.name
        found = bundle.parameters()
        same = np.array_equal(found.latents, NUMBERS[name].parameters.latents)
        return name if same else f"{name} with other numbers"
    except BundleError as failure:
        return "none" if "there is no such bundle" in str(failure) else str(failure)


def deaths_in(folder):
    result = {"first": [], "second": [], "timed": []}
    template = folder / "template.vdg"
    make(template, "before")
    for kind in ("first", "second"):
        step, status = 0, signal.SIGKILL
        while status:
            place = folder / f"{kind}{step}"
            place.mkdir()
            path = place / "a.vdg"
            if kind == "second":
                shutil.copytree(template, path)
            status = die_at(step, path)
            if status not in (0, signal.SIGKILL):
                result[kind].append(f"ended with status {status}")
            result[kind].append(what_is_there(path))
            # the next writer finds nothing in its way, and leaves nothing behind
            make(path, "after")
            left = sorted(each.name for each in place.iterdir())
            if left != ["a.vdg"] or what_is_there(path) != "after":
                result[kind].append(f"left behind: {left}")
            shutil.rmtree(place)
            step += 1
    path = folder / "a.vdg"
    for _ in range(4):
        make(path, "before")
        die_after(random.uniform(0, 0.1), path)
        result["timed"].append(what_is_there(path))
    return result


def main(folder):
    found = {}
    for way in ("exchange", "aside"):
        if way == "aside":
            replacing.exchange = lambda first, second: False
        (folder / way).mkdir()
        found[way] = deaths_in(folder / way)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
