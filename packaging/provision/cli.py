"""The commands of bootstrap.py: set up what is missing, then run the requested program."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from provision.console import Commands, SetupError, clean_environment, report
from provision.environment import Environment, install, is_current
from provision.lock import held
from provision.rights import explain_failure
from provision.stamp import Device, Stamp, read_stamp, write_stamp

ROOT = Path(__file__).resolve().parent.parent.parent

USAGE = """\
Sets Verdigris up in .venv next to this repository's README, then runs it.

  python3 packaging/bootstrap.py ARGUMENTS...      run `verdigris ARGUMENTS...`,
                                                   e.g. bake examples/copper_tray.mtlx
  python3 packaging/bootstrap.py check [ARGUMENTS] style, types, import contracts and the quick
                                                   tests, before a commit: less than two minutes
  python3 packaging/bootstrap.py test [ARGUMENTS]  run all tests, with pytest's arguments
  python3 packaging/bootstrap.py test --blender    also make .venv-blender (about 1 GB), and run
                                                   the tests of Blender's plug-in in it
  python3 packaging/bootstrap.py fuzz --minutes N [TARGET ...]
                                                   read damaged files of every kind, and report
                                                   what the readers did wrong
  python3 packaging/bootstrap.py setup             set up only, for baking
  python3 packaging/bootstrap.py dev               set up only, with the tools of developers
  python3 packaging/bootstrap.py --help            print this; `verdigris` has its own:
                                                   python3 packaging/bootstrap.py bake --help

  --recheck-device   (first argument) look for a graphics device again

