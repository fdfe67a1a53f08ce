"""Where the seconds between the press and the bundle go.

    python docs/benchmarks/bench_wall.py [FILE ...] [--preset P] [--device D] [--cold]
        [--once] [--again] [--set NAME=VALUE ...] [--keep FOLDER] [--processor]

Bakes each document, by default copper_tray, with the command, and prints the seconds of each part.
With --cold each has empty caches of kernels, else it is baked twice, unless --once, and the second
counts. With --processor the table has processor time, which other programs disturb less. *Start* is
what the process does before its first span: Python and imports. Parts that are inside of others are
taken from these, so that a column adds up. With --again both bakes are in this process, as in a
resident worker, and the second counts: without a start, a device to open and kernels to load.
--keep leaves the traces, which ui.perfetto.dev opens.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from runs import EXAMPLES, chosen_changes, describe

from verdigris.core.baking.bake_job import BakeJob
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.device import CACHE_VARIABLE, open_device
from verdigris.core.base.process.profile import begin_profile, write_profile

# The part of a span by the beginning of its name; the first that fits counts.
PARTS = {
    "open device": "device",
    "import": "device",
    "load document": "document and textures",
    "load textures": "document and textures",
    "generate": "document and textures",
    "digest": "document and textures",
    "describe": "document and textures",
    "emission": "document and textures",
    "load module": "compile",
    "compile": "compile",
    "open trainer": "open trainer",
    "starts": "train",
    "small texture": "train",
    "encoding": "train",
    "training": "train",
    "rounding": "train",
    "draw held-out": "measure",
    "measure": "measure",
    "compare half": "measure",
    "store latents": "measure",
    "check albedo": "measure",
    "draw pictures": "pictures",
    "sampler": "sampler and proxies",
    "fit sampler": "sampler and proxies",
    "make proxies": "sampler and proxies",
    "make reference": "write",
    "write": "write",
    "checkpoint": "train",
}
COLUMNS = ("start", *dict.fromkeys(PARTS.values()), "other")


def spans_of(path: Path) -> list[dict]:
    """The spans of a trace, whose array is not closed."""
    return json.loads(path.read_text().rstrip().removesuffix(",") + "]")


def part_of(name: str) -> str:
    return next((part for begin, part in PARTS.items() if name.startswith(begin)), "other")


def of_main_thread(spans: list[dict]) -> list[dict]:
    """Spans of other threads, and of processes that it starts, run beside those of the first."""
    first = min(spans, key=lambda each: each["ts"])
    own = [each for each in spans if each["pid"] == first["pid"]]
    # the process has the number of its first thread where the system numbers threads
    main = next((each["tid"] for each in own if each["tid"] == each["pid"]), first["tid"])
    return [each for each in own if each["tid"] == main]


def processor_by_part(spans: list[dict], total: float) -> dict[str, float]:
    """Seconds of processor time of each part; *start* is in *other*."""
    spans = [
        {**each, "dur": each["args"]["processor"], "at": each["ts"], "long": each["dur"]}
        for each in of_main_thread(spans)
    ]
    return _by_part(spans, 0.0, total)


def seconds_by_part(spans: list[dict], begun: float, ended: float) -> dict[str, float]:
    """Seconds of each part, without those of the spans inside. Times are microseconds."""
    spans = [{**each, "at": each["ts"], "long": each["dur"]} for each in of_main_thread(spans)]
    first = min(each["ts"] for each in spans)
    return _by_part(spans, first - begun, ended - begun)


def _by_part(spans: list[dict], start: float, total: float) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    seconds["start"] = start
    open_spans: list[dict] = []
    for span in sorted(spans, key=lambda each: (each["at"], -each["long"])):
        # half a microsecond: phases end where the next begins
        while open_spans and span["at"] + 0.5 >= open_spans[-1]["at"] + open_spans[-1]["long"]:
            open_spans.pop()
        seconds[part_of(span["name"])] += span["dur"]
        if open_spans:
            seconds[part_of(open_spans[-1]["name"])] -= span["dur"]
        open_spans.append(span)
    seconds["other"] = total - sum(value for part, value in seconds.items() if part != "other")
    return {part: value / 1e6 for part, value in seconds.items()}


def run_once(
    words: list[str], trace: Path, cache: Path | None, of_processor: bool
) -> tuple[float, dict[str, float]]:
    """Seconds of a command from its start to the prompt, and those of its parts."""
    command = [sys.executable, "-m", "verdigris.core", "--profile", str(trace), *words]
    environment = dict(os.environ)
    if cache is not None:
        environment[CACHE_VARIABLE] = str(cache)
    begun, before = time.perf_counter_ns() / 1000, processor_of_children()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    ended = time.perf_counter_ns() / 1000
    if of_processor:
        total = processor_of_children() - before
        return total, processor_by_part(spans_of(trace), 1e6 * total)
    return (ended - begun) / 1e6, seconds_by_part(spans_of(trace), begun, ended)


def run_again(
    file: Path, options: argparse.Namespace, folder: Path, trace: Path
) -> tuple[float, dict[str, float]]:
    """Seconds of a second bake in this process, and those of its parts."""
    for is_second in (False, True):
        if is_second:
            begin_profile(trace)
        begun = time.perf_counter_ns() / 1000
        request = BakeRequest(preset=options.preset, changes=chosen_changes(options))
        job = BakeJob(files=(str(file),), request=request, folder=str(folder))
        for _ in job.open().prepare(open_device(options.device)).bake():
            pass
    ended = time.perf_counter_ns() / 1000
    write_profile()
    return (ended - begun) / 1e6, seconds_by_part(spans_of(trace), begun, ended)


def processor_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[EXAMPLES / "copper_tray.mtlx"])
    parser.add_argument("--preset", default="draft")
    parser.add_argument("--device")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="NAME=VALUE")
    parser.add_argument("--cold", action="store_true", help="with empty caches of kernels")
    parser.add_argument("--once", action="store_true", help="bake once, caches as they are")
    parser.add_argument("--again", action="store_true", help="twice in one process")
    parser.add_argument("--keep", type=Path, help="folder for the traces")
    parser.add_argument("--processor", action="store_true", help="processor time, not wall time")
    options = parser.parse_args()
    print(describe(options), "cold" if options.cold else "warm")
    print(f"| material | {'processor' if options.processor else 'wall'} | {' | '.join(COLUMNS)} |")
    print("| --- " * (len(COLUMNS) + 2) + "|")
    with tempfile.TemporaryDirectory() as temporary:
        kept = options.keep or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(options.files):
            cache = Path(temporary, f"cache{number}") if options.cold else None
            words = ["bake", str(file), "-o", temporary, "-p", options.preset, "-q"]
            words += ["--device", options.device] if options.device else []
            words += [word for each in options.changes for word in ("--set", each)]
            trace = (kept / f"{file.stem}.json").absolute()
            if options.again:
                wall, seconds = run_again(file, options, Path(temporary), trace)
            for _ in range(0 if options.again else 1 if options.cold or options.once else 2):
                wall, seconds = run_once(words, trace, cache, options.processor)
            cells = " | ".join(f"{seconds.get(part, 0.0):.2f}" for part in COLUMNS)
            print(f"| {file.stem} | {wall:.1f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
