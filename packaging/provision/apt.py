"""Carries the plan for lavapipe out, or tells the user how to."""

import os
from pathlib import Path

from provision.console import Commands, Finished, SetupError, failure, say, step
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
    """Installs, or stops with the command that somebody with the rights has to run."""
    say(f"no device computes here ({problem})")
    if not root:
        raise SetupError(
            "Mesa's software device is needed, and installing it takes root rights. Run this, "
            f"then the same command again:\n\n  {plan.shell_command()}\n"
        )
    origin = f" from {BACKPORTS}" if any(BACKPORTS in command for command in plan.commands) else ""
    say(f"about to install with apt-get{origin}: {', '.join(PACKAGES)} and what they depend on")
    written = []
    try:
        for path, text in (plan.files or {}).items():
            say(f"writing {path}:\n" + "".join(f"    {line}\n" for line in text.splitlines()))
            written.append(Path(path))
            written[-1].write_text(text, encoding="utf-8")
        run_steps(plan, commands)
    except BaseException:
        # A source that does not work would break every later apt-get update of this machine.
        for file in written:
            file.unlink(missing_ok=True)
        raise


def run_steps(plan: Plan, commands: Commands) -> None:
    """Runs every command; an update may fail over a source that has nothing to do with this."""
    complaints = ""
    for command in plan.commands:
        label = "reading apt's package lists" if command == UPDATE else "installing"
        with step(label):
            done = commands.run(command, extra_env=ENVIRONMENT, show=True)
            if command == UPDATE and done.code != 0:
                complaints = failure(command, done) + "\n"
            elif done.code != 0:
                raise SetupError(complaints + failure(command, done, remedy_for(done)))


def remedy_for(done: Finished) -> str:
    if "Could not get lock" in done.output:
        return "Another program is installing packages: wait for it, then run the same again."
    return "Mend what apt-get reports (the network, a mirror, the disk), then run the same again."
