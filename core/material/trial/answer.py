"""The process that answers questions about shaders: one line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.live_inputs.live_input import parse_wanted
from verdigris.core.material.load.changes import DocumentChanges
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.trial.evaluate import RawTeacher, evaluate
from verdigris.core.material.trial.reflect import reflect

# Memory of a shader on a software device, whose compiler and arrays may take all of the machine.
MOST_BYTES = 4 << 30


def main() -> None:
    """Answers until the standard input ends."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # what the compiler and the driver print must not get into the answers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        try:
            found = _answer(json.loads(line), answers)
        except VerdigrisError as failure:
            found = {"error": str(failure)}
        _say(answers, found)


def _limit_memory() -> None:
    """Limits the address space. The driver of a GPU takes hundreds of gigabytes of it."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        limits = resource.getrlimit(resource.RLIMIT_AS)
        if limits[0] == resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most = pages * resource.getpagesize() + MOST_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))


def _say(answers: IO[str], found: dict[str, Any]) -> None:
    answers.write(json.dumps(found) + "\n")
    answers.flush()


def _answer(asked: dict[str, Any], answers: IO[str]) -> dict[str, Any]:
    from verdigris.core.base.device import open_device

    device = open_device(asked.get("device"))
    if device.is_software:
        _limit_memory()

    def enter(phase: str) -> None:
        _say(answers, {"phase": phase})

    enter("compile")
    if asked["ask"] == "reflect":
        return reflect(device, asked["name"], asked["modules"], asked["functions"])
    search, confined = asked["search"], asked["confined"]
    changes = DocumentChanges.of(asked["inputs"], {})
    document = parse_document(asked["text"], search, asked["name"], confined, changes=changes)
    material = document.require_material(asked["material"])
    live = [parse_wanted(each) for each in asked["live"]]
    return evaluate(RawTeacher(document, material, device, live=live), enter)


if __name__ == "__main__":
    main()
