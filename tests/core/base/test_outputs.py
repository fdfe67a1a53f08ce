"""Where results go is looked at without stumbling."""

import errno
import os

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.state.outputs import make_folder
from verdigris.core.base.errors import SettingsError, VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.outputs import kind_of, resolved, write_file, write_image
from verdigris.core.base.text import unused_names, why_invalid_file_name, with_plain_letters
from verdigris.core.bundle.files.replace_folder import replace_folder


def test_what_cannot_be_looked_at_is_of_no_kind(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": "verdigris.material"}')
    assert kind_of(tmp_path / "manifest.json") == "verdigris.material"
    assert kind_of(tmp_path / ("n" * 300) / "manifest.json") is None
    assert kind_of(tmp_path / "manifest.json" / "manifest.json") is None


def test_a_link_to_itself_lies_in_no_bundle_and_is_no_folder_for_results(tmp_path):
    ring = tmp_path / "ring"
    try:
        ring.symlink_to("ring")
    except OSError:
        pytest.skip("this system lets nobody link")
    assert resolved(ring / "x") == resolved(tmp_path) / "ring" / "x"
    for folder in (ring, ring / "x"):
        with pytest.raises(SettingsError, match="ring"):
            make_folder(folder)


@pytest.mark.skipif(os.name == "nt", reason="rights are other ones there")
@pytest.mark.parametrize("mask", [0o077, 0o022])
def test_a_picture_has_the_rights_of_any_new_file(mask, tmp_path):
    before = os.umask(mask)
    try:
        (tmp_path / "plain").touch()
        write_image(tmp_path / "a.png", np.zeros((2, 2, 1), np.uint8), "uint8")
    finally:
        os.umask(before)
    rights = [(tmp_path / name).stat().st_mode for name in ("plain", "a.png")]
    assert rights[0] == rights[1]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.npz"), "the disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "the disk's quota is used up"),
        (
            OSError(errno.EFBIG, "File too large"),
            "the file is too large for the file system or ulimit -f",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "a.npz"), "Permission denied"),
        (OSError("12 requested and 0 written"), "12 requested and 0 written"),
        (ValueError("embedded null byte"), "embedded null byte"),
    ],
)
def test_what_the_system_says_is_told_in_words(failure, said):
    assert reason(failure) == said


@pytest.mark.parametrize("name", ["CON", "aux", "Nul", "com1", "LPT9", "con.old"])
def test_a_name_that_windows_keeps_for_a_device_is_given_another_letter(name):
    assert with_plain_letters(name) == f"_{name}"
    assert unused_names([name]) == [f"_{name}"]


@pytest.mark.parametrize("name", ["concrete", "icon", "auxiliary", "com", "nullnull", "COM10"])
def test_a_name_that_only_begins_like_a_device_is_left(name):
    assert with_plain_letters(name) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "is reserved by Windows: choose another") for name in ("CON", "nul.x", "aux .y")),
        *((name, "is reserved by Windows: choose another") for name in ("COM\u00b9", "CONIN$")),
        *((name, "is blank: use letters or digits") for name in (" ", "   ")),
        *((name, "ends with a dot or a space, which Windows drops") for name in ("a.", "a ")),
    ],
)
def test_names_that_fail_on_another_system_are_refused_on_all(name, said):
    assert f"the name {name!r} {said}" in why_invalid_file_name(name)


@pytest.mark.parametrize("name", ["nul.png", "CON.vdg", "aux"])
def test_files_and_bundles_get_no_name_of_a_device(tmp_path, name):
    with pytest.raises(VerdigrisError, match="the name is reserved by Windows"):
        write_file(tmp_path / name, b"picture")
    with pytest.raises(VerdigrisError, match="the name is reserved by Windows"):
        replace_folder(tmp_path / name, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["glass.", "..", ".", "con.", "NUL", "a/b", ""])
def test_names_of_materials_become_names_for_every_system(name):
    (found,) = unused_names([name])
    assert why_invalid_file_name(found) == ""


@pytest.fixture
def link(tmp_path):
    """A link into a folder that holds nothing yet, and what it leads to."""
    (tmp_path / "store").mkdir()
    target = tmp_path / "store" / "kept.png"
    link = tmp_path / "link.png"
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("this system lets nobody link")
    return link, target


def test_what_a_link_leads_to_is_written_and_the_link_stays(link):
    path, target = link
    write_file(path, b"first")
    assert target.read_bytes() == b"first"
    write_image(path, np.full((2, 2, 1), 7, np.uint8), "uint8")
    assert oiio.ImageBuf(str(target)).get_pixels(oiio.UINT8).ravel().tolist() == [7] * 4
    assert path.is_symlink() and sorted(target.parent.iterdir()) == [target]


def test_no_link_leads_a_file_into_a_bundle_or_round(link, tmp_path):
    path, target = link
    (target.parent / "manifest.json").write_text('{"format": "verdigris.material"}')
    with pytest.raises(VerdigrisError, match=r"link\.png: lies in the bundle .*store, whose"):
        write_file(path, b"")
    ring = tmp_path / "ring.png"
    ring.symlink_to("ring.png")
    with pytest.raises(VerdigrisError, match=r"ring\.png: is a circular link"):
        write_file(ring, b"")
    assert not target.exists() and ring.is_symlink()


@pytest.mark.parametrize(
    ("number", "helps"),
    [
        (errno.ENOSPC, "free space or choose another folder"),
        (errno.EFBIG, "lift the limit (ulimit -f unlimited) or choose another folder"),
        (errno.EACCES, "choose another folder"),
    ],
)
def test_what_helps_depends_on_what_is_wrong(number, helps):
    assert suggest_elsewhere(OSError(number, os.strerror(number))) == helps
