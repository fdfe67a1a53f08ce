"""What writes results: an action, the files that it needs, and a reader of what it leaves."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import OpenImageIO as oiio

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.batch.run import bake_queue, bake_task
from verdigris.core.batch.run.bake_process import BAKED, FAILED, Outcome
from verdigris.core.bundle.files import write as bundle_writing
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents
from verdigris.core.bundle.history import History, keeper
from verdigris.core.compress import compress as compressing
from verdigris.core.compress.compressor import Effort
from verdigris.core.compress.set_files import open_set
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.output.write_ladder import REPORT
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Step, Warning

from ..core.baking.bakes import CHALK, TINY
from ..core.bundle.bundles import lively_parameters
from ..core.in_process import run_command
from ..core.ladder.small_ladder import TINY as TINY_LADDER
from ..core.small_endings import SMALL_ENDINGS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_SMALL = ("--set", "network=2x16", "--set", "batch=64", "--set", "starts=1", "--set",
          "resolution=8")  # fmt: skip
_BUNDLE, _SET, _PAGE, _PACK = "chalk.vdg", "tile.vdt", "page.html", "all.vdg"

Act = Callable[[Path], int]
Found = dict[str, str]


@dataclass(frozen=True)
class Writer:
    """One that writes below `out` of a folder, which has documents in `in`."""

    act: Act
    """Writes the later result, and returns the exit code."""
    earlier: tuple[Act, ...]
    """What wrote before it."""
    results: Callable[[Path], Found]
    """The results of a folder `out`, each with what it holds. Raises for one that is damaged."""
    keeps: bool = False
    """Whether what a result held before is kept as a version."""


def _bake_here(_: object, task: Any, report: Any, *__: object) -> Outcome:
    return Outcome(FAILED if bake_task.run(task, report) else BAKED)


def _for_device(size: int, _is_software: bool) -> LadderSettings:
    return replace(TINY_LADDER, size=size, views=2, steps=10, responses=1000)


_PATCHES = (
    *SMALL_ENDINGS,
    # one process, which dies as a whole
    (bake_queue.BakeProcess, "bake", _bake_here),
    (LadderSettings, "for_device", staticmethod(_for_device)),
    (compressing, "QUICK", Effort(16, 1, 512, 30)),
    (compressing, "_VISITS", {30: 1, 20: 1}),
)


def _command(*words: object) -> Act:
    """Runs the command on the software device, with `in` and `out` in the folder's place."""

    def act(place: Path) -> int:
        given = [str(word).replace("{}", str(place)) for word in words]
        code, printed, errors = run_command(given, *_PATCHES)
        os.write(2, f"{printed}\n{errors}".encode())
        return int(code)

    return act


def _bake(steps: int, name: str = "chalk") -> Act:
    return _command(
        "bake", f"{{}}/in/{name}.mtlx", *_SMALL, "--iterations", steps, "-o", "{}/out", "--device",
        "software", "--set", f"seed={steps}", "--checkpoint-seconds", 0,
    )  # fmt: skip


def _write(number: int) -> Act:
    """A bundle as a bake writes it, of numbers that nobody trained."""

    def act(place: Path) -> int:
        path = place / "out" / _BUNDLE
        exported = export_numbers(lively_parameters(seed=number))
        contents = Contents("chalk", runtime={"a.slang": b"// code"})
        written = bundle_writing.write_bundle(path, exported, contents, keeper(path))
        # a second for each, as versions are ordered by it
        os.utime(written / MANIFEST_FILE, (1e9 + number, 1e9 + number))
        return 0

    return act


def _final_phase(place: Path) -> int:
    """A bake that was stopped: it writes a first result, and refines it."""
    teacher = Teacher(load_document(place / "in" / "chalk.mtlx"), device=open_device("software"))
    options = BakeOptions("chalk", place / "out", "numpy", run_seconds=0.0, writes_first=True)
    control = BakeControl()
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        for each in SMALL_ENDINGS:
            patch.setattr(*each)
        try:
            for event in bake([teacher], replace(TINY, seed=9), options, control):
                if isinstance(event, Step):
                    control.stop()
                if isinstance(event, Warning):
                    os.write(2, f"verdigris: {event.text}\n".encode())
        except VerdigrisError as failure:
            os.write(2, f"verdigris: {failure}\n".encode())
            return 1
    return 0


def _choose(place: Path) -> int:
    """Notes the version that is then changed: the one before the present one."""
    version = History(place / "out" / _BUNDLE).versions()[1]
    (place / "version").write_text(version.name)
    return 0


