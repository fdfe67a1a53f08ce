"""examples/learn: each example starts by its name."""

import runpy
import sys
from pathlib import Path

import pytest

LEARN = Path(__file__).parents[3] / "examples" / "learn"
NAMES = [page.parent.name for page in LEARN.glob("*/README.md")]


def start(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(LEARN), *arguments])
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(LEARN), run_name="__main__")
    return ended.value.code


@pytest.mark.parametrize("name", NAMES)
def test_an_example_tells_its_options(name, monkeypatch, capsys):
    assert start(monkeypatch, name, "--help") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: learn {name}")
    assert "--full" in printed
    assert f"python examples/learn {name}" in (LEARN / name / "README.md").read_text()


def test_without_a_name_there_is_a_list_of_them(monkeypatch):
    for arguments in ((), ("nothing",)):
        message = start(monkeypatch, *arguments)
        assert all(name in message for name in NAMES)
        assert "\n" not in message
