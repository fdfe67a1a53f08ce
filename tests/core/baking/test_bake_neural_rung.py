"""The neural rung: a bundle of all UDIM tiles, baked and measured on a mesh."""

import json

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.bake_neural_rung import bake_neural
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

SIDE = 16
CHANGES = {"resolution": 32, "iterations": 300, "batch": 1024, "encode_from": 0}
DIFFUSE = """<materialx version="1.39">{}<oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" nodename="colour"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="tiled" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
TILED = DIFFUSE.format(
    '<image name="colour" type="color3"><input name="file" type="filename" '
    'value="t.&lt;UDIM&gt;.tif"/></image>'
)


def sheet(scale):
    """A square in the plane of x and y; uv are `scale` times the place."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32)
    uv = (corners * scale).reshape(2, 3, 2)
    place = np.pad(corners, ((0, 0), (0, 1))).reshape(2, 3, 3)
    normal = np.broadcast_to(np.array([0, 0, 1], np.float32), (2, 3, 3)).copy()
    return Surface(Mesh(place, normal, uv), {"st": uv}, name="sheet")


def colour_at(uv):
    """One picture over four tiles, without a step at their borders."""
    u, v = uv[..., 0], uv[..., 1]
    return 0.5 + 0.4 * np.stack(
        [np.sin(np.pi * u), np.cos(np.pi * v), np.sin(np.pi * (u + v) / 2)], -1
    )


@pytest.fixture(scope="module")
def tiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiled")
    steps = (np.arange(SIDE) + 0.5) / SIDE
    for row in (0, 1):
        for column in (0, 1):
            v, u = np.meshgrid(row + steps, column + steps, indexing="ij")
            texels = colour_at(np.stack([u, v], -1))[::-1].astype(np.float32)
            number = 1001 + column + 10 * row
            oiio.ImageBuf(np.ascontiguousarray(texels)).write(str(folder / f"t.{number}.tif"))
    document = parse_document(TILED, [folder], "tiled.mtlx")
    seen = []
    neural = bake_neural(
        document, document.require_material(), sheet(2), open_device("software"),
        folder, BakeRequest(preset="draft", changes=CHANGES), on_progress=seen.append,
    )  # fmt: skip
    assert 0 < seen[0] <= seen[-1] == 1
    return document, neural, folder


def test_all_tiles_are_in_one_bundle_without_a_seam(tiled):
    _, neural, _ = tiled
    assert json.loads((neural.folder / "manifest.json").read_text())["tiles"] == {
        "first": [0, 0], "side": 2,
    }  # fmt: skip
    along = (np.arange(200) + 0.5) / 100
    up = np.tile(np.array([0, 0, 1], np.float32), (200, 1))

    def reflected(uv):
        atlas = neural.material.tiles.to_atlas(np.asarray(uv, np.float32))
        return neural.material.response(atlas, up, up) * np.pi

    for swap in (False, True):
        left, right = (
            np.stack([np.full(200, 1 + step), along], 1)[:, :: -1 if swap else 1]
            for step in (-1e-3, 1e-3)
        )
        found = reflected(left), reflected(right)
        # the picture itself changes by .003 over this distance
        assert np.abs(found[0] - found[1]).max() < 0.02
        assert np.abs(found[0] - colour_at(left)).mean() < 0.05
        assert np.abs(found[1] - colour_at(right)).mean() < 0.05


def test_the_rung_is_drawn_measured_and_written_with_its_bundle(tiled):
    document, neural, folder = tiled
    graph = Teacher(document, device=open_device("software"), has_atlas=False)
    settings = LadderSettings(
        views=1, view_size=16, held_out=1, held_out_size=32, held_out_samples=8
    )
    found = make_ladder(
        graph,
        sheet(2),
        find_environment("studio"),
        ["neural"],
        settings,
        find_bundle=lambda: neural,
    )
    assert found.measured["neural"].flip < 0.08
    report = write_ladder(found, folder, "tiled")
    [rung] = report["rungs"]
    assert (rung["name"], rung["bundle"], rung["uv_set"]) == ("neural", "tiled.vdg", "st")
    assert rung["bytes"] == neural.byte_size > 1000
    assert report["lods"][0]["rung"] == "neural" and report["lods"][0]["below_pixels"] is None
    assert "Neural material" in (folder / "ladder.html").read_text()
