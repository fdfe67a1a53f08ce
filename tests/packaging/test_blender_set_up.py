"""The environment with Blender's module, which only `test --blender` makes."""

import sys

import pytest

from provision import blender
from provision.blender import FOLDER, PYTHON, set_up_blender
from provision.cli import Request, parse, serve
from provision.console import Commands, Finished, SetupError
from provision.environment import python_in

PINS = ["bpy==5.0.1", "numpy==1.26.4"]


class FakeCommands(Commands):
    """Answers the commands that make the environment and refuses others."""

    def __init__(self, environment, version=PYTHON, pip=0):
        self.venv = environment.root / FOLDER
        self.version, self.pip, self.ran = version, pip, []

    def run(self, command, **_):
        python = str(python_in(self.venv))
        pip = [python, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        if command[1:3] == ["-I", "-c"]:
            return Finished(0, f"{self.version}\n")
        if command[1:] == ["-I", "-m", "venv", str(self.venv)]:
            python_in(self.venv).parent.mkdir(parents=True)
            python_in(self.venv).write_text("")
            self.ran.append("venv")
            return Finished(0, "")
        assert command == [*pip, "--only-binary", ":all:", *PINS]
        self.ran.append("pip")
        return Finished(self.pip, "no matching distribution" if self.pip else "")


@pytest.fixture
def repository(environment):
    file = environment.root / "pyproject.toml"
    file.write_text(f"{file.read_text()}\n[dependency-groups]\nblender = {PINS}\n")
    return environment


def test_it_is_made_once(repository):
    commands = FakeCommands(repository)
    set_up_blender(repository, commands)
    set_up_blender(repository, commands)
    assert commands.ran == ["venv", "pip"]


def test_other_pins_make_it_again(repository):
    commands = FakeCommands(repository)
    set_up_blender(repository, commands)
    (repository.root / FOLDER / "verdigris-packages.txt").write_text("bpy==4.5.0")
    set_up_blender(repository, commands)
    assert commands.ran == ["venv", "pip"] * 2


def test_an_installation_that_fails_is_reported_and_tried_again(repository):
    with pytest.raises(SetupError, match="no matching distribution"):
        set_up_blender(repository, FakeCommands(repository, pip=1))
    assert not (repository.root / FOLDER / "verdigris-packages.txt").exists()


def test_without_its_version_of_python_the_remedy_is_named(repository):
    with pytest.raises(SetupError, match=r"need Python 3\.11 .* or run the tests without"):
        set_up_blender(repository, FakeCommands(repository, version="3.13"))
    assert not (repository.root / FOLDER).exists()


def test_only_its_option_asks_for_it(repository, commands, monkeypatch):
    asked = []
    monkeypatch.setattr(blender, "set_up_blender", lambda *_: asked.append("blender"))
    handed = []

    def hand_over(command, folder):
        handed.append(command)
        return 0

    assert parse(["test", "--blender", "-k", "a"]) == Request("test", ("-k", "a"), False, True)
    serve(parse(["test", "-k", "a"]), repository, commands, hand_over)
    assert asked == []
    serve(parse(["test", "--blender", "-k", "a"]), repository, commands, hand_over)
    assert asked == ["blender"]
    assert handed[0] == handed[1] and "--blender" not in handed[1]


def test_a_python_of_this_version_is_taken_as_it_is(repository):
    assert blender.require_python(FakeCommands(repository)) == sys.executable
