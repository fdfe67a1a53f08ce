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


def plan_of(run, path):
    return run("-m", "verdigris.core", "scene", "plan", path, "--out", path.parent / "out")


def test_a_bundle_that_could_not_be_written_is_not_baked(run_in_latin_1, tmp_path):
    path = tmp_path / "a.mtlx"
    path.write_text(document("clay", WOOD), encoding="utf-8")
    clay, wood, _ = plan_of(run_in_latin_1, path).splitlines()
    assert "not baked" in clay
    assert f"the name '\\u6728' cannot be written in {TOLD}" in wood


@pytest.mark.parametrize("folder", ["\u00fcn\u00ef", WOOD])
@pytest.mark.parametrize("file", ["grain.png", "grain.&lt;UDIM&gt;.png"])
def test_a_texture_that_is_not_found_for_its_letters_is_told_so(
    folder, file, run_in_latin_1, tmp_path
):
    path = tmp_path / "clay.mtlx"
    path.write_text(document("clay", file=f"{folder}/{file}"), encoding="utf-8")
    clay, _ = plan_of(run_in_latin_1, path).splitlines()
    assert f"it has other letters in {TOLD}" in clay


def test_a_material_that_materialx_cannot_generate_is_told_so(run_in_latin_1, tmp_path):
    path = tmp_path / "a.mtlx"
    path.write_text(document(WOOD), encoding="utf-8")
    told = run_in_latin_1("-c", GENERATE, path)
    assert f"cannot generate material '\\u6728', which has other letters in {TOLD}" in told
