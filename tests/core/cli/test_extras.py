"""Packages that a command offers to install at its first use."""

import sys
import tomllib
import zipfile
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.cli.shared import extras
from verdigris.core.cli.shared.extras import PANEL, install, require_extra

MISSING = replace(PANEL, modules=("no_such_module",))
COMMAND = "verdigris panel --yes"


def test_the_pins_of_the_panel_are_those_of_pyproject():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert sorted(PANEL.pins) == sorted([*extras["panel"], *extras["link"]])


def test_the_panel_offers_its_packages_with_their_size_and_the_command_where_nobody_can_answer(
    monkeypatch,
):
    # pytest's input is no terminal
    with pytest.raises(VerdigrisError) as found:
        require_extra(MISSING, COMMAND, is_agreed=False)
    text = str(found.value)
    assert f"`{COMMAND}` installs them into {sys.prefix}" in text
    assert "PySide6-Essentials==" in text and "98 MB to download, 275 MB on disk" in text
    done = []
    monkeypatch.setattr(extras, "install", done.append)
    require_extra(MISSING, COMMAND, is_agreed=True)
    assert done == [PANEL.pins]


def test_the_stated_size_is_that_of_the_installed_packages():
    pytest.importorskip("PySide6", exc_type=ImportError)
    if sys.platform != "linux":
        pytest.skip("the size is stated for Linux")
    names = [pin.partition("==")[0] for pin in PANEL.pins]
    files = [file for name in names for file in distribution(name).files or ()]
    found = sum(each.locate().stat().st_size for each in files if each.locate().is_file())
    assert found / 1e6 == pytest.approx(PANEL.size, rel=0.15)


def test_pip_installs_and_a_failure_names_what_to_check(tmp_path, monkeypatch, capfd):
    name = "verdigris_probe-1.0"
    with zipfile.ZipFile(tmp_path / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("verdigris_probe.py", "")
        head = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{name}.dist-info/WHEEL", head)
        about = "Metadata-Version: 2.1\nName: verdigris_probe\nVersion: 1.0\n"
        wheel.writestr(f"{name}.dist-info/METADATA", about)
        wheel.writestr(f"{name}.dist-info/RECORD", "")
    target = tmp_path / "target"
    for key, value in (("NO_INDEX", "1"), ("FIND_LINKS", tmp_path), ("TARGET", target)):
        monkeypatch.setenv(f"PIP_{key}", str(value))
    install(["verdigris_probe==1.0"])
    assert (target / "verdigris_probe.py").is_file()
    with pytest.raises(VerdigrisError, match=r"verdigris_probe==2\.0.*check the network"):
        install(["verdigris_probe==2.0"])
    assert "verdigris_probe==2.0" in capfd.readouterr().err
