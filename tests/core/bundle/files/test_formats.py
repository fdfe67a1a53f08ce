"""The tables of texel formats in Python, C and JavaScript: the same formats and numbers."""

import re
from pathlib import Path

import pytest

from verdigris.core.bundle.files.ktx2 import FORMATS
from verdigris.shaders import SHADER_FOLDER

HEADER = SHADER_FOLDER / "bundle" / "runtime" / "verdigris.h"
WEB = Path(__file__).parents[4] / "web" / "src" / "formats.js"
# Name, VkFormat, bytes of a texel or block, texels along a side of a block, textures that have it.
EXPECTED = {
    name: (each.number, each.size, each.side, {*each.uses})
    for name, each in FORMATS.items()
    if each.uses
}


def header_rows():
    rows = re.findall(r"row\((\w+), (\d+), (\d+), (\d+), ([\w| ]+)\)", HEADER.read_text())
    return {
        name: (*map(int, numbers), {*uses.lower().replace("vd__", "").split(" | ")})
        for name, *numbers, uses in rows
    }


def web_rows():
    found = {}
    for name, row in re.findall(r"^  (\w+): \{ (number: .*) \},$", WEB.read_text(), re.MULTILINE):
        number, size = (int(re.search(rf"\b{each}: (\d+)", row)[1]) for each in ("number", "bytes"))
        uses = {*re.findall(r'"(\w+)"', re.search(r"uses: \[([^]]*)\]", row)[1])}
        found[name] = (number, size, 4 if "blocks:" in row else 1, uses)
    return found


@pytest.mark.parametrize("rows", [header_rows, web_rows])
def test_the_tables_of_other_languages_have_the_formats_of_bundles(rows):
    assert rows() == EXPECTED


def test_browsers_decode_what_python_decodes():
    decoded = {
        name
        for name, row in re.findall(r"^  (\w+): \{ (.*) \},$", WEB.read_text(), re.MULTILINE)
        if "blocks:" not in row or "decode:" in row
    }
    assert decoded == {name for name in EXPECTED if not FORMATS[name].is_device_only}
