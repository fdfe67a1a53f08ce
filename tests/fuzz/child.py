"""A process that reads damaged inputs of some targets, one after another.

The campaign starts it, and restarts it behind an input that ended it. It writes a line for each
input before it reads it, and a line of JSON for each finding.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TextIO

from verdigris.core.base.errors import VerdigrisError

from .mutate import Files, Mutator
from .seeds import load_seeds, make_seeds
from .targets import TARGETS

# Bytes above the input's own need, which is a few copies of it in wider numbers.
MOST_GROWTH = 256 << 20
_COPIES = 16
# CPU seconds for one input.
MOST_SECONDS = 5.0
# Address space above what is in use, so that a fault cannot take the machine's memory. Threads and
# mapped files need more of it than of memory.
_MOST_ADDRESSES = 6 << 30


@dataclass(frozen=True)
class Job:
    """Part of the inputs of a target."""

    target: str
    first: int
    count: int
    seconds: float
    """The time after which it ends early."""


def draw_input(mutator: Mutator, target: str, seed: int, number: int) -> tuple[Files, Files]:
    """The same input for the same numbers."""
    return mutator.damage(Random(f"{target} {seed} {number}"))


def main() -> None:
    """Reads its jobs from standard input."""
    order = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    # libraries write there
    os.dup2(2, 1)
    faulthandler.enable()
    work, seed = Path(order["work"]), int(order["seed"])
    for each in order["jobs"]:
        _Run(Job(**each), work, seed, answers).run()


class _Run:
    """The inputs of one job."""

    def __init__(self, job: Job, work: Path, seed: int, answers: TextIO) -> None:
        self._job, self._seed, self._answers = job, seed, answers
        self._say({"target": job.target, "number": -1})
        self._files = load_seeds(make_seeds(work, job.target))
        self._mutator = Mutator(self._files, TARGETS[job.target].kept)
        self._read = TARGETS[job.target].read
        self._place = work / "place"
        self._around = {self._place / "beside.txt": b"precious", self._place / "x": b"precious",
                        self._place / "folder" / "x.mtlx": b"precious"}  # fmt: skip
        for path, data in self._around.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (self._place / "cwd").mkdir(exist_ok=True)
        os.chdir(self._place / "cwd")
        self._peak = 0
        self._outcomes = {"read": 0, "refused": 0}

    def run(self) -> None:
        folders = [self._write_whole(number, files) for number, files in enumerate(self._files)]
        for number, folder in enumerate(folders):
            self._try(-1 - number, folder, 0)
        self._limit_addresses()
        before = self._state()
        begun = time.monotonic()
        job = self._job
        for number in range(job.first, job.first + job.count):
            if time.monotonic() - begun > job.seconds:
                break
            whole, changed = draw_input(self._mutator, job.target, self._seed, number)
            folder = folders[next(at for at, each in enumerate(self._files) if each == whole)]
            for name, data in changed.items():
                (folder / name).write_bytes(data)
            self._try(number, folder, sum(map(len, changed.values())))
            for name in changed:
                (folder / name).write_bytes(whole[name])
            if self._state() != before:
                self._report(number, "touches other files", str(self._place))
                before = self._state()
        values = {"ended": job.target, "peak": self._peak, **self._outcomes}
        self._say({**values, "seconds": time.monotonic() - begun})

    def _try(self, number: int, folder: Path, size: int) -> None:
        """Reads one input; whole seeds have negative numbers."""
        self._say({"target": self._job.target, "number": number})
        held, begun = _start_measuring(), time.process_time()
        try:
            self._read(folder)
        except VerdigrisError as refusal:
            self._outcomes["refused"] += number >= 0
            if number < 0:
                self._report(number, "a whole seed is refused", str(refusal))
        except (Exception, SystemExit) as failure:  # noqa: BLE001  findings
            place = traceback.extract_tb(failure.__traceback__)
            own = [f"{Path(each.filename).name}:{each.name}" for each in place]
            what = f"{type(failure).__name__} in {' > '.join(own[-2:])}"
            text = failure.args[0] if type(failure) is RuntimeError and failure.args else ""
            first = str(text).split("\n")[0][:100]
            self._report(number, f"{what} {first}".strip(), traceback.format_exc())
        else:
            self._outcomes["read"] += number >= 0
        seconds, grown = time.process_time() - begun, _peak() - held
        if number < 0:
            return
        self._peak = max(self._peak, grown)
        if not TARGETS[self._job.target].is_bounded:
            return
        if seconds > MOST_SECONDS:
            self._report(number, "is slow", f"{seconds:.1f} s")
        if grown > MOST_GROWTH + _COPIES * size:
            self._report(number, "takes too much memory", f"{grown >> 20} MB for {size} bytes")

    def _write_whole(self, number: int, files: Files) -> Path:
        folder = self._place / f"{self._job.target}_{number}"
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return folder

    def _state(self) -> list[tuple[str, int, int]]:
        """Names, sizes and times of everything beside the inputs."""
        found = []
        for where in (self._place, self._place / "folder", self._place / "cwd"):
            for each in os.scandir(where):
                status = each.stat(follow_symlinks=False)
                is_input = each.name.startswith(f"{self._job.target}_")
                found.append((each.path, 0 if is_input else status.st_size,
                              0 if is_input or each.is_dir() else status.st_mtime_ns))  # fmt: skip
        return sorted(found)

    def _limit_addresses(self) -> None:
        with contextlib.suppress(ImportError, OSError, ValueError):
            import resource

            used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + _MOST_ADDRESSES, most))

    def _report(self, number: int, what: str, text: str) -> None:
        finding = {"finding": what, "target": self._job.target, "number": number}
        self._say({**finding, "text": text[-6000:]})

    def _say(self, values: dict[str, object]) -> None:
        self._answers.write(json.dumps(values) + "\n")


def _start_measuring() -> int:
    """Bytes in use now. The peak counts from here, where the system allows it."""
    try:
        held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        # it takes longer than many an input
        if _peak() > held + MOST_GROWTH // 8:
            Path("/proc/self/clear_refs").write_bytes(b"5")
    except OSError:
        return _peak()
    return held


def _peak() -> int:
    """The most bytes in use; 0 where the system does not tell it."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    main()
