"""The files that the applications read: a Maya module, a Houdini package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hosts import SYSTEMS, HostVersion, this_system

TEMPLATES = Path(__file__).resolve().parent / "templates"
TREE = "verdigris"
MODULE, PACKAGE = "verdigris.mod", "verdigris.json"


def entry_name(host: HostVersion) -> str:
    """The name of the file that an application reads."""
    return MODULE if host.host == "maya" else PACKAGE


def entry_text(host: HostVersion, version: str, tree: str, system: str) -> str:
    """The entry of one version of an application on one system."""
    text = (TEMPLATES / entry_name(host)).read_text("utf-8")
    for key, value in (
        ("host_version", host.version),
        ("next_version", host.next_version),
        ("platform", SYSTEMS[system].maya),
        ("system", SYSTEMS[system].houdini),
        ("version", version),
        ("tree", tree),
    ):
        text = text.replace("{" + key + "}", value)
    return text


def module_text(entries: Sequence[tuple[HostVersion, str, str]], version: str) -> str:
    """One Maya module for several versions and systems (host, tree, system).

    Maya uses the block with its own version and system.
    """
    return "\n".join(entry_text(host, version, tree, system) for host, tree, system in entries)


def beside(host: HostVersion, tree: str = TREE) -> str:
    """The path of a tree next to its entry."""
    return f"./{tree}" if host.host == "maya" else f"$HOUDINI_PACKAGE_PATH/{tree}"


def write_entry(
    host: HostVersion, folder: Path, version: str, tree: str = "", system: str = ""
) -> Path:
    """Writes the entry of an application, for a tree next to it or elsewhere."""
    text = entry_text(host, version, tree or beside(host), system or this_system())
    return write_text(folder / entry_name(host), text)


def write_text(file: Path, text: str) -> Path:
    """Writes a file as a whole or not at all."""
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(text, "utf-8", newline="\n")
    temporary.replace(file)
    return file
