"""`verdigris selftest`"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import HostError


class HostName(StrEnum):
    """An application that Verdigris has a plug-in for."""

    MAYA = "maya"
    HOUDINI = "houdini"


# Each application's interpreter, and the variable that names its folder.
_PROGRAMS = {HostName.MAYA: ("mayapy", "MAYA_LOCATION"), HostName.HOUDINI: ("hython", "HFS")}
_REFUSED, _FAILED = "refused", "failed"


def selftest(
    host: Annotated[HostName, typer.Option(help="Which application to test in.")],
    program: Annotated[
        Path | None, typer.Option(help="Its interpreter, where it is not found by itself.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File of the report, which can be sent.")
    ] = None,
) -> None:
    """Walks through all that a plug-in does in a real application, in a scratch scene."""
    from verdigris.core.base.outputs import check_output, temporary_name

    interpreter = program or find_program(host)
    if interpreter is None or not interpreter.is_file():
        name, variable = _PROGRAMS[host]
        where = f"{interpreter}: there is no such file" if interpreter else f"{name} was not found"
        if interpreter and interpreter.is_dir():
            where = f"{interpreter}: is a folder"
        raise HostError(f"{where}: name it with --program, or set {variable}")
    report = (out or Path(f"verdigris_selftest_{host.value}.json")).resolve()
    check_output(report, [".json"])
    written = temporary_name(report)
    try:
        _walk(host, interpreter, written)
        written.replace(report)
    finally:
        written.unlink(missing_ok=True)
    passed = print_report(report)
    print(f"The report is {report}")
    if not passed:
        raise typer.Exit(1)


def _walk(host: HostName, interpreter: Path, report: Path) -> None:
    """Has the application write the report."""
    module = f"verdigris.plugins.{host.value}.selftest"
    # a bare name would be looked for on the path
    command = [str(interpreter.absolute()), "-m", module, str(report)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as failure:
        raise HostError(
            f"{interpreter}: cannot be run ({failure.strerror}): name the application's own "
            "interpreter with --program"
        ) from None
    if not report.is_file():
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise HostError(
            f"{interpreter}: ended with {done.returncode} and no report: "
            f"{said[-1] if said else 'it said nothing'}: is the plug-in installed "
            "(packaging/stage.py, packaging/dev_install.py)?"
        )


def find_program(host: HostName) -> Path | None:
    """The application's interpreter: in its own folder, or on the path."""
    name, variable = _PROGRAMS[host]
    home = os.environ.get(variable)
    if home:
        return Path(home) / "bin" / (f"{name}.exe" if sys.platform == "win32" else name)
    found = shutil.which(name)
    return Path(found) if found else None


def print_report(file: Path) -> bool:
    """Says how each step went; whether all is well."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
        steps, passed = report["steps"], bool(report["passed"])
        print(f"{report['host'] or 'no host'}, Python {report['python']}, {report['system']}")
        for step in steps:
            detail = step["detail"].strip().splitlines()[-1:] or [""]
            why = f": {detail[0]}" if step["outcome"] in (_REFUSED, _FAILED) else ""
            print(f"  {step['outcome']:<8} {step['name']}{why}")
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise HostError(f"{file}: is no report of a self-test: {failure!r}") from None
    return passed
