"""Installs Mesa's software device, or shows the command that does."""

import os
from pathlib import Path

from provision.console import Commands, Finished, SetupError, failure, report, step
from provision.lavapipe import BACKPORTS, ENVIRONMENT, PACKAGES, UPDATE, Machine, Plan
from provision.sources import read_sources

OS_RELEASES = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
POLICY = ("apt-cache", "policy", PACKAGES[0])


def read_machine(commands: Commands) -> Machine:
    os_release = next((path.read_text("utf-8") for path in OS_RELEASES if path.is_file()), "")
    policy = commands.run(POLICY, extra_env={"LC_ALL": "C"})
    return Machine(os_release, policy.output if policy.code == 0 else "", read_sources())


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def carry_out(plan: Plan, problem: str, root: bool, commands: Commands) -> None:
    """Installs as root, else raises SetupError with the command to run."""
    report(f"no usable device ({problem})")
    if not root:
        raise SetupError(
            "Mesa's software device is needed, and its installation needs root rights. Run this, "
            f"then the same command again:\n\n  {plan.shell_command()}\n"
        )
    origin = f" from {BACKPORTS}" if any(BACKPORTS in command for command in plan.commands) else ""
    report(f"about to install with apt-get{origin}: {', '.join(PACKAGES)} and their dependencies")
    written = []
    try:
        for path, text in (plan.files or {}).items():
            report(f"writing {path}:\n" + "".join(f"    {line}\n" for line in text.splitlines()))
            written.append(Path(path))
            written[-1].write_text(text, encoding="utf-8")
        run_steps(plan, commands)
    except BaseException:
        # A source that does not work would break later updates of this machine.
        for file in written:
            file.unlink(missing_ok=True)
        raise


def run_steps(plan: Plan, commands: Commands) -> None:
    """Runs all commands. A failed update alone is ignored, as another source may be the cause."""
    errors = ""
    for command in plan.commands:
        label = "reading apt's package lists" if command == UPDATE else "installing"
        with step(label):
            done = commands.run(command, extra_env=ENVIRONMENT, show=True)
            if command == UPDATE and done.code != 0:
                errors = failure(command, done) + "\n"
            elif done.code != 0:
                raise SetupError(errors + failure(command, done, remedy_for(done)))


def remedy_for(done: Finished) -> str:
    if "Could not get lock" in done.output:
        return "Another program is installing packages. Wait for it, then try again."
    return "Correct the error of apt-get (network, mirror or disk), then try again."
