"""The list of all commands, and what is imported for one of them."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from verdigris.core.base import adapters
from verdigris.core.cli import loader
from verdigris.core.cli import main as cli

from ..in_process import run_command

CLI = Path(cli.__file__).parent
# The program's version imports numpy, which nothing else of the help needs.
ALLOWED = {
    ("loader.py", "resolve_command"),
    ("main.py", "print_version"),
    # what a bake by a resident worker does not need
    ("commands/bake.py", "bake"),
    ("shared/options.py", "load"),
    ("shared/bake_options.py", "is_up_to_date"),
    ("shared/bake_options.py", "show_up_to_date"),
    ("shared/bake_output.py", "live_line"),
    ("shared/bake_output.py", "recommend_next"),
    ("shared/bake_output.py", "of_bundle"),
    ("shared/bake_output.py", "recommendation"),
}
COMMANDS = "verdigris.core.cli.commands."
LOADED = f"""
import atexit, json, sys
loaded = lambda: [name for name in sys.modules if name.startswith({COMMANDS!r})]
atexit.register(lambda: print(json.dumps([loaded(), "numpy" in sys.modules])))
from verdigris.core.cli.main import main
main()
"""


def loaded_by(*words):
    """The modules of commands that these words import, and whether they import numpy."""
    program = [sys.executable, "-P", "-c", LOADED, *words]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_the_list_of_commands_imports_none_of_them():
    assert loaded_by("--help") == [[], False]


def test_the_help_of_a_command_imports_its_module_alone():
    assert loaded_by("versions", "--help")[0] == [COMMANDS + "bundles"]


@pytest.mark.parametrize("name", loader.COMMANDS)
def test_a_command_says_the_same_of_itself_as_the_list(name):
    command = typer.main.get_command(cli.app).commands[name]
    listed = loader.COMMANDS[name]
    assert (command.name, command.get_short_help_str(62)) == (name, listed.help)
    assert f"  {name:<8}  {listed.help}\n" in run_command(["--help"])[1]


def test_a_misspelt_command_is_answered_with_those_alike():
    code, _, errors = run_command(["inspekt"])
    assert code == 2
    assert "No such command 'inspekt'. Did you mean 'inspect'?" in " ".join(errors.split())


def functions_that_import(tree):
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            isinstance(each, ast.Import | ast.ImportFrom) for each in ast.walk(function)
        ):
            yield function.name


def test_modules_of_the_command_import_at_their_top():
    found = {
        (str(file.relative_to(CLI)), name)
        for file in CLI.rglob("*.py")
        for name in functions_that_import(ast.parse(file.read_text()))
    }
    assert found <= ALLOWED


@pytest.mark.parametrize(
    ("words", "begun"),
    [
        (["gone.mtlx"], [None]),
        (["gone.mtlx", "--device", "vulkan:1"], ["vulkan:1"]),
        (["--device=software", "gone.mtlx"], ["software"]),
        (["gone.mtlx", "--device"], [None]),
        (["--help"], []),
    ],
)
def test_a_bake_loads_the_driver_of_its_device_before_its_module(words, begun):
    found = []
    run_command(["bake", *words], (adapters, "begin_driver", found.append))
    assert found == begun


def test_other_commands_load_no_driver_early():
    found = []
    run_command(["inspect", "gone.mtlx"], (adapters, "begin_driver", found.append))
    assert found == []
