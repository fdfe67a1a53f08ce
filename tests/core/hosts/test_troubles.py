"""Each message that has an entry leads to it, and each entry and each part of a message exists."""

import ast
import re
from pathlib import Path

import pytest

from verdigris.core.hosts.troubles import PAGE, TROUBLES, find_trouble, read_entry, with_entry

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs" / PAGE


def texts():
    """All texts of the sources, those in braces replaced."""
    for folder in ("core", "plugins", "ui"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name == "troubles.py":
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                elif isinstance(node, ast.JoinedStr):
                    parts = (getattr(each, "value", "") for each in node.values)
                    yield "".join(each if isinstance(each, str) else "X" for each in parts)


def test_each_part_is_in_a_message_and_each_title_is_an_entry():
    whole = "\n".join(texts())
    for title, parts in TROUBLES.items():
        assert len(read_entry(DOCS, title)) > 80, title
        for part in parts:
            assert part in whole, part


def test_entries_without_a_message_are_few():
    titles = re.findall(r"^## (.*)$", DOCS.read_text("utf-8"), re.M)
    assert set(titles) - set(TROUBLES) == {"A panel stays empty"}
    assert read_entry(DOCS, "Nobody wrote this") == read_entry(DOCS / "gone", "No device") == ""


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("this Python has no slangpy, which a bake needs, and /x has no worker: set it up with",
         "The worker is missing"),
        ("gold is locked: unlock it (lockNode -lock off), or use a copy",
         "The result cannot be noted"),
        ("the plug-in mayaUsdPlugin cannot be loaded: not found", "A plug-in is not loaded"),
        ("Maya 2026 could not read gold: RuntimeError", "The application reports an error"),
        ("clay.mtlx: 'wood.png' was not found in /a: correct the name", "Textures are missing"),
        ("nobody has heard of this", ""),
    ],
)  # fmt: skip
def test_a_message_leads_to_its_entry(message, title):
    assert find_trouble(message) == title


def test_a_dialog_has_the_entry_as_plain_text():
    text = with_entry("gold is locked: unlock it", DOCS)
    assert text.startswith("gold is locked: unlock it\n\nThe result cannot be noted: The node is")
    page = with_entry("this Python has no x, which a bake needs, and y has no worker", DOCS)
    assert "Press Set up the worker in the panel" in page and "](" not in page and "**" not in page
    assert with_entry("nobody has heard of this", DOCS) == "nobody has heard of this"
