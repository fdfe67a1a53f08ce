"""Pictures and weights belong to their material, and reach the worker and come from it whole."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.worker.protocol import commands as say
from verdigris.ui.weights import Brush

from .bench import REPORT


def test_strokes_reach_the_worker_as_a_map_of_what_was_painted(bench):
    model = bench.ready()
    model.weights.begin_stroke()
    model.weights.dab(0.25, 0.75, Brush(radius=0.1, weight=8.0, strength=1.0))
    model.weights.end_stroke()
    model.tick()
    weights = bench.client.sent[-1].weights()
    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert (column / 128, row / 128) == (
        pytest.approx(0.25, abs=0.01),
        pytest.approx(0.75, abs=0.01),
    )
    model.weights.undo()
    model._weights_sent = 0
    model.tick()
    assert bench.client.sent[-1] == say.SetImportance()


def test_a_picture_comes_as_pixels_and_a_map_as_weights(bench):
    model = bench.ready()
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    bench.client.says(
        *("picture", pixels.tobytes()), part="heat", shape=[4, 4, 3], type="|u1", view=2, top=0.5
    )
    weights = np.full((2, 3), 2, "<f4")
    weights[0, 0] = 5
    bench.client.says("importance", weights.tobytes(), shape=[2, 3], type="<f4", path="a")
    model.tick()
    np.testing.assert_array_equal(model.pictures.parts["heat"].pixels, pixels)
    np.testing.assert_array_equal(model.weights.values, weights)
    # what does not fit its line is no picture
    bench.client.says("picture", b"123", part="neural", shape=[4, 4, 3], type="|u1")
    model.tick()
    assert "neural" not in model.pictures.parts


def test_another_material_has_none_of_the_pictures_and_errors_before_it(bench):
    model = bench.ready()
    bench.client.says("errormap", np.ones(4, "<f4").tobytes(), shape=[2, 2], type="<f4")
    places = np.full((2, 2, 2), 0.25, "<f4")
    bench.client.says("places", places.tobytes(), shape=[2, 2, 2], type="<f4", view=1, texels=8)
    bench.hear("finished", step=100, stopped_by="target error", results=["/out/clay.vdg"])
    assert model.pictures.place_at(0.5, 0.5) == (0.25, 0.25)
    assert model.bake.result.bundle == Path("/out/clay.vdg")
    seen = []
    model.pictures.error_map_changed.connect(lambda: seen.append(model.pictures.error_map))
    model.choose(model.materials[1])
    assert len(seen) == 1 and seen[0] is None
    assert model.pictures.place_at(0.5, 0.5) is None
    assert model.bake.result is None and model.bake.stopped_by == ""


def test_what_is_painted_for_a_material_is_not_trained_for_another(bench):
    model = bench.ready()
    first, second = model.materials
    model.weights.dab(0.5, 0.5, Brush())
    painted = model.weights.values.copy()
    model.choose(second)
    assert model.weights.is_plain and not model.weights.can_undo
    model.weights.fill(2.0)
    model.choose(first)
    np.testing.assert_array_equal(model.weights.values, painted)
    model.choose(second)
    assert (model.weights.values == 2).all() and model.weights.can_undo
    model.host.scene_file = lambda: Path("/scene/other.ma")
    model.host.opened = "second"
    model.refresh_materials()
    assert (model.weights.values == 1).all()


def test_a_material_that_cannot_be_opened_is_not_shown_as_the_one_before(bench):
    model = bench.ready()
    pixels = np.zeros((4, 4, 3), np.uint8).tobytes()

    def drawn():
        bench.client.says("picture", pixels, part="reference", shape=[4, 4, 3], type="|u1", view=1)
        model.tick()
        return "reference" in model.pictures.parts

    assert drawn()
    bench.host.fails = True
    model.choose(model.materials[1])
    assert not drawn()
    bench.host.fails = False
    model.choose(model.materials[1])
    # what the worker draws before it begins to read
    assert not drawn()
    bench.hear("opened", chosen="wax", materials=[{**REPORT, "name": "wax"}])
    assert drawn()
    bench.hear("error", command="open", text="scene: image.png is missing")
    assert not model.pictures.parts and not drawn()
