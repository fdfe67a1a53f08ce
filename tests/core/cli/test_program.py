"""The end of the program `verdigris`."""

import os
import sys

import pytest

from verdigris.core.base import device
from verdigris.core.cli import main as cli


@pytest.fixture
def ended(monkeypatch):
    """Codes with which the process ended without the interpreter's own end."""
    codes = []

    def end(code):
        codes.append(code)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "_exit", end)
    return codes


def exit_with(code):
    def main():
        print("done", end="")
        if code is not None:
            sys.exit(code)

    return main


@pytest.mark.parametrize("code", [None, 0, 3])
def test_a_program_that_has_opened_a_card_closes_it_and_ends_with_its_code(
    ended, monkeypatch, capfd, code
):
    monkeypatch.setattr(cli, "main", exit_with(code))
    monkeypatch.setattr(device, "close_card", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        cli.run()
    assert ended == [code or 0]
    assert capfd.readouterr().out == "done"


@pytest.mark.parametrize(("code", "opens"), [(3, False), ("a text for the terminal", True)])
def test_another_end_is_the_interpreters(ended, monkeypatch, code, opens):
    monkeypatch.setattr(cli, "main", exit_with(code))
    monkeypatch.setattr(device, "close_card", lambda: opens)
    with pytest.raises(SystemExit) as ending:
        cli.run()
    assert ending.value.code == code
    assert ended == []


def test_a_software_device_is_no_card_to_close():
    device.open_device("software")
    assert not device.close_card()
