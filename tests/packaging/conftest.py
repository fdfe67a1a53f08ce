"""A strict stand-in for other programs, and a repository to set up."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from provision.console import Commands, Finished
from provision.environment import Environment

PYPROJECT = """
[project]
dependencies = ["numpy==2.4.6", "slangpy==0.43.1"]
[project.optional-dependencies]
usd = ["usd-core==26.11"]
test = ["usd-core==26.11", "pytest==9.2.0"]
"""

DEVICE_ANSWER = '{"kind": "vulkan", "adapter": "llvmpipe", "software": true}'


class FakeCommands(Commands):
    """Answers known commands and refuses others."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.answers: dict[str, Finished] = {"probe": Finished(0, DEVICE_ANSWER)}
        self.ran: list[str] = []

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        extra_env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        show: bool = False,
    ) -> Finished:
        name = self.name_of(tuple(command))
        self.ran.append(name)
        answer = self.answers.get(name, Finished(0, ""))
        if answer.code == 0:
            self.take_effect(name)
        return answer

    def name_of(self, command: tuple[str, ...]) -> str:
        python, venv = str(self.environment.python), str(self.environment.venv)
        pip = (python, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input")
        if command == (sys.executable, "-I", "-m", "venv", venv):
            return "venv"
        if command[:-1] == (*pip, "--no-compile", "-e"):
            return f"pip {command[-1]}"
        if command[:2] == (python, "-I") and command[2].endswith("probe.py"):
            return "probe"
        if " ".join(command) in self.answers:
            return " ".join(command)
        raise AssertionError(f"unexpected command: {command}")

    def take_effect(self, name: str) -> None:
        if name == "venv":
            for file in (self.environment.python, self.environment.pip):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("")
        elif name.startswith("pip"):
            self.environment.script("verdigris").write_text("")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    return Environment(root)


@pytest.fixture
def commands(environment: Environment) -> FakeCommands:
    return FakeCommands(environment)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERDIGRIS_VERBOSE", raising=False)
