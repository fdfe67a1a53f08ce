"""Kills writers at every kind of moment, and swaps names of theirs for links in between.

The command runs in a process of its own, which SIGKILL ends in front of its operation of a certain
number in the file system. Then one of the names that it uses becomes a link to a tree of somebody
else. The tree must stay as it is, a result must be readable, and the next run must end well or name
the link in one line. With `--swaps`, the name becomes a link while the command runs, in front of
the operation.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from verdigris.core.base.device import CACHE_VARIABLE

from .writers import WRITERS, Act, Found, Writer, kept, write_bundle, write_inputs

# Events of Python before it changes something in the file system. Those of `open` are looked at.
_CHANGES = ("os.", "shutil.", "ctypes.dlsym")
_READING = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.putenv",
            "os.unsetenv", "os.chdir", "os.fork", "os.kill", "os.exec", "os.system",
            "os.add_dll_directory", "os.posix_spawn", "os.lockf")  # fmt: skip
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_LONGEST = 120
_IN_RESULT = re.compile(r"\.vd[gt]/")
_CRASHED = 70


@dataclass(frozen=True)
class Ended:
    """A process: its exit code, negative for a signal, and its errors."""

    code: int
    errors: str

    @property
    def faults(self) -> list[str]:
        """What a command may never do: end with a traceback, or not at all."""
        if self.code == -signal.SIGALRM:
            return ["hangs"]
        is_told = "Traceback" in self.errors or "internal error" in self.errors
        crashed = self.code == _CRASHED or self.code not in (0, 1, 2, 3, -signal.SIGKILL)
        if is_told or crashed:
            return [f"ends with {self.code}: {self.errors[-2000:]}"]
        return []


def start(act: Act, place: Path, before: Callable[[int, str], None] | None = None) -> Ended:
    """Runs an action. `before` gets the number of each operation that changes a file, before it
    happens, and the name in it."""
    log = place.with_suffix(".log")
    child = os.fork()
    if not child:
        code = _CRASHED
        try:
            signal.alarm(_LONGEST)
            handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, 1)
            os.dup2(handle, 2)
            if before is not None:
                _watch(before)
            code = act(place)
        except BaseException:  # noqa: BLE001 - the parent shall read it
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return Ended(os.waitstatus_to_exitcode(status), log.read_text(errors="replace"))


def _watch(before: Callable[[int, str], None]) -> None:
    count, is_inside = 0, False

    def look(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count, is_inside
        if is_inside:
            return
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & _WRITES and isinstance(path, str | bytes)):
                return
        elif not event.startswith(_CHANGES) or event in _READING:
            return
        is_inside = True
        try:
            before(count, os.fsdecode(arguments[0]) if _is_name(arguments) else "")
        finally:
            is_inside = False
        count += 1

    sys.addaudithook(look)


def _is_name(arguments: tuple[object, ...]) -> bool:
    return bool(arguments) and isinstance(arguments[0], str | bytes)


class Canary:
    """A tree of somebody else, to which links lead."""

    KINDS = ("file", "folder", "bundle", "nothing", "second name")

    def __init__(self, folder: Path, bundle: Path) -> None:
        self.folder = folder
        (folder / "mine").mkdir(parents=True)
        (folder / "mine" / "a.txt").write_text("precious")
        for name in ("notes.json", "ladder.json", "manifest.json", "v.txt"):
            (folder / "mine" / name).write_text("{}")
        for name in ("chalk.vdg", "2020-01-01_00-00-00_draft.vdg"):
            shutil.copytree(bundle, folder / "mine" / name)
        self._before = self._state()

    def plant(self, path: Path, kind: str) -> None:
        """Puts a link to the tree in the place of a name."""
        if kind == "second name":
            os.link(self.folder / "mine" / "v.txt", path)
            return
        targets = {"file": "mine/v.txt", "folder": "mine", "bundle": "mine/chalk.vdg"}
        path.symlink_to(self.folder / targets.get(kind, "gone"))

    def links_in(self, place: Path) -> list[Path]:
        """Where names lead to the tree: a run may have moved them."""
        there = (self.folder / "mine" / "v.txt").stat()
        return [
            path
            for path in place.rglob("*")
            if os.path.samestat(path.lstat(), there)
            or (path.is_symlink() and str(path.readlink()).startswith(f"{self.folder}"))
        ]

    def changes(self, errors: str) -> list[str]:
        """What is not as it was, although the errors do not say that it was written."""
        after = self._state()
        names = sorted({*self._before, *after})
        found = [name for name in names if self._before.get(name) != after.get(name)]
        told = [name for name in found if f"so {self.folder / name} was written" in errors]
        self._before = after
        return [] if told else [f"changes {name} of somebody else" for name in found]

    def _state(self) -> dict[str, tuple[object, ...]]:
        found = {}
        for path in [self.folder, *self.folder.rglob("*")]:
            status = path.lstat()
            data = b"" if path.is_dir() else path.read_bytes()
            found[str(path.relative_to(self.folder))] = (
                *(status.st_mode, status.st_mtime_ns, status.st_ino),
                hashlib.sha256(data).hexdigest(),
            )
        return found


@dataclass
class Count:
    """The runs of one writer."""

    operations: int = 0
    kills: int = 0
    swaps: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0


class Killer:
    """Runs a writer again and again, each time from the same earlier results."""

    def __init__(self, name: str, work: Path, seed: int) -> None:
        self._writer: Writer = WRITERS[name]
        self._work, self._random = work, Random(f"{name} {seed}")
        self.count = Count()
        self._earlier, self._whole = work / "earlier", work / "whole"
        self._earlier.mkdir(parents=True)
        write_inputs(self._earlier)
        for each in self._writer.earlier:
            self._require(start(each, self._earlier))
        self._names = self._trace()
        self._before = self._writer.results(self._earlier / "out")
        self._after = self._writer.results(self._whole / "out")
        self._kept = kept(self._earlier / "out") if self._writer.keeps else set()

    @staticmethod
    def _require(ended: Ended) -> None:
        if ended.code:
            raise SystemExit(f"it cannot write at all: {ended.errors}")

    def _trace(self) -> list[str]:
        """Every name below `out` that exists at some moment of a run that nobody kills, without
        those that nobody can guess."""
        shutil.copytree(self._earlier, self._whole, symlinks=True)
        out, record = self._whole / "out", self._work / "names"

        def note(number: int, _: str) -> None:
            found = "\n".join(str(path.relative_to(out)) for path in out.rglob("*"))
            with record.open("a") as file:
                file.write(f"{found}\n")
            record.with_suffix(".count").write_text(str(number + 1))

        self._require(start(self._writer.act, self._whole, note))
        self.count.operations = int(record.with_suffix(".count").read_text())
        names = {line for line in record.read_text().splitlines() if ".tmp" not in line}
        tops = {name for name in names if name and "/" not in name and name[0] != "."}
        return sorted({*names, *(f".{name}.lock" for name in tops)} - {""})

    def run(self, kills: int, is_swapping: bool) -> None:
        """Spreads the kills over the operations of a run."""
        begun = time.monotonic()
        for number in range(kills):
            moment = int((number + self._random.random()) * self.count.operations / kills)
            place = self._work / f"{'swap' if is_swapping else 'kill'}{number}"
            shutil.copytree(self._earlier, place / "on", symlinks=True)
            canary = Canary(place / "canary", next(self._bundles()))
            what = f"{'swapped' if is_swapping else 'killed'} at operation {moment}"
            once = self._swap_once if is_swapping else self._kill_once
            try:
                faults = [*once(place / "on", canary, moment)]
            except Exception:  # noqa: BLE001 - a finding like others
                faults = [traceback.format_exc()]
            self.count.faults += [f"{what}: {fault}" for fault in faults]
            if not faults:
                shutil.rmtree(place)
        self.count.seconds += time.monotonic() - begun

    def _bundles(self) -> Iterator[Path]:
        yield from sorted((self._work.parent / "any").glob("*.vdg"))

    def _kill_once(self, place: Path, canary: Canary, moment: int) -> Iterator[str]:
        def kill(number: int, _: str) -> None:
            if number == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        ended = start(self._writer.act, place, kill)
        self.count.kills += ended.code == -signal.SIGKILL
        yield from ended.faults
        yield from self._damages(place)
        yield from self._go_on(place, canary, *self._plant(place, canary))

    def _swap_once(self, place: Path, canary: Canary, moment: int) -> Iterator[str]:
        record = place.with_suffix(".planted")

        def swap(number: int, name: str) -> None:
            if number == moment:
                planted, kind, away = self._plant(place, canary, name)
                record.write_text(f"{planted}\n{kind}\n{away}")

        ended = start(self._writer.act, place, swap)
        yield from ended.faults
        if not record.exists():
            self.count.outcomes["too late"] += 1
            return
        self.count.swaps += 1
        planted, kind, away = record.read_text().split("\n")
        yield from (
            f"{Path(planted).name} as {kind}: {each}" for each in canary.changes(ended.errors)
        )
        yield from self._go_on(place, canary, Path(planted), kind, Path(away))

    def _plant(self, place: Path, canary: Canary, touched: str = "") -> tuple[Path, str, Path]:
        """Makes one of the names a link: that which is about to be touched, or any."""
        out = place / "out"
        there = [str(path.relative_to(out)) for path in out.rglob("*")]
        names = sorted({*self._names, *there})
        if not touched:
            # a reader refuses links in a result, and nothing writes into one
            names = [name for name in names if not _IN_RESULT.search(name)]
        about = [name for name in names if touched and Path(name).name == Path(touched).name]
        parents = [str(Path(name).parent) for name in about if "/" in name]
        name = self._random.choice(
            (about + parents if self._random.random() < 0.8 else []) or names
        )
        path, away = out / name, place / "away"
        if not path.parent.exists() or not path.parent.resolve().is_relative_to(place):
            path = out / name.split("/")[0]
        if os.path.lexists(path):
            path.rename(away)
        kind = self._random.choice(Canary.KINDS)
        canary.plant(path, kind)
        return path, kind, away

    def _go_on(
        self, place: Path, canary: Canary, planted: Path, kind: str, away: Path
    ) -> Iterator[str]:
        """Runs it again with the link, and then without."""
        what = f"{planted.relative_to(place / 'out')} as {kind}"
        ended = start(self._writer.act, place)
        yield from (f"{what}: {each}" for each in (*ended.faults, *canary.changes(ended.errors)))
        outcome = "recovers"
        if ended.code:
            outcome = "refuses"
            links = [planted, *canary.links_in(place)]
            parts = {part for path in links for part in path.relative_to(place / "out").parts}
            if not any(part in ended.errors for part in parts):
                yield f"{what}: refuses without its name: {ended.errors[-600:]}"
        self.count.outcomes[outcome] += 1
        for path in canary.links_in(place):
            path.unlink()
            if os.path.lexists(away):
                away.rename(path)
        if os.path.lexists(away) and not os.path.lexists(planted) and planted.parent.exists():
            away.rename(planted)
        if ended.code:
            again = start(self._writer.act, place)
            yield from (
                f"{what}, removed: {each}"
                for each in (*again.faults, *canary.changes(again.errors))
            )
            if again.code:
                yield f"{what}, removed: still refuses: {again.errors[-600:]}"
        yield from (f"{what}: {each}" for each in self._damages(place))

    def _damages(self, place: Path) -> Iterator[str]:
        """What was lost."""
        found: Found = self._writer.results(place / "out")
        for name, held in self._before.items():
            if found.get(name) not in (held, self._after.get(name)):
                yield f"{name} holds neither the earlier nor the later result"
        if self._writer.keeps:
            lost = self._kept - kept(place / "out")
            if lost:
                yield f"{len(lost)} of {len(self._kept)} versions are lost"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py fuzz kills",
        description="Kills writers in front of an operation of theirs in the file system, swaps "
        "names of theirs for links, and checks what is left.",
    )
    parser.add_argument("writers", nargs="*", metavar="WRITER", help=f"of {', '.join(WRITERS)}")
    parser.add_argument("--kills", type=int, default=10, help="of each writer (default: 10)")
    parser.add_argument("--swaps", type=int, default=0, help="links while it runs (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="other moments (default: 1)")
    given = parser.parse_args(words)
    unknown = [name for name in given.writers if name not in WRITERS]
    if unknown:
        parser.error(f"{unknown[0]!r} is no writer: use {', '.join(WRITERS)}")
    work = Path(tempfile.mkdtemp(prefix="verdigris_kills_"))
    # killed readers keep places in the cache of shaders
    os.environ[CACHE_VARIABLE] = str(work / "cache")
    any_place = work / "some"
    any_place.mkdir()
    write_inputs(any_place)
    if start(write_bundle, any_place).code:
        parser.error("no bundle can be baked here")
    (any_place / "out").rename(work / "any")
    total: Counter[str] = Counter()
    print(f"{'writer':12}{'operations':>11}{'kills':>7}{'swaps':>7}{'seconds':>9}  faults")
    for name in given.writers or WRITERS:
        killer = Killer(name, work / name.replace(" ", "_"), given.seed)
        killer.run(given.kills, False)
        killer.run(given.swaps, True)
        each = killer.count
        total += Counter(kills=each.kills, swaps=each.swaps, faults=len(each.faults))
        print(f"{name:12}{each.operations:11}{each.kills:7}{each.swaps:7}{each.seconds:9.1f}"
              f"  {len(each.faults)}  {dict(each.outcomes)}", flush=True)  # fmt: skip
        for fault in each.faults:
            print(f"  {fault}", flush=True)
    print(f"{total['kills']} kills, {total['swaps']} swaps, {total['faults']} faults")
    if total["faults"]:
        print(f"see {work}")
        return 1
    shutil.rmtree(work)
    return 0
