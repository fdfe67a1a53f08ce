"""A bundle that version 4.0 of the format has written still opens and verifies."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.bundle.runtime.device_materials import shader_weights
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.network.light import sampler

from ..bundles import lively_parameters, make_bundle, with_older_head, write_as_older

STORED = Path(__file__).parents[1] / "data" / "bundle_4_0.zip"


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    folder = tmp_path_factory.mktemp("older")
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(folder)
    return folder / "pearl_inlay.vdg"


def test_its_settings_are_of_the_version_that_wrote_it(older):
    source = api.open_bundle(older).manifest.source
    assert api.open_bundle(older).proxies() is None
    assert "kind" not in source
    assert source["settings"]["uniform_resolution"] == 16


def test_it_verifies_with_numpy_and_on_the_device(older):
    verified = api.verify(older, device="software")
    assert verified.holds
    assert {"numpy against the reference", "portable against the reference"} <= {
        row.what for row in verified.rows
    }


@pytest.mark.parametrize("version", ["4.3", "4.5", "4.6"])
def test_what_an_older_sampler_lacks_is_zero(tmp_path, version):
    parameters = with_older_head(lively_parameters(), version)
    written = make_bundle(tmp_path / "a.vdg", parameters)
    write_as_older(written.folder, parameters.spec, version)
    older = api.open_bundle(written.folder)
    np.testing.assert_array_equal(older.parameters().head, parameters.head)
    assert shader_weights(older) == shader_weights(written)
    assert api.verify(written.folder, device="software").holds


def test_older_rows_of_lobes_at_grazing_views_are_computed_anew(tmp_path, monkeypatch):
    """Such rows differ, and still a bundle from before 4.7 verifies, as does a scene pack of it."""
    parameters = lively_parameters()
    with monkeypatch.context() as patch:
        # more than it was, so that some of the few rows differ
        patch.setattr(sampler, "LEAST_VIEW_COSINES", (0.5, 0.5))
        written = make_bundle(tmp_path / "a.vdg", parameters)
    rows = {row.what: row.holds for row in api.verify(written.folder).rows}
    assert not rows["numpy sampler against the reference"]
    write_as_older(written.folder, parameters.spec, "4.6")
    assert api.verify(written.folder, device="software").holds
    packed = pack([api.open_bundle(written.folder)], tmp_path / "scene.vdgs")
    assert api.verify(packed.folder).holds
