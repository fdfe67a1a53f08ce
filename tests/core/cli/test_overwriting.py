"""What a command reads it does not write over."""

import json
import shutil

import numpy as np
import pytest

from ..bundle.bundles import make_bundle
from ..in_process import run_command
from ..material.documents import with_image
from ..material.surfaces import write_image
from ..small_endings import SMALL_ENDINGS

QUICK = (*("--set", "network=2x16", "--set", "batch=64"), "--resolution", 8, "--iterations", 2)
MAP = "clay.importance.png"
BAKE = ("bake", "clay.mtlx", *QUICK, "--name", "clay", "-o", ".")
RENDER = ("render", "clay.mtlx", "--size", 8)
COMPARE = ("compare", "clay.mtlx", "clay.vdg", "--size", 8)
MEASURE = ("measure", "clay.vdg", "--source", "clay.mtlx", "--size", 8, "--samples", 64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A document, the image that it reads, an importance map, and a bundle."""
    folder = tmp_path_factory.mktemp("clay")
    write_image(folder / "clay_normal.png", np.full((4, 4, 3), 128, np.uint8))
    write_image(folder / MAP, np.diag([255, 9, 9, 9]).astype(np.uint8)[..., None])
    (folder / "clay.mtlx").write_text(with_image("clay_normal.png"))
    make_bundle(folder / "clay.vdg")
    return folder


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ((*BAKE, "--viewport-textures"), "clay_normal.png"),
        ((*RENDER, "--reference", "-o", "clay_normal.png"), "clay_normal.png"),
        ((*COMPARE, "-o", "clay_normal.png"), "clay_normal.png"),
        ((*MEASURE, "--error-map", "clay_normal.png"), "clay_normal.png"),
        (("weights", "show", MAP, "-o", MAP), MAP),
    ],
    ids=["viewport textures", "render", "compare", "measure", "weights show"],
)
def test_what_is_read_is_not_written_over(arguments, kept, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    device = () if arguments[0] == "weights" else ("--device", "software")
    code, _, errors = run_command([*arguments, *device])
    assert code == 1
    assert f"{kept}: is an input of the result and would be overwritten" in errors
    assert before == {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_what_lies_elsewhere_or_is_read_by_nobody_is_written(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "pictures").mkdir()
    (folder / "old.png").write_bytes(b"of before")
    (folder / "link.png").symlink_to("old.png")
    for target in ("old.png", "pictures/clay_normal.png", "link.png"):
        code, _, errors = run_command([*RENDER, "-o", target, "--device", "software"])
        assert not code, errors
        assert (folder / target).read_bytes().startswith(b"\x89PNG")
        # a link is followed, and that is said
        said = f"verdigris: link.png: is a link, so {folder / 'old.png'} was written\n"
        assert (said in errors) == (target == "link.png")


def test_an_exported_decoder_replaces_files_of_its_kind_alone(folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = (folder / "clay.mtlx").read_text()
    code, _, errors = run_command(["export", "clay.vdg", "-t", "rtxns-bin", "-o", "clay.mtlx"])
    assert (code, errors) == (
        1,
        "verdigris: clay.mtlx: exists and is not a .bin: choose another name\n",
    )
    assert (folder / "clay.mtlx").read_text() == text


def test_a_bake_keeps_the_bundle_before_it_unless_it_shall_replace_it(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.chdir(shutil.copytree(folder, tmp_path / "clay"))
    kept = tmp_path / "clay" / "clay.versions"
    for options in ((), ("--replace",)):
        command = [*BAKE, "--preset", "draft", "--device", "software", *options]
        code, _, errors = run_command(command, *SMALL_ENDINGS)
        assert not code, errors
        # the one of the fixture, and no other
        assert len([*kept.glob("*.vdg")]) == 1
    code, printed, _ = run_command(["versions", "clay.vdg", "--json"])
    assert not code and json.loads(printed)[0]["preset"] == "draft"
