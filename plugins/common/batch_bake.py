"""Bakes the materials of a scene without a window, each in a process of the worker's Python."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.text import unused_names
from verdigris.core.base.worker_environment import environment_for, require_worker_python
from verdigris.core.hosts.host import WEIGHT_SET, BakedResult, Host, HostDocument, HostMaterial
from verdigris.core.hosts.painted_meshes import Painted, find_painted
from verdigris.core.importance.maps import ARRAY_SUFFIX

EXIT_DONE, EXIT_FAILED = 0, 1
BAKED, FAILED, LISTED, HANDED_OVER = "baked", "failed", "listed", "handed over"

Run = Callable[[list[str]], subprocess.CompletedProcess[str]]


@dataclass
class Outcome:
    """The outcome of one material."""

    name: str
    key: str
    source: str
    status: str
    bundle: str = ""
    document: str = ""
    search: tuple[str, ...] = ()
    error: str = ""
    importance: str = ""
    """The file of painted weights of an handed-over document."""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class BatchOptions:
    """The options of the command line."""

    materials: tuple[str, ...] = ()
    out: Path = Path()
    preset: str = ""
    device: str = ""
    time_limit: float = 0.0
    only_list: bool = False
    hand_over: bool = False
    attach: bool = False
    viewport_textures: bool = False
    weight_set: str = WEIGHT_SET
    """The name of the painted weights. Empty for none."""
    options: tuple[str, ...] = ()
    """Further options of `verdigris bake`."""


def read_arguments(
    program: str, arguments: Sequence[str]
) -> tuple[Path, Path | None, BatchOptions]:
    """The scene, the file of the summary, and the options. Wrong usage exits with 2."""
    parser = argparse.ArgumentParser(
        prog=program, description="Bakes the MaterialX materials of a scene to neural materials."
    )
    parser.add_argument("scene", type=Path, help="the scene to open")
    parser.add_argument(
        "--material",
        "-m",
        action="append",
        default=[],
        help="a material to bake (all)",
    )
    parser.add_argument("--out", "-o", type=Path, default=Path(), help="folder for the bundles")
    parser.add_argument("--preset", "-p", default="", help="draft, standard or final")
    parser.add_argument("--device", default="", help="as in `verdigris bake`")
    parser.add_argument(
        "--time-limit", type=float, default=0.0, help="seconds of training per bake"
    )
    parser.add_argument("--list", action="store_true", help="list the materials and bake none")
    parser.add_argument(
        "--hand-over", action="store_true", help="write MaterialX documents and bake none"
    )
    parser.add_argument(
        "--attach", action="store_true", help="note results in the scene and save it"
    )
    parser.add_argument(
        "--viewport-textures",
        action="store_true",
        help="also write plain textures; with --attach, add a material with them to the scene",
    )
    parser.add_argument(
        "--weights",
        default=WEIGHT_SET,
        metavar="NAME",
        help="name of the painted weights to use (%(default)s); '' for none",
    )
    parser.add_argument("--summary", type=Path, help="file for the summary (stdout)")
    parser.epilog = "Options after -- go to `verdigris bake`, for example: -- --resolution 1024"
    own, passed_on = _split(arguments)
    given = parser.parse_args(own)
    options = BatchOptions(
        tuple(given.material),
        given.out,
        given.preset,
        given.device,
        given.time_limit,
        given.list,
        given.hand_over,
        given.attach,
        given.viewport_textures,
        given.weights,
        tuple(passed_on),
    )
    return given.scene, given.summary, options


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments before `--`, and those after it."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def main(program: str, start: Callable[[], Host], arguments: Sequence[str]) -> int:
    """Opens a scene and bakes it. Returns 0 if all materials are baked, else 1."""
    scene, summary_file, options = read_arguments(program, arguments)
    summary: dict[str, Any] = {"scene": str(scene), "host": "", "warnings": [], "materials": []}
    try:
        host = start()
        summary["host"] = host.name
        host.open_scene(scene)
        summary["warnings"] = list(host.scene_warnings())
        outcomes = bake_scene(host, options)
        summary["materials"] = [asdict(outcome) for outcome in outcomes]
        if options.attach and any(each.status == BAKED for each in outcomes):
            # an unsaved note would be lost
            host.save_scene()
        code = EXIT_FAILED if any(each.status == FAILED for each in outcomes) else EXIT_DONE
    except VerdigrisError as failure:
        summary["error"] = str(failure)
        code = EXIT_FAILED
    for status in (BAKED, FAILED, LISTED, HANDED_OVER):
        summary[status.replace(" ", "_")] = sum(
            each["status"] == status for each in summary["materials"]
        )
    text = json.dumps(summary, indent=2)
    if summary_file is None:
        print(text)
    else:
        _write(summary_file, f"{text}\n".encode())
    if "error" in summary:
        print(f"{program}: {summary['error']}", file=sys.stderr)
    return code


def bake_scene(host: Host, options: BatchOptions, run: Run | None = None) -> list[Outcome]:
    """Bakes each material and returns the outcomes. A failure does not stop the others."""
    chosen = choose(host, options.materials)
    python = "" if options.only_list or options.hand_over else require_worker_python()
    names = unused_names([material.name for material in chosen])
    outcomes = []
    for material, name in zip(chosen, names, strict=True):
        outcome = Outcome(material.name, material.key, material.source, LISTED)
        outcomes.append(outcome)
        if options.only_list:
            continue
        began = time.monotonic()
        try:
            document = host.document(material)
            weight_set = options.weight_set
            painted = find_painted(host, material, weight_set) if weight_set else None
            outcome.notes = (*document.notes, *(painted.notes if painted else ()))
            if options.hand_over:
                _hand_over(document, painted, name, options, outcome)
                continue
            result = _bake(document, painted, name, options, python, run or _run)
            outcome.bundle, outcome.status = str(result.bundle), BAKED
            if options.attach:
                host.attach(material, result)
        except VerdigrisError as failure:
            outcome.status, outcome.error = FAILED, str(failure)
        outcome.seconds = round(time.monotonic() - began, 3)
    return outcomes


def choose(host: Host, names: Sequence[str]) -> list[HostMaterial]:
    """All materials of a scene, or those with these names or keys."""
    found = host.materials()
    warnings = "".join(f"; {warning}" for warning in host.scene_warnings())
    if not found:
        raise HostError(
            "the scene has no MaterialX material: add one (with LookdevX in Maya, with a Material "
            f"Library in Houdini), or bake a .mtlx file with `verdigris bake`{warnings}"
        )
    known = {key for each in found for key in (each.name, each.key)}
    missing = [name for name in names if name not in known]
    if missing:
        listed = ", ".join(each.name for each in found)
        raise HostError(f"the scene has no material {missing[0]!r}; it has: {listed}{warnings}")
    return [each for each in found if not names or {each.name, each.key} & set(names)]


def _hand_over(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    outcome: Outcome,
) -> None:
    file = options.out / f"{name}.mtlx"
    _write(file, document.text.encode())
    if painted is not None:
        weights = options.out / f"{name}.weights{ARRAY_SUFFIX}"
        _write(weights, _array(painted))
        outcome.importance = str(weights)
    outcome.status, outcome.document = HANDED_OVER, str(file)
    outcome.search = tuple(str(folder) for folder in document.search)


def _bake(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    python: str,
    run: Run,
) -> BakedResult:
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / f"{name}.mtlx"
        file.write_text(document.text, encoding="utf-8")
        command = [python, "-P", "-m", "verdigris.core", "bake", str(file), "--json"]
        command += ["--material", document.material, "--name", name, "--out", str(options.out)]
        for option, value in (
            ("--preset", options.preset),
            ("--device", options.device),
            ("--time-limit", str(options.time_limit) if options.time_limit else ""),
        ):
            command += [option, value] if value else []
        if painted is not None:
            weights = file.with_suffix(f".weights{ARRAY_SUFFIX}")
            weights.write_bytes(_array(painted))
            command += ["--importance", str(weights)]
        for search in document.search:
            command += ["--search", str(search)]
        command += ["--viewport-textures"] if options.viewport_textures else []
        command += options.options
        done = run(command)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1].removeprefix("verdigris: ") if lines else "no error message"
        raise HostError(f"{document.name}: the bake failed (exit code {done.returncode}): {reason}")
    return _result_of(done.stdout, document.name)


def _result_of(output: str, name: str) -> BakedResult:
    for line in reversed(output.splitlines()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "finished":
            results = event.get("results") or [event.get("result")]
            textures = next(iter(event.get("textures") or ()), {})
            files = {kind: Path(file) for kind, file in textures.items()}
            return BakedResult(Path(results[0]), files)
    raise HostError(f"{name}: the bake ended without a result")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment_for(command),
    )


def _array(painted: Painted) -> bytes:
    """Weights in the format of numpy, as the host has no image library."""
    held = io.BytesIO()
    np.save(held, painted.weights, allow_pickle=False)
    return held.getvalue()


def _write(file: Path, data: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f".{file.name}.tmp")
        temporary.write_bytes(data)
        temporary.replace(file)
    except OSError as failure:
        raise HostError(f"{file}: cannot be written: {failure.strerror}") from None
