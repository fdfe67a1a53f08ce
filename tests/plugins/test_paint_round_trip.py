"""Weights that are painted in a scene are read into a map, sent to a worker and used in a bake."""

import hashlib
import importlib
import time
from dataclasses import replace
from pathlib import Path

import fake_houdini
import fake_maya
import numpy as np
import pytest

from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.hosts.painted_meshes import find_painted
from verdigris.core.importance.maps import read_importance
from verdigris.core.worker.client.client import WorkerClient
from verdigris.core.worker.protocol.worker_events import DONE, FAILED
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.bake_process import Ended
from verdigris.plugins.common.batch.materials import bake_scene
from verdigris.ui.model.panel_model import PanelModel

from ..core.worker.running_worker import BRISK_WORKER
from ..ui.fake_session import FakeClient
from .houdini.scenes import GOLD, PLATE
from .maya.scenes import SHAPE, open_scene, paint_colours

SIZE = 16
TINY = {"network": "2x16", "resolution": SIZE, "batch": 256, "iterations": 40, "candidates": 1}
SECONDS = 60


class Painting:
    """A scene with a plate: a quad covers the left half of the texture, a triangle the right."""

    def __init__(self, scene, host, mesh, paint):
        self.scene, self.host, self.mesh, self.paint = scene, host, mesh, paint

    def has_viewport_material(self):
        return any(name.endswith("_verdigris") for name in self.scene.nodes)


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    host = open_scene(scene, "stack.ma")
    scene.members["Standard_Surface1SG"] = [SHAPE]

    def paint(left, right):
        paint_colours(scene, SHAPE, range(4), left)
        paint_colours(scene, SHAPE, range(4, 7), right)

    return Painting(scene, host, SHAPE, paint)


@pytest.fixture
def houdini(monkeypatch, tmp_path):
    scene = fake_houdini.Scene()
    scene.hou = fake_houdini.install(monkeypatch, scene)
    (tmp_path / "gold.usda").write_text(GOLD)
    scene.add("/mat/gold", "mtlxstandard_surface", material=True)
    scene.stages["/mat/gold"] = str(tmp_path / "gold.usda")
    scene.add(PLATE, "geo")
    scene.nodes[PLATE]["parms"]["shop_materialpath"] = "/mat/gold"
    scene.add(f"{PLATE}/shape", "null", display=True)
    geometry = scene.geometries[f"{PLATE}/shape"] = fake_houdini.plate()

    def paint(left, right):
        values = [left] * 4 + [right] * 3
        geometry["vertices"]["verdigris_weights"] = np.array(values, np.float32)[:, None]

    host = importlib.import_module("verdigris.plugins.houdini.adapter").HoudiniHost()
    return Painting(scene, host, PLATE, paint)


@pytest.fixture(params=["maya", "houdini"])
def painting(request):
    return request.getfixturevalue(request.param)


def bake(model):
    """Drives the model as the timer of the panel does, until the bake ends."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and model.link.state not in (DONE, FAILED):
        model.tick()
        if model.link.state == "idle" and model.can("start"):
            model.start()
        time.sleep(0.02)
    assert model.link.state == DONE, [notice.text for notice in model.state.notices]


def open_painted(painting, make_client):
    """A model with the weights of the scene, which are read on another thread."""
    painting.host.start_painting(painting.mesh)
    painting.paint(0.0, 4.0)
    model = PanelModel(painting.host, make_client)
    model.refresh_materials()
    end = time.monotonic() + SECONDS
    while model.state.weights.is_constant and time.monotonic() < end:
        model.tick()
        time.sleep(0.01)
    return model


def test_weights_of_the_scene_are_read_into_the_panel(painting):
    model = open_painted(painting, FakeClient)
    assert model.state.weights.values[100, 440] == 4 and model.state.weights.values[100, 60] == 0


def test_weights_of_the_scene_mask_a_bake(maya, monkeypatch, tmp_path):
    painting = maya
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    model = open_painted(painting, lambda: WorkerClient(BRISK_WORKER))
    try:
        model.set_view(size=16)
        model.set_choices(folder=str(tmp_path), preset="draft", viewport_textures=True, **TINY)
        sent = hashlib.sha256(model.state.weights.values.astype("<f4").tobytes()).hexdigest()
        bake(model)
    finally:
        model.close()
    bundle = open_bundle(model.state.bake.result.bundle)
    assert painting.host.attached(model.state.current) == model.state.bake.result.bundle
    assert bundle.manifest.source["importance_sha256"] == sent
    # the textures are beside the bundle, and the scene has a material of them
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        f"{model.state.bake.result.bundle.stem}_{kind}.png"
        for kind in ("base_color", "metalness", "normal", "roughness")
    ]
    assert painting.has_viewport_material()
    texels = np.moveaxis(bundle.latents().levels[0], 0, 2).reshape(SIZE, SIZE, 8)
    # masked texels are copies of trained ones
    masked, rest = texels[:, 1:7].reshape(-1, 8), np.delete(texels, np.s_[1:7], 1).reshape(-1, 8)
    known = {texel.tobytes() for texel in rest}
    assert all(texel.tobytes() in known for texel in masked)
    # trained texels differ from each other
    assert len(known) == len(rest)


def test_a_batch_passes_painted_weights_to_bakes_and_farms(painting, tmp_path):
    painting.host.start_painting(painting.mesh)
    painting.paint(0.5, 4.0)
    name = painting.host.materials()[0].name
    given = []

    def run(command):
        given.append(read_importance(Path(command[command.index("--importance") + 1])))
        return Ended(0, {"event": "finished", "results": ["x.vdg"]})

    choices = BatchOptions(materials=(name,), out=tmp_path)
    (outcome,) = bake_scene(painting.host, choices, run)
    (weights,) = given
    assert weights[100, 440] == 4 and weights[100, 60] == 0.5
    assert f"painted weights of {painting.mesh} (0.5 to 4) are used" in outcome.notes
    (outcome,) = bake_scene(painting.host, replace(choices, hand_over=True))
    np.testing.assert_array_equal(read_importance(Path(outcome.importance)), weights)
    (outcome,) = bake_scene(painting.host, replace(choices, hand_over=True, weight_set=""))
    assert outcome.importance == ""


def test_unchanged_weights_give_no_map(painting):
    material = painting.host.materials()[0]
    assert find_painted(painting.host, material) is None
    painting.host.start_painting(painting.mesh)
    assert find_painted(painting.host, material) is None
    painting.paint(2.0, 0.5)
    found = find_painted(painting.host, material, size=64)
    assert found.weights.shape == (64, 64)
    assert (found.weights.max(), found.weights.min()) == (2.0, 0.5)