The first run installs the packages pinned in pyproject.toml, and on a Debian-family system
without a usable device Mesa's software device. It reports that before. Later runs install nothing.
VERDIGRIS_VERBOSE=1 shows the output of every step.
"""

# The tools, and tests that take seconds: the arithmetic, documents, settings, files, the panel
# without its window.
QUICK_TESTS = (
    "tests/test_architecture.py",
    "tests/core/base",
    "tests/core/batch/test_plan.py",
    "tests/core/batch/test_scene.py",
    "tests/core/bundle/files",
    "tests/core/cli/test_main.py",
    "tests/core/geometry",
    "tests/core/importance",
    "tests/core/lighting",
    "tests/core/material/files",
    "tests/core/material/graph",
    "tests/core/material/live_inputs",
    "tests/core/material/load",
    "tests/core/material/normalise",
    "tests/core/network",
    "tests/core/test_progress.py",
    "tests/core/settings",
    "tests/core/worker/test_protocol.py",
    "tests/packaging/test_bootstrap.py",
    "tests/packaging/test_licences.py",
    "tests/ui/test_estimates.py",
    "tests/ui/model",
    "tests/ui/paint",
)
FUZZER = Path("tests", "fuzz", "run.py")
WARM_UP = "verdigris.core.baking.warm_up"
RUN_EXTRAS = ("usd",)
TEST_EXTRAS = ("test", "usd")


HandOver = Callable[[list[str], Path | None], int]


class UsageError(Exception):
    """Invalid arguments of bootstrap.py."""


@dataclass(frozen=True)
class Request:
    action: str
    """help, setup, dev, check, test, fuzz, or run for the arguments of verdigris."""
    arguments: tuple[str, ...] = ()
    recheck: bool = False
    with_blender: bool = False

    @property
    def extras(self) -> tuple[str, ...]:
        if self.action in ("check", "dev", "fuzz", "test"):
            return TEST_EXTRAS
        return () if self.action == "run" and names_only_materialx(self.arguments) else RUN_EXTRAS


def names_only_materialx(arguments: Sequence[str]) -> bool:
    """Whether a run needs no package for USD, which is a third of a set-up: its arguments name a
    MaterialX file and no USD file. A run that does need it installs it then."""
    suffixes = {Path(argument).suffix.lower() for argument in arguments}
    return ".mtlx" in suffixes and not any(suffix.startswith(".usd") for suffix in suffixes)


def parse(arguments: Sequence[str]) -> Request:
    given = tuple(arguments)
    recheck = given[:1] == ("--recheck-device",)
    if recheck:
        given = given[1:] or ("setup",)
    if not given or given[0] in ("-h", "--help", "help"):
        return Request("help")
    if given[0] == "setup" and given[1:] == ("--recheck-device",):
        return Request("setup", recheck=True)
    if given[0] in ("dev", "setup") and len(given) > 1:
        raise UsageError(
            f"{given[0]} takes no arguments, but got {' '.join(given[1:])!r}; see --help"
        )
    if given[:2] == ("test", "--blender"):
        return Request("test", given[2:], recheck, with_blender=True)
    if given[0] in ("check", "dev", "fuzz", "setup", "test"):
        return Request(given[0], given[1:], recheck)
    return Request("run", given, recheck)


def main(arguments: Sequence[str]) -> int:
    try:
        return serve(parse(arguments), Environment(ROOT), Commands(), hand_over)
    except UsageError as error:
        report(str(error))
        return 2
    except SetupError as error:
        report(str(error))
    except (OSError, subprocess.SubprocessError) as error:
        report(explain_failure(error, ROOT))
    except KeyboardInterrupt:
        report("stopped; the next run repairs an incomplete set-up")
        return 130
    return 1


def serve(
    request: Request, environment: Environment, commands: Commands, hand_over: HandOver
) -> int:
    if request.action == "help":
        print(USAGE, end="")
        return 0
    stamp = set_up(request, environment, commands)
    if request.action in ("dev", "setup"):
        if stamp.device and stamp.device.found and not stamp.device.software:
            # a first bake finds its kernels compiled
            commands.begin([str(environment.python), "-P", "-m", WARM_UP])
        report(f"ready, {describe(stamp.device)}")
        return 0
    if request.with_blender:
        # Imported late, for a faster start.
        from provision.blender import set_up_blender

        set_up_blender(environment, commands)
    if request.action in ("check", "test"):
        workers = worker_arguments(request.arguments, cores())
        tests = QUICK_TESTS if request.action == "check" else ()
        pytest = [str(environment.python), "-P", "-m", "pytest"]
        pytest += [*workers, *tests, *request.arguments]
        return hand_over(pytest, environment.root)
    if request.action == "fuzz":
        fuzzer = [str(environment.python), "-P", str(environment.root / FUZZER)]
        return hand_over([*fuzzer, *request.arguments], environment.root)
    return hand_over([str(environment.script("verdigris")), *request.arguments], None)


def set_up(request: Request, environment: Environment, commands: Commands) -> Stamp:
    """Sets up what is missing. If nothing is missing, it only reads the stamp."""
    stamp = read_stamp(environment.stamp)
    if stamp is None or request.recheck or not is_settled(stamp, request, environment):
        with held(environment.lock):
            return complete(request, environment, commands)
    if stamp.device and not stamp.device.found:
        report(f"{describe(stamp.device)}; --recheck-device looks for one again")
    return stamp


def is_settled(stamp: Stamp, request: Request, environment: Environment) -> bool:
    return stamp.device is not None and is_current(environment, stamp, request.extras)


def complete(request: Request, environment: Environment, commands: Commands) -> Stamp:
    # Another set-up may have done the work while this one waited for the lock.
    stamp = read_stamp(environment.stamp)
    if stamp is None or not is_current(environment, stamp, request.extras):
        stamp = install(environment, request.extras, commands)
    if request.recheck:
        # Removed on disk as well, as the search may stop with a request for root rights.
        stamp = replace(stamp, device=None)
        write_stamp(environment.stamp, stamp)
    if stamp.device is None:
        # Imported late, for a faster start.
        from provision.search import search

        stamp = replace(stamp, device=search(environment.python, commands))
        write_stamp(environment.stamp, stamp)
    return stamp


def describe(device: Device | None) -> str:
    if device is None or not device.found:
        return "without a device: only commands that need none work (inspect, --help)"
    kind = f"{device.kind}, software" if device.software else device.kind
    return f"with {device.adapter} ({kind})"


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


WORKERS = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")


def worker_arguments(arguments: Sequence[str], cores: int) -> list[str]:
    chosen = any(word.startswith(("-n", "--numprocesses")) for word in arguments)
    # Tests of a file share fixtures when one process runs all of them. Sorted by their number of
    # tests, files of one long test would come last, and one process would wait for the other.
    return [] if chosen or cores < 2 else list(WORKERS)


def hand_over(command: list[str], folder: Path | None) -> int:
    """Replaces this process by the command, or on Windows runs it and returns its exit code."""
    sys.stderr.flush()
    if os.name != "nt":
        if folder is not None:
            os.chdir(folder)
        os.execve(command[0], command, clean_environment())
    try:
        return subprocess.call(command, cwd=folder, env=clean_environment())
    except KeyboardInterrupt:
        return 130