def _versions(option: str) -> Act:
    """Changes the chosen version. When that is done, or links hide it, it only lists them."""

    def act(place: Path) -> int:
        bundle, name = place / "out" / _BUNDLE, (place / "version").read_text()
        history = History(bundle)
        is_there = any(each.stem == name for each in history.trash())
        words: list[object] = [option]
        if option != "--undelete":
            is_there = history.find(name) is not None
            words.append(name)
        return _command("versions", bundle, *(words if is_there else ["--json"]))(place)

    return act


def _ladder(size: int) -> Act:
    return _command(
        "ladder", "{}/in/chalk.mtlx", "--mesh", EXAMPLES / "tray.obj", "-o", "{}/out", "--size",
        size, "--device", "software", "--rungs", "pbr,vertex",
    )  # fmt: skip


def _compress(steps: int) -> Act:
    return _command(
        "compress", EXAMPLES / "glazed_tile.mtlx", "--size", 32, "--steps", steps, "--device",
        "software", "-o", f"{{}}/out/{_SET}", "--picture", "{}/out/tile.png",
    )  # fmt: skip


def _scene(steps: int) -> Act:
    return _command(
        "scene", "run", "{}/in", "-o", "{}/out", "--device", "software", *_SMALL, "--set",
        f"iterations={steps}", "--checkpoint-seconds", 0, "--pack", _PACK,
    )  # fmt: skip


def _bundles(out: Path) -> Found:
    found = {}
    for path in sorted(out.glob("*.vdg")):
        if path.name == _PACK:
            continue
        bundle = open_bundle(path)
        bundle.check_files()
        found[path.name] = bundle.manifest.weights.sha256
    return found


def _sets(out: Path) -> Found:
    stored = open_set(out / _SET)
    return {_SET: hashlib.sha256(bytes(stored.reference.values)).hexdigest()}


def _page(out: Path) -> Found:
    data = (out / _PAGE).read_bytes()
    if not data.rstrip().endswith(b"</html>"):
        raise ValueError(f"{_PAGE} is cut")
    return {_PAGE: hashlib.sha256(data).hexdigest()}


def _ladder_of(out: Path) -> Found:
    """The report names files, and each of them is there and whole."""
    report = json.loads((out / REPORT).read_text())
    for rung in report["rungs"]:
        for name in _files_in(rung.get("files", {})):
            if name.endswith((".png", ".jpg")) and oiio.ImageBuf(str(out / name)).has_error:
                raise ValueError(f"{name} is cut")
            if not (out / name).exists():
                raise ValueError(f"{name} is gone")
    _bundles(out)
    return {REPORT: "a ladder"}


def _files_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value
    return [name for each in inner for name in _files_in(each)] if value else []


write_bundle = _write(1)
_TWO = (write_bundle, _write(2))
_BAKED = (_bake(4), _bake(5))
_EXPORT = _command("export", f"{{}}/out/{_BUNDLE}", "-t", "rgba8", "-o", "{}/out/phone.vdg")
WRITERS = {
    "bake": Writer(_bake(6), _BAKED, _bundles, keeps=True),
    "final phase": Writer(_final_phase, _BAKED, _bundles, keeps=True),
    "ladder": Writer(_ladder(24), (_ladder(16),), _ladder_of),
    "compress": Writer(_compress(30), (_compress(20),), _sets),
    "publish": Writer(
        _command("publish", f"{{}}/out/{_BUNDLE}", "-o", f"{{}}/out/{_PAGE}", "--title", "b"),
        (*_TWO, _command("publish", f"{{}}/out/{_BUNDLE}", "-o", f"{{}}/out/{_PAGE}")),
        _page,
    ),
    "scene": Writer(_scene(6), (_scene(4),), _bundles),
    "export": Writer(_EXPORT, (_write(1), _EXPORT, _write(2)), _bundles),
    "restore": Writer(_versions("--restore"), (*_TWO, _choose), _bundles, keeps=True),
    "delete": Writer(_versions("--delete"), (*_TWO, _choose), _bundles, keeps=True),
    "undelete": Writer(
        _versions("--undelete"), (*_TWO, _choose, _versions("--delete")), _bundles, keeps=True
    ),
    "pin": Writer(_versions("--pin"), (*_TWO, _choose), _bundles, keeps=True),
}  # fmt: skip


def write_inputs(place: Path) -> None:
    (place / "in").mkdir()
    (place / "out").mkdir()
    for name in ("chalk", "slate"):
        (place / "in" / f"{name}.mtlx").write_text(CHALK.format(name=name))


def kept(out: Path) -> set[str]:
    """What the bundles of a folder hold, with their versions and the deleted ones."""
    found = set()
    for path in out.glob("*.vdg"):
        if path.name == _PACK:
            continue
        history = History(path)
        history.recover()
        folders = [*(each.folder for each in history.versions()), *history.trash()]
        for folder in folders:
            bundle = open_bundle(folder)
            bundle.check_files()
            found.add(bundle.manifest.weights.sha256)
    return found
