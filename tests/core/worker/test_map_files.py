"""Maps are written where they are asked for, and nowhere over what is no map."""

import os
import struct
import sys

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.importance.maps import read_importance, write_importance
from verdigris.core.worker.protocol.messages import encode

from .lines import HELLO, raw

posix = pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
PAIR = (1.0, 2.0)


def write(*paths):
    """What a worker answers to maps for these paths."""
    headers = (
        {"command": "write_map", "path": str(each), "width": 2, "height": 1} for each in paths
    )
    _, heard = raw(HELLO, *(encode(each, struct.pack("<2f", *PAIR)) for each in headers))
    return [each for each in heard if each["event"] in ("error", "written")]


@posix
def test_a_path_that_cannot_be_written_is_named_with_what_to_do(tmp_path):
    bundle = tmp_path / "clay.vdg"
    bundle.mkdir()
    (bundle / "manifest.json").write_text('{"format": "verdigris.bundle"}')
    os.mkfifo(tmp_path / "pipe.exr")
    (tmp_path / "round.exr").symlink_to("round.exr")
    (tmp_path / "to_pipe.exr").symlink_to("pipe.exr")
    (tmp_path / "to_bundle.exr").symlink_to("clay.vdg/a.exr")
    other = "choose another folder or name"
    wanted = {
        tmp_path / f"{'n' * 246}.exr": f"cannot be written (File name too long): {other}",
        tmp_path / ("d/" * 2100) / "a.exr": f"cannot be written (File name too long): {other}",
        tmp_path / "a\udcff.exr": "is not Unicode: rename it",
        tmp_path / "pipe.exr": "exists and is not a plain file: choose another name",
        tmp_path / "to_pipe.exr": f"{tmp_path}/pipe.exr: exists and is not a plain file",
        tmp_path / "round.exr": "is a circular link: choose another name",
        bundle / "a.exr": f"lies in the bundle {bundle}, whose next bake would remove it",
        tmp_path / "to_bundle.exr": f"lies in the bundle {bundle}, whose next bake would remove it",
    }
    if sys.platform == "linux":
        wanted["/proc/a.exr"] = (
            f"/proc/a.exr: cannot be written (No such file or directory): {other}"
        )
    before = sorted(tmp_path.rglob("*"))
    for answer, message in zip(write(*wanted), wanted.values(), strict=True):
        assert (answer["event"], answer.get("command")) == ("error", "write_map")
        assert message in answer["text"]
    assert sorted(tmp_path.rglob("*")) == before


@posix
def test_a_map_is_written_where_a_link_leads(tmp_path):
    (tmp_path / "versions").mkdir()
    (tmp_path / "now.exr").symlink_to("versions/3.exr")
    for _ in range(2):
        assert write(tmp_path / "now.exr") == [
            {"event": "written", "path": str(tmp_path / "now.exr")}
        ]
        assert (tmp_path / "now.exr").is_symlink()
        assert read_importance(tmp_path / "versions" / "3.exr").tolist() == [list(PAIR)]


@posix
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_map_is_for_whom_the_process_lets_see_its_files(mask, mode, tmp_path):
    before = os.umask(mask)
    try:
        write_importance(tmp_path / "a.exr", np.ones((1, 2), np.float32))
    finally:
        os.umask(before)
    assert (tmp_path / "a.exr").stat().st_mode & 0o777 == mode


@posix
def test_a_link_to_what_is_no_map_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "a.exr").symlink_to("notes.txt")
    with pytest.raises(SettingsError, match=r"notes\.txt: importance maps are written as \.exr"):
        write_importance(tmp_path / "a.exr", np.ones((1, 2), np.float32))
    assert (tmp_path / "notes.txt").read_text() == "mine"
