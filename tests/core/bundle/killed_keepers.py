"""Bundles that are replaced and restored in processes that are killed at every step they take in
the file system.

    python killed_keepers.py FOLDER

Prints, as JSON, what is there after each death, for each way to exchange folders and each action:
whether the bundle can be opened, and which numbers are in it and in its versions.
"""

import json
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "files"))

import killed_writers as killing
from killed_writers import CONTENTS, NUMBERS, replacing, what_is_there, writing

from verdigris.core.bundle.history import History, keeper

write = killing.make


def replace(path, name):
    writing.write_bundle(path, NUMBERS[name], CONTENTS[name], keeper(path))


def restore(path, _name):
    history = History(path)
    history.restore(history.versions()[1])


def kept(path):
    """Names of the materials in all versions, the bundle itself first."""
    history = History(path)
    history.recover()
    return [what_is_there(each.folder) for each in history.versions()]


def deaths(folder, action, template):
    # all steps of a write are tested beside the writer
    stride = 2 if action is replace else 1
    killing.make = action
    found, step, status = [], 0, signal.SIGKILL
    while status:
        place = folder / str(step)
        shutil.copytree(template, place)
        path = place / "a.vdg"
        status = killing.die_at(step, path)
        found.append([what_is_there(path), sorted(set(kept(path))), what_is_there(path)])
        left = [each.name for each in place.iterdir() if each.name.endswith((".tmp", ".old"))]
        if left or status not in (0, signal.SIGKILL):
            found[-1] = [f"left {left}", status]
        shutil.rmtree(place)
        step += stride
    return found


def main(folder):
    found = {}
    for way in ("exchange", "aside"):
        if way == "aside":
            replacing.exchange = lambda first, second: False
        one, two = folder / way / "one", folder / way / "two"
        one.mkdir(parents=True)
        write(one / "a.vdg", "before")
        shutil.copytree(one, two)
        replace(two / "a.vdg", "after")
        for name, action, template in (("replace", replace, one), ("restore", restore, two)):
            found[f"{name} by {way}"] = deaths(folder / way / name, action, template)

    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
