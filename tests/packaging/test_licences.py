"""Licences: what a game or a page includes names its licence in the first lines."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IN_GAMES = (
    *("shaders/bundle/runtime/*", "shaders/bundle/examples/*", "shaders/compress/runtime/*"),
    *("web/src/*.*s", "web/page/*.js"),
)
LINES = 2


def licence_of(path: Path) -> str:
    head = "\n".join(path.read_text("utf-8").splitlines()[:LINES])
    found = re.search(r"SPDX-License-Identifier: (\S+)", head)
    return found[1] if found else ""


@pytest.mark.parametrize("pattern", IN_GAMES)
def test_what_a_game_includes_is_apache(pattern):
    files = [path for path in ROOT.glob(pattern) if path.is_file()]
    assert files
    assert {path.name: licence_of(path) for path in files} == {
        path.name: "Apache-2.0" for path in files
    }


def test_the_add_on_for_blender_is_gpl_with_its_text():
    folder = ROOT / "plugins" / "blender"
    files = [*folder.rglob("*.py")]
    assert {licence_of(path) for path in files} == {"GPL-3.0-or-later"}
    assert "GNU GENERAL PUBLIC LICENSE" in (folder / "LICENSE").read_text()
    assert "SPDX:GPL-3.0-or-later" in (folder / "blender_manifest.toml").read_text()


def test_the_project_is_apache_with_its_text():
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert (ROOT / "NOTICE").read_text().startswith("Verdigris\nCopyright 2026 Verdigris authors\n")
