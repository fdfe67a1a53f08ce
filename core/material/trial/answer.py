"""The process that answers questions about shaders: one line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import partial
from typing import IO, Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.trial.reflect import reflect

MOST_BYTES = 16 << 30


def main() -> None:
    """Answers until the standard input ends."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
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


def _say(answers: IO[str], found: dict[str, Any]) -> None:
    answers.write(json.dumps(found) + "\n")
    answers.flush()


def _answer(asked: dict[str, Any], answers: IO[str]) -> dict[str, Any]:
    from verdigris.core.base.device import open_device

    device = open_device(asked.get("device"))
    enter = partial(lambda phase: _say(answers, {"phase": phase}))
    enter("compile")
    return reflect(device, asked["name"], asked["modules"], asked["functions"])


if __name__ == "__main__":
    main()
