"""The pages of a tree: the manual of the host, all pages that it links to, and their pictures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

# beside the page of the host, these are in every tree
ALWAYS = ("ARTISTS.md", "GLOSSARY.md")
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
_PICTURE_LINE = re.compile(r"^!\[[^\]]*\]\([^)]*\)$\n*", re.MULTILINE)
INSTALLING = "Install in one minute"


def links(page: Path) -> Iterator[str]:
    """The files that a page links to."""
    for target in _LINK.findall(page.read_text("utf-8")):
        if "://" not in target:
            yield target


def copy_pages(docs: Path, host: str, target: Path) -> None:
    """Copies the pages of a host. Links that lead out of the folder are not followed."""
    waiting = [name for name in (f"{host.upper()}.md", *ALWAYS) if (docs / name).is_file()]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        source = docs / name
        if name in seen or ".." in Path(name).parts or not source.is_file():
            continue
        seen.add(name)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / name)
        if source.suffix == ".md":
            waiting += links(source)


def section(page: Path, title: str) -> str:
    """A section of a page, without its pictures."""
    found = re.search(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.DOTALL | re.M
    )
    return _PICTURE_LINE.sub("", found[1]).strip() + "\n" if found else ""
