"""The entries of docs/TROUBLESHOOTING.md that explain messages."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = "TROUBLESHOOTING.md"
# By the title of an entry: parts of messages. The first that is found counts.
TROUBLES = {
    "The worker is missing": (", which a bake needs, and ", ": there is no such file: correct it"),
    "The worker cannot be set up": ("the set-up failed: ",),
    "The worker cannot bake": (" cannot bake: ", "then set the worker up again"),
    "The worker does not respond": (
        *("has not responded", "has made no progress", "has used no CPU time"),
    ),
    "No device": ("no usable device for ",),
    "Textures are missing": ("' was not found in ", " textures were not found: "),
    "A reference is not loaded": (
        *("is not loaded: load it in the Reference Editor", "these payloads are not loaded"),
        *("these references are broken", " is missing: materials in it are not listed"),
    ),
    "A plug-in is not loaded": (
        " cannot be loaded: ",
        "is not loaded: load it in Windows",
        "maya-usd is missing",
    ),
    "The result cannot be noted": (" is locked: unlock it", " is linked from "),
    "Nothing cooks": (" does not cook",),
    "There is no brush": (" has no window for the brush", ", which Maya's brush does not reach"),
    "The shader belongs to a renderer": ("is a node that only ",),
    "A node is left out": (" and is not translated", " is left out by Blender's MaterialX export"),
    "Displacement is left out": (
        *("vectors in tangent space, or heights", " feeds it without a Displacement node"),
        "the displacement is left out: ",
    ),
    "The material has no surface": (
        *("has no MaterialX surface", "has no shader at the surface of its output"),
        "has no material with a surface",
    ),
    "A file cannot be written": ("cannot be written",),
    "The application reports an error": (" could not ",),
}


def find_trouble(message: str) -> str:
    """The title of the entry that explains a message; empty if there is none."""
    for title, parts in TROUBLES.items():
        if any(part in message for part in parts):
            return title
    return ""


def read_entry(page: Path, title: str) -> str:
    """The text of an entry; empty if the page has none with this title."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(rf"^## {re.escape(title)}\n+(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found[1].strip() if found else ""


def with_entry(message: str, page: Path) -> str:
    """A message with the entry that explains it, as plain text for a dialog of an application."""
    title = find_trouble(message)
    lines = explain(title, page) if title else ""
    return f"{message}\n\n{title}: {lines}" if lines else message


def explain(title: str, page: Path) -> str:
    """The text of an entry on one line, without the marks of Markdown."""
    text = re.sub(r"\*\*|`|\[([^]]*)\]\([^)]*\)", r"\1", read_entry(page, title))
    return " ".join(text.split())
