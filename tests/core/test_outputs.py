"""Where results go is looked at without stumbling."""

import pytest

from verdigris.core.errors import SettingsError
from verdigris.core.outputs import kind_of, resolved
from verdigris.core.training.options import make_folder


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
