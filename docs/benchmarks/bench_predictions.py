"""What a card promises before a bake, and what comes.

    python docs/benchmarks/bench_predictions.py record FILE ... --to RECORDS [--preset draft]
    python docs/benchmarks/bench_predictions.py table RECORDS ...

`record` bakes each document as a panel does, with its live pictures, and appends a line of JSON
with its report and its outcome to RECORDS. Times are those of an otherwise idle machine: of the
clock of the worker's budget, which counts CPU time. `table` predicts each of these bakes twice:
before any bake of the machine, and after all others of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("VERDIGRIS_DEVICE", "software")

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.pictures.compare.verdict import judge_bake
from verdigris.core.progress import Finished
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.messages import VERSION, encode
from verdigris.core.worker.protocol.worker_events import FAILED, Opened, Pixels
from verdigris.core.worker.session.budget import ProcessClock
from verdigris.core.worker.session.session import Session
from verdigris.ui.estimates import Prediction, Predictions, difficulty_of
from verdigris.ui.model.parts.choices import BakeChoices

Record = dict[str, Any]


def record(path: Path, preset: str) -> Record:
    """Bakes a document. Returns what was known before, and what came."""
    events: list[Any] = []

    def post(event: Any) -> None:
        encode(event.as_json(), event.payload() if isinstance(event, Pixels) else b"")
        events.append(event)

    session = Session(post)
    clock, begun = ProcessClock(), time.perf_counter()
    for command in (
        say.Hello(VERSION),
        say.SetView(size=620, aspect=1.4, lit_by="studio", shows="wipe"),
        say.Open(path=str(path)),
    ):
        session.handle(command)
    opened = next((each for each in events if isinstance(each, Opened)), None)
    if opened is None:
        raise SystemExit(f"{path}: {events[-1]}")
    compiled = clock()
    marks: Record = {}
    with tempfile.TemporaryDirectory() as folder:
        session.handle(say.Start(folder, request=BakeRequest(preset=preset)))
        while not any(isinstance(each, Finished) for each in events):
            if session.state == FAILED:
                raise SystemExit(f"{path}: {events[-1]}")
            session.work()
            for each in events:
                name = type(each).__name__
                marks.setdefault(name, round(clock() - compiled, 3))
            events = [each for each in events if isinstance(each, Finished)]
        session.close()
    finished = events[-1]
    sky = finished.skies[0] if finished.skies else None
    verdict = judge_bake(finished.samples[0], finished.pictures[0], sky)
    return {
        "file": path.stem,
        "preset": preset,
        "report": find_report(opened),
        "compiled": compiled,
        "seconds": clock() - compiled,
        "wall": time.perf_counter() - begun,
        "cpu": time.process_time(),
        "marks": marks,
        "training": finished.seconds,
        "step": finished.step,
        "stopped_by": finished.stopped_by,
        "dots": verdict.dots if verdict else 0,
    }


def find_report(opened: Opened) -> Record:
    """The report of the material that is open."""
    return next(dict(each) for each in opened.materials if each.get("name") == opened.chosen)


def predict(found: Record, before: Predictions) -> Prediction:
    """What a card promises of a recorded bake."""
    choices = BakeChoices().with_values({"preset": found["preset"]})
    difficulty = difficulty_of(found["report"], is_constant(found))
    return before.predict(
        choices.settings("numpy", is_constant(found)), "numpy", found["preset"], None, difficulty
    )


def is_constant(found: Record) -> bool:
    """As the panel has it."""
    return not (found["report"]["textures"] or found["report"]["varying_inputs"])


def learned_from(records: list[Record]) -> Predictions:
    """The predictions of a machine with these bakes."""
    predictions = Predictions()
    for each in records:
        choices = BakeChoices().with_values({"preset": each["preset"]})
        settings = replace(choices.settings("numpy", is_constant(each)), iterations=each["step"])
        difficulty = difficulty_of(each["report"], is_constant(each))
        seconds, dots = each["seconds"], each["dots"]
        predictions.learn(settings, "numpy", seconds, each["preset"], difficulty, dots)
    return predictions


def print_table(records: list[Record]) -> None:
    within = {"first": [0, 0], "learnt": [0, 0]}
    print("| material | s | promised at first | after others | dots | at first | after others |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for each in records:
        others = [other for other in records if other is not each]
        row = []
        for name, before in (("first", Predictions()), ("learnt", learned_from(others))):
            found = predict(each, before)
            ratio = each["seconds"] / found.seconds
            off = max(found.dots[0] - each["dots"], each["dots"] - found.dots[1], 0)
            within[name][0] += max(ratio, 1 / ratio) <= 1.5
            within[name][1] += off <= 1
            row.append((f"{found.seconds:.0f}", f"{found.dots[0]} to {found.dots[1]}"))
        (first, first_dots), (learnt, learnt_dots) = row
        print(
            f"| {each['file']} | {each['seconds']:.0f} | {first} | {learnt} | {each['dots']} "
            f"| {first_dots} | {learnt_dots} |"
        )
    for name, (times, dots) in within.items():
        print(f"{name}: of {len(records)}, {times} within 1.5 in time, {dots} within one dot")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("files", nargs="+", type=Path)
    recording.add_argument("--to", type=Path, required=True)
    recording.add_argument("--preset", default="draft")
    showing = commands.add_parser("table")
    showing.add_argument("records", nargs="+", type=Path)
    options = parser.parse_args()
    if options.command == "table":
        lines = [line for path in options.records for line in path.read_text().splitlines()]
        print_table([json.loads(line) for line in lines])
        return
    for path in options.files:
        line = json.dumps(record(path, options.preset), default=str)
        with options.to.open("a") as file:
            file.write(line + "\n")
        print(line[:60], flush=True)


if __name__ == "__main__":
    main()
