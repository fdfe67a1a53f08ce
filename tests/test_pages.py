"""The pages: their links lead somewhere, and the files that they name exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = "core|docs|examples|packaging|plugins|shaders|tests|tools|ui|web"
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_BLOCK = re.compile(r"```.*?```", re.S)
# `core/baking/bake.py`, `tests/core`; not names with a placeholder in capitals
NAMED = re.compile(rf"`((?:{FOLDERS})/[a-z0-9_./-]+)`")
RUN = re.compile(r"python3? ((?:docs|examples|packaging)/[\w/.]+)")


def pages():
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found = [ROOT / name for name in listed.stdout.split()] or [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
    ]
    return [page for page in found if page.is_file()]


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", CODE_BLOCK.sub("", page.read_text("utf-8")), re.M):
        plain = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(plain.replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_named_files_of_a_page_exist(page):
    text = page.read_text("utf-8")
    prose = CODE_BLOCK.sub("", text)
    for link in LINK.findall(prose):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link
    for name in [*NAMED.findall(prose), *RUN.findall(text)]:
        assert any((folder / name).exists() for folder in (ROOT, page.parent)), name
