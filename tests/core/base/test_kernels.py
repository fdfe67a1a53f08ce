"""Files of generated modules in the cache folder."""

import os

import pytest

from verdigris.core.base import kernels
from verdigris.core.base.kernels import KeptSources


@pytest.fixture
def kept(tmp_path):
    return KeptSources(tmp_path / "materials", tmp_path / "modules")


def compiled(kept, name, size):
    """What a compiler would leave of this module."""
    path = kept.compiled / "digest" / "2" / f"{name}.slang-module"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


def test_a_module_is_a_file_and_a_damaged_file_is_written_again(kept):
    path = kept.folder / "m.slang"
    for before in (None, "", "float h"):
        if before is not None:
            path.write_text(before)
        assert kept.keep("m", "float half = 0.5;\n// µ\n")
        assert path.read_bytes() == "float half = 0.5;\n// µ\n".encode()
    assert [each.name for each in kept.folder.iterdir()] == ["m.slang"]


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert not KeptSources(tmp_path / "file" / "materials", tmp_path).keep("m", "")


def test_what_was_not_used_for_longest_makes_room(kept, monkeypatch):
    for age, name in enumerate("abcd"):
        assert kept.keep(name, name)
        compiled(kept, name, 100)
        os.utime(kept.folder / f"{name}.slang", (1000 + age, 1000 + age))
    shared = kept.compiled / "digest" / "0" / "shared.slang-module"
    shared.parent.mkdir()
    shared.write_bytes(b"")
    monkeypatch.setattr(kernels, "MOST_COMPILED_BYTES", 250)
    # used again: b and c are the oldest now
    assert kept.keep("a", "a")
    assert kept.keep("e", "e")
    assert sorted(each.stem for each in kept.folder.iterdir()) == ["a", "d", "e"]
    left = sorted(each.stem for each in kept.compiled.rglob("*.slang-module"))
    assert left == ["a", "d", "shared"]
