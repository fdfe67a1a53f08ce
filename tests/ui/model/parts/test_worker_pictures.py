"""Pictures and weights between the panel and its worker."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.worker.protocol import commands
from verdigris.ui.paint.weight_map import Brush

from ...fake_session import REPORT


def test_strokes_are_sent_to_the_worker_as_a_map(session):
    model = session.ready()
    model.state.weights.begin_stroke()
    model.state.weights.dab(0.25, 0.75, Brush(radius=0.1, weight=8.0, strength=1.0))
    model.state.weights.end_stroke()
    model.tick()
    weights = session.client.sent[-1].weights()
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert (column / 128, row / 128) == (
        pytest.approx(0.25, abs=0.01),
        pytest.approx(0.75, abs=0.01),
    )
    model.state.weights.undo()
    model._sync._weights_sent = 0
    model.tick()
    assert session.client.sent[-1] == commands.SetImportance()


def test_pictures_and_maps_of_the_worker_are_read(session):
    model = session.ready()
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    session.client.emit(
        *("picture", pixels.tobytes()), part="heat", shape=[4, 4, 3], type="|u1", view=2, top=0.5
    )
    weights = np.full((2, 3), 2, "<f4")
    weights[0, 0] = 5
    session.client.emit("importance", weights.tobytes(), shape=[2, 3], type="<f4", path="a")
    model.tick()
    np.testing.assert_array_equal(model.state.pictures.parts["heat"].pixels, pixels)
    np.testing.assert_array_equal(model.state.weights.values, weights)
    # a payload of the wrong size is ignored
    session.client.emit("picture", b"123", part="neural", shape=[4, 4, 3], type="|u1")
    model.tick()
    assert "neural" not in model.state.pictures.parts


def test_pictures_and_errors_are_dropped_with_their_material(session):
    model = session.ready()
    session.client.emit("errormap", np.ones(4, "<f4").tobytes(), shape=[2, 2], type="<f4")
    places = np.full((2, 2, 2), 0.25, "<f4")
    session.client.emit("places", places.tobytes(), shape=[2, 2, 2], type="<f4", view=1, texels=8)
    session.receive("finished", step=100, stopped_by="target error", results=["/out/clay.vdg"])
    assert model.state.pictures.uv_at(0.5, 0.5) == (0.25, 0.25)
    assert model.state.bake.result.bundle == Path("/out/clay.vdg")
    seen = []
    model.state.pictures.error_map_changed.connect(
        lambda: seen.append(model.state.pictures.error_map)
    )
    model.choose(model.state.materials[1])
    assert len(seen) == 1 and seen[0] is None
    assert model.state.pictures.uv_at(0.5, 0.5) is None
    assert model.state.bake.result is None and model.state.bake.stopped_by == ""


def test_each_material_has_its_own_weights(session):
    model = session.ready()
    first, second = model.state.materials
    model.state.weights.dab(0.5, 0.5, Brush())
    painted = model.state.weights.values.copy()
    model.choose(second)
    assert model.state.weights.is_constant and not model.state.weights.can_undo
    model.state.weights.fill(2.0)
    model.choose(first)
    np.testing.assert_array_equal(model.state.weights.values, painted)
    model.choose(second)
    assert (model.state.weights.values == 2).all() and model.state.weights.can_undo
    session.host.scene_file = lambda: Path("/scene/other.ma")
    session.host.opened = "second"
    model.refresh_materials()
    assert (model.state.weights.values == 1).all()


def test_late_pictures_of_another_material_are_ignored(session):
    model = session.ready()
    pixels = np.zeros((4, 4, 3), np.uint8).tobytes()

    def drawn():
        session.client.emit(
            "picture", pixels, part="reference", shape=[4, 4, 3], type="|u1", view=1
        )
        model.tick()
        return "reference" in model.state.pictures.parts

    assert drawn()
    session.host.fails = True
    model.choose(model.state.materials[1])
    assert not drawn()
    session.host.fails = False
    model.choose(model.state.materials[1])
    # a late picture of the material before
    assert not drawn()
    session.receive("opened", chosen="wax", materials=[{**REPORT, "name": "wax"}])
    assert drawn()
    session.receive("error", command="open", text="scene: image.png is missing")
    assert not model.state.pictures.parts and not drawn()
