"""Reads an untrusted stage in a process of its own, with limits: USD's library may crash on a
damaged file, or take gigabytes for it. The process answers in JSON, because a damaged process may
write anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from verdigris.core.base.errors import SceneError, VerdigrisError
from verdigris.core.base.json_fields import fields_of, parse_json
from verdigris.core.batch.scene.entry import Entry, Source
from verdigris.core.batch.scene.sources import LARGEST_SCENE, ReadOptions, plain_name, read_stage

MOST_SECONDS = 300
MOST_BYTES = 8 << 30
_REMEDY = "it may be damaged: export it again, or read it without --confined if you trust it"


def read_in_process(path: Path, reading: ReadOptions) -> Iterator[Entry]:
    """The materials of a stage. If its process fails, an entry with the problem."""
    asked = {
        "path": str(path),
        "search": [str(each.absolute()) for each in reading.search],
        "allowed": [str(each.absolute()) for each in reading.allowed],
    }
    try:
        # the child writes errors of USD to our own standard error
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(asked).encode(), stdout=subprocess.PIPE, timeout=MOST_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        yield _failed(path, f"USD has not read it after {MOST_SECONDS} s: {_REMEDY}")
        return
    try:
        if done.returncode or len(done.stdout) > LARGEST_SCENE:
            raise SceneError("no answer")
        found = fields_of(parse_json(done.stdout, str(path)).values, str(path), "", SceneError)
        entries = [_entry_of(each, path) for each in found.typed("entries", list, [])]
        error = found.typed("error", str, "")
    except VerdigrisError:
        yield _failed(path, f"USD's library failed as it read the stage: {_REMEDY}")
        return
    if error:
        raise SceneError(error)
    yield from entries


def _entry_of(values: object, path: Path) -> Entry:
    fields = fields_of(values, str(path), "entries", SceneError)
    text, search = fields.typed("text", str, ""), _paths(fields.texts("search"))
    return Entry(
        fields.typed("name", str, ""),
        Source(fields.typed("source", str, ""), text or None, search, bool(text)),
        fields.typed("material", str, ""),
        problem=fields.typed("problem", str, ""),
        notes=fields.texts("notes"),
        links=fields.texts("links"),
        stage=fields.typed("stage", str, ""),
    )


def _paths(texts: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(map(Path, texts))


def _failed(path: Path, why: str) -> Entry:
    return Entry(plain_name(path.stem), Source(str(path)), problem=f"{path}: {why}")


def main() -> None:
    """Answers one question on the standard input."""
    asked = json.loads(sys.stdin.buffer.read())
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        # a crash of an untrusted file leaves no file of its memory
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # what USD's library prints must not get into the answer
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    search, allowed = (_paths(tuple(asked[key])) for key in ("search", "allowed"))
    found: dict[str, object] = {}
    try:
        entries = list(read_stage(Path(asked["path"]), ReadOptions(search, True, allowed=allowed)))
        found["entries"] = [
            {
                "name": each.name,
                "source": each.source.name,
                "text": each.source.text or "",
                "search": [str(folder) for folder in each.source.search],
                "material": each.material,
                "problem": each.problem,
                "notes": list(each.notes),
                "links": list(each.links),
                "stage": each.stage,
            }
            for each in entries
        ]
    except VerdigrisError as failure:
        found["error"] = str(failure)
    with answer:
        json.dump(found, answer)


if __name__ == "__main__":
    main()
