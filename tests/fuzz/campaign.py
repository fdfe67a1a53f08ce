"""Runs targets with damaged inputs in processes of their own, and reports what they find."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .child import MOST_SECONDS, Job, draw_input
from .header import fuzz_header
from .mutate import Mutator
from .seeds import load_seeds, make_seeds
from .targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
RUN = Path(__file__).parent / "run.py"
HEADER = "header"
NAMES = (*TARGETS, HEADER)
FINDINGS = ROOT / "out" / "fuzz"
# Seconds without an answer, after which a process is ended: making seeds takes a few.
_PATIENCE = 60.0
_ROUND = 30.0
_MANY = 1 << 30
_HEADER_RUNS = 250


@dataclass
class Count:
    """The inputs of one target, and what was found."""

    inputs: int = 0
    read: int = 0
    peak: int = 0
    seconds: float = 0.0
    findings: dict[str, int] = field(default_factory=dict)


class Campaign:
    """Counts by target. Findings of one kind are written once."""

    def __init__(self, targets: Sequence[str], seed: int, folder: Path) -> None:
        self.counts = {name: Count() for name in targets}
        self._seed, self._folder = seed, folder
        self._work = Path(tempfile.mkdtemp(prefix="verdigris_fuzz_"))
        self._log = self._work.with_suffix(".log")

    def close(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        self._log.unlink(missing_ok=True)

    def run(self, inputs: int, seconds: float = float(_MANY)) -> None:
        """Reads this many inputs of each target, or as many as the seconds for all together allow,
        in turn."""
        end = time.monotonic() + seconds
        begun = dict.fromkeys(self.counts, 0)
        while time.monotonic() < end and any(begun[name] < inputs for name in begun):
            share = min(_ROUND, (end - time.monotonic()) / len(begun))
            jobs = [Job(name, begun[name], inputs - begun[name], share)
                    for name in begun if begun[name] < inputs]  # fmt: skip
            if HEADER in begun and begun[HEADER] < inputs:
                begun[HEADER] += self._run_header(begun[HEADER], inputs - begun[HEADER], share)
            before = {name: each.inputs for name, each in self.counts.items()}
            self._run_jobs([each for each in jobs if each.target != HEADER])
            for name in begun:
                if name != HEADER:
                    begun[name] += max(1, self.counts[name].inputs - before[name])

    def _run_jobs(self, jobs: list[Job]) -> None:
        while jobs:
            target, number, why = self._run_child(jobs)
            if not target:
                return
            # the one that ended it is left out
            self._note(target, number, why, self._log.read_text(errors="replace")[-6000:])
            at = next(at for at, each in enumerate(jobs) if each.target == target)
            last = jobs[at]
            left = last.first + last.count - number - 1
            jobs = jobs[at + 1 :]
            # with half of the time, or endings would have no end
            if number >= 0 and left > 0 and last.seconds > 1:
                jobs = [Job(target, number + 1, left, last.seconds / 2), *jobs]

    def _run_child(self, jobs: Sequence[Job]) -> tuple[str, int, str]:
        """Runs a process. Returns the input that ended it, and why; empty if nothing did."""
        order = {
            "work": str(self._work),
            "seed": self._seed,
            "jobs": [asdict(each) for each in jobs],
        }
        with self._log.open("w") as log:
            process = subprocess.Popen(
                [*_enclosed(self._work), sys.executable, "-P", str(RUN),
                 "--child"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                start_new_session=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
        assert process.stdin and process.stdout
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.close()
        target, number, is_stuck = "", 0, False
        try:
            for line in _lines(process):
                if line is None:
                    is_stuck = True
                    break
                values = json.loads(line)
                if "finding" in values:
                    self._note(
                        values["target"], values["number"], values["finding"], values["text"]
                    )
                elif "ended" in values:
                    count = self.counts[values["ended"]]
                    count.read += values["read"]
                    count.seconds += values["seconds"]
                    count.peak = max(count.peak, values["peak"])
                    target = ""
                else:
                    target, number = values["target"], values["number"]
                    self.counts[target].inputs += number >= 0
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0 if is_stuck else 10)
            # with what it started
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        if is_stuck:
            return target or jobs[0].target, number, "hangs"
        if target or code:
            return target or jobs[0].target, number if target else -1, f"ends the process ({code})"
        return "", 0, ""

    def _run_header(self, first: int, most: int, seconds: float) -> int:
        """Runs the reader in C. Returns the number of its inputs."""
        folders = sorted(make_seeds(self._work, "bundle").glob("*/a.vdg"))
        begun, done, count = time.monotonic(), 0, self.counts[HEADER]
        while done < most and (not done or time.monotonic() - begun < seconds):
            at, runs = first + done, min(most - done, _HEADER_RUNS)
            folder = folders[at // _HEADER_RUNS % len(folders)]
            fault = fuzz_header(folder, runs, self._seed + at, self._work)
            if fault is None:
                print("header: left out, as there is no C compiler", file=sys.stderr)
                return _MANY
            count.inputs += runs
            done += runs
            if fault:
                self._note(HEADER, at, fault.splitlines()[0][:200], fault)
        count.seconds += time.monotonic() - begun
        return done

    def _note(self, target: str, number: int, what: str, text: str) -> None:
        found = self.counts[target].findings
        found[what] = found.get(what, 0) + 1
        if found[what] > 1:
            return
        folder = self._folder / f"{target}_{self._seed}_{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "finding.txt").write_text(f"{what}\n\n{text}\n", errors="replace")
        if target == HEADER or number < 0:
            return
        mutator = Mutator(load_seeds(make_seeds(self._work, target)), TARGETS[target].kept)
        whole, changed = draw_input(mutator, target, self._seed, number)
        for name, data in {**whole, **changed}.items():
            (folder / "input" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "input" / name).write_bytes(data)

    def report(self) -> Iterator[str]:
        """A line for each target, and one for each kind of finding."""
        yield f"{'target':12}{'inputs':>9}{'read':>9}{'seconds':>9}{'peak MB':>9}  findings"
        for name, each in self.counts.items():
            peak = "" if name == HEADER else each.peak >> 20
            read = "" if name == HEADER else each.read
            figures = f"{each.inputs:9,}{read:>9}{each.seconds:9.1f}{peak:>9}"
            yield f"{name:12}{figures}  {len(each.findings)}"
        for name, each in self.counts.items():
            for what, count in each.findings.items():
                yield f"{name}: {what} ({count} inputs)"
        inputs = sum(each.inputs for each in self.counts.values())
        kinds = sum(len(each.findings) for each in self.counts.values())
        yield f"{inputs:,} inputs, {kinds} kinds of findings"
        if kinds:
            yield f"see {self._folder}"

    @property
    def has_findings(self) -> bool:
        return any(each.findings for each in self.counts.values())


def _lines(process: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines of a process; None if none comes for too long."""
    found: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            found.put(line)
        found.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = found.get(timeout=_PATIENCE)
        except queue.Empty:
            yield None
            return
        if not line:
            return
        yield line


