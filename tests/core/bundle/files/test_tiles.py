"""UDIM tiles in a manifest: written, read, and refused where they cannot be."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.geometry.mesh import Mesh, in_atlas
from verdigris.core.material.domain import Tiles

from ..bundles import make_bundle


def test_a_bundle_names_the_square_of_its_tiles(tmp_path):
    found = make_bundle(tmp_path / "a.vdg", tiles=Tiles((9, 1), 2))
    written = json.loads((found.folder / "manifest.json").read_text())
    assert (written["version"], written["tiles"]) == ("4.9", {"first": [9, 1], "side": 2})
    assert open_bundle(found.folder).manifest.tiles == Tiles((9, 1), 2)


def test_a_bundle_without_tiles_does_not_name_them(bundle):
    assert "tiles" not in json.loads((bundle.folder / "manifest.json").read_text())


@pytest.mark.parametrize(
    ("tiles", "message"),
    [
        ({"first": [0], "side": 2}, "tiles.first is .*: it must be a column and a row"),
        ({"first": [0.5, 0], "side": 2}, "tiles.first is "),
        ({"first": [0, 0], "side": 0}, "tiles.side is 0: it must be a whole number from 1 to 16"),
        ({"first": [0, 1 << 40], "side": 1}, "tiles.first is .*: it must be a column and a row"),
    ],
)
def test_tiles_that_are_no_square_are_refused(folder, tiles, message):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tiles": tiles}))
    with pytest.raises(BundleError, match=message):
        open_bundle(folder)


def test_a_mesh_takes_the_uv_of_the_atlas():
    uv = np.array([[[0, 0], [2, 0], [1, 1.5]]], np.float32)
    mesh = Mesh(np.zeros((1, 3, 3), np.float32), np.zeros((1, 3, 3), np.float32), uv)
    found = in_atlas(mesh, Tiles.around([(0, 0), (1, 1)])).uv
    np.testing.assert_allclose(found, uv / 2)
    assert in_atlas(mesh, None) is mesh
