"""`verdigris selftest`"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from verdigris.core.base.errors import HostError
from verdigris.core.base.outputs import check_output
from verdigris.core.base.process.worker_environment import require_launcher
from verdigris.core.cli.shared.options import CommandApp
from verdigris.core.hosts.trouble_report import SUFFIXES, require_suffix, write_selftest

app = CommandApp()


class HostName(StrEnum):
    """A host with a plug-in."""

    MAYA = "maya"
    HOUDINI = "houdini"
    BLENDER = "blender"


# The program of each host that runs Python, and the environment variable of its folder.
_PROGRAMS = {
    HostName.MAYA: ("mayapy", "MAYA_LOCATION"),
    HostName.HOUDINI: ("hython", "HFS"),
    HostName.BLENDER: ("blender", ""),
}
_EXPLAINED = ("refused", "left out", "failed")


@app.add("selftest --host maya -o report.json")
def selftest(
    host: Annotated[HostName, typer.Option(help="The host to test.")],
    program: Annotated[
        Path | None,
        typer.Option(
            help="Path of mayapy, hython, blender or a Python with bpy, if it is not found by "
            "itself."
        ),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            help="The staged tree to test: the folder `verdigris` that packaging/stage.py wrote, "
            "or the folder of the add-on."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file for the report: .json, or .zip with its log."),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Leave names of people, of machines and of folders out of the report."
        ),
    ] = False,
) -> None:
    """Tests a plug-in in a real Maya, Houdini or Blender.

    Runs every function in an empty scene and writes a report.
    """
    interpreter = program or find_program(host)
    if interpreter is None or not interpreter.is_file():
        name, variable = _PROGRAMS[host]
        where = f"{interpreter}: no such file" if interpreter else f"{name} was not found"
        if interpreter and interpreter.is_dir():
            where = f"{interpreter} is a folder"
        remedy = f", or set {variable}" if variable else ""
        raise HostError(f"{where}: name it with --program{remedy}")
    launcher = require_launcher("selftest", tree, is_addon=host == HostName.BLENDER)
    report = (out or Path(f"verdigris_selftest_{host.value}.json")).resolve()
    check_output(report, SUFFIXES)
    require_suffix(report)
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        written = Path(folder) / "report.json"
        log = _run_in_host(interpreter, launcher, written)
        values = _read(written)
    passed = print_report(values)
    write_selftest(report, values, log, [Path.cwd(), report.parent] if redact else None)
    print(f"The report is {report}")
    if not passed:
        raise typer.Exit(1)


def _run_in_host(interpreter: Path, launcher: Path, report: Path) -> str:
    """Runs the plug-in's self-test in the host, which writes the report. Returns its log."""
    # absolute, or the system would search a bare name on the path
    program, words = str(interpreter.absolute()), [str(launcher.absolute()), str(report)]
    if interpreter.stem.lower().startswith("blender"):
        words = ["--background", "--python", words[0], "--", words[1]]
    try:
        done = subprocess.run([program, *words], check=False, capture_output=True, text=True)
    except OSError as failure:
        raise HostError(
            f"{interpreter} cannot be run ({failure.strerror}): name the host's Python "
            "interpreter with --program"
        ) from None
    if not report.is_file():
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        last = lines[-1] if lines else "it printed no error"
        raise HostError(
            f"{interpreter} exited with {done.returncode} and wrote no report: {last}. Stage the "
            "plug-in with packaging/stage.py and name its folder with --tree"
        )
    return done.stdout + done.stderr


def find_program(host: HostName) -> Path | None:
    """The host's program: in the folder of its environment variable, or on the path."""
    name, variable = _PROGRAMS[host]
    home = os.environ.get(variable) if variable else None
    if home:
        return Path(home) / "bin" / (f"{name}.exe" if sys.platform == "win32" else name)
    found = shutil.which(name)
    return Path(found) if found else None


def _read(file: Path) -> dict[str, Any]:
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as failure:
        raise HostError(f"{file} is not a report of a self-test: {failure!r}") from None
    return report if isinstance(report, dict) else {}


def print_report(report: Mapping[str, Any]) -> bool:
    """Prints the result of each step. Returns whether all passed."""
    try:
        steps, passed = report["steps"], bool(report["passed"])
        print(f"{report['host'] or 'no host'}, Python {report['python']}, {report['system']}")
        for name, why in (report.get("probe") or {}).get("features", {}).items():
            if why:
                print(f"  off      {name}: {why}")
        for step in steps:
            detail = step["detail"].strip().splitlines()[-1:] or [""]
            why = f": {detail[0]}" if step["outcome"] in _EXPLAINED else ""
            print(f"  {step['outcome']:<8} {step['name']}{why}")
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise HostError(f"the host's report is not a report of a self-test: {failure!r}") from None
    return passed