def _enclosed(work: Path) -> list[str]:
    """The words in front of a command that may write nowhere else, where the system allows that:
    an own mount namespace in which all else can only be read."""
    mount = (f"mount --bind {work} {work} && mount --bind / / && mount -o remount,ro,bind / && "
             f"mount --bind {work} {work} && ")  # fmt: skip
    shell = ["unshare", "--mount", "sh", "-c", mount + 'exec "$@"', "sh"]
    if not (hasattr(os, "getuid") and os.getuid() == 0 and shutil.which("unshare")):
        return []
    tried = subprocess.run([*shell, "true"], capture_output=True, check=False)
    return [] if tried.returncode else shell


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py fuzz",
        description="Gives damaged files to every reader. A reader may refuse them by its own "
        f"error only, within {MOST_SECONDS:g} s and 256 MB, and touch nothing else.",
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--minutes", type=float, help="how long all targets run together")
    parser.add_argument("--inputs", type=int, default=_MANY, help="inputs of each target")
    parser.add_argument("--seed", type=int, default=1, help="other damage (default: 1)")
    parser.add_argument("--findings", type=Path, default=FINDINGS, help="(default: %(default)s)")
    given = parser.parse_args(words)
    if os.name == "nt":
        parser.error("Windows cannot limit what a reader does: run it on Linux or macOS")
    unknown = [name for name in given.targets if name not in NAMES]
    if unknown:
        parser.error(f"{unknown[0]!r} is no target: use {', '.join(NAMES)}")
    if given.minutes is None and given.inputs == _MANY:
        parser.error("say how long: --minutes N or --inputs N")
    seconds = float(_MANY) if given.minutes is None else 60 * given.minutes
    campaign = Campaign(given.targets or NAMES, given.seed, given.findings)
    try:
        campaign.run(given.inputs, seconds)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        campaign.close()
    print("\n".join(campaign.report()))
    return 1 if campaign.has_findings else 0
