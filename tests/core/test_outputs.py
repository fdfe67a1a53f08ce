"""Where results go is looked at without stumbling."""

from verdigris.core.outputs import kind_of


def test_what_cannot_be_looked_at_is_of_no_kind(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": "verdigris.material"}')
    assert kind_of(tmp_path / "manifest.json") == "verdigris.material"
    assert kind_of(tmp_path / ("n" * 300) / "manifest.json") is None
    assert kind_of(tmp_path / "manifest.json" / "manifest.json") is None
