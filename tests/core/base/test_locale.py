"""Where the locale has no letters for a name, that is told, with the locale and the remedy."""

import os
import shutil
import subprocess
import sys

import pytest

from ..batch.scenes import document

WOOD = "\u6728"
TOLD = "the locale de_DE, whose file names are in iso8859-1: set LC_ALL=C.UTF-8"
GENERATE = """
import sys
from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.codegen.generate_teacher import generate
document = load_document(sys.argv[1])
try:
    generate(document, document.require_material())
except DocumentError as failure:
    print(ascii(str(failure)))
"""


@pytest.fixture(scope="module")
def run_in_latin_1(tmp_path_factory):
    """Runs Python where each letter of a file's name is one byte."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None:
        pytest.skip("localedef, which makes locales, is not there")
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", str(folder / "de_DE")],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("localedef has no description of the locale de_DE")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "LOCPATH": str(folder), "LC_ALL": "de_DE"}

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=environment,
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode("latin-1")
        return done.stdout.decode("latin-1")

    return run


FOLDERS, FILES = ("\u00fcn\u00ef", WOOD), ("grain.png", "grain.&lt;UDIM&gt;.png")


@pytest.fixture(scope="module")
def plan(run_in_latin_1, tmp_path_factory):
    """The line of each material in the plan of some documents."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "a.mtlx").write_text(document("clay", WOOD), encoding="utf-8")
    for row, where in enumerate(FOLDERS):
        for column, file in enumerate(FILES):
            text = document(f"grain{row}{column}", file=f"{where}/{file}")
            (folder / f"grain{row}{column}.mtlx").write_text(text, encoding="utf-8")
    shown = run_in_latin_1(
        "-m", "verdigris.core", "scene", "plan", folder, "--out", folder.parent / "out"
    )
    return {line.split()[0]: line for line in shown.splitlines()}


def test_a_bundle_that_could_not_be_written_is_not_baked(plan):
    assert "not baked" in plan["clay"]
    assert f"the name '\\u6728' cannot be written in {TOLD}" in plan["\\u6728"]


@pytest.mark.parametrize("row", range(len(FOLDERS)))
@pytest.mark.parametrize("column", range(len(FILES)))
def test_a_texture_that_is_not_found_for_its_letters_is_told_so(plan, row, column):
    assert f"its letters do not exist in {TOLD}" in plan[f"grain{row}{column}"]


def test_a_material_that_materialx_cannot_generate_is_told_so(run_in_latin_1, tmp_path):
    path = tmp_path / "a.mtlx"
    path.write_text(document(WOOD), encoding="utf-8")
    told = run_in_latin_1("-c", GENERATE, path)
    assert f"cannot generate material '\\u6728': its letters do not exist in {TOLD}" in told
