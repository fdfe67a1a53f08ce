"""Errors inside and outside of the paint, and what `--compare-uniform` says of them."""

import json
import sys

import numpy as np
import pytest

from verdigris.core.baking import painted
from verdigris.core.baking.finish import finish
from verdigris.core.baking.measure.measure import HeldOut
from verdigris.core.baking.painted import (
    PaintedBakes,
    PaintedComparison,
    measure_regions,
    painted_area,
)
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.cli import main as cli
from verdigris.core.cli.shared.compared import bake_both
from verdigris.core.cli.shared.progress import json_lines
from verdigris.core.importance.maps import write_importance
from verdigris.core.material.load.document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress.events import Started, Step
from verdigris.core.settings.bake_settings import BakeSettings

# Gloss on the left eighth, plain on the rest: two looks that compete for the decoder.
TEXT = """<materialx version="1.39">
<nodegraph name="g"><texcoord name="uv" type="vector2"/>
<separate2 name="at" type="multioutput"><input name="in" type="vector2" nodename="uv"/></separate2>
<ifgreater name="metal" type="float"><input name="value1" type="float" nodename="at" output="outx"/>
<input name="value2" type="float" value="0.125"/><input name="in1" type="float" value="0"/>
<input name="in2" type="float" value="1"/></ifgreater>
<output name="out" type="float" nodename="metal"/></nodegraph>
<standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" value="0.6, 0.3, 0.1"/>
<input name="metalness" type="float" nodegraph="g" output="out"/>
<input name="specular_roughness" type="float" value="0.4"/></standard_surface>
<surfacematerial name="edge" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


class Constant:
    """A student that answers the same everywhere."""

    def response(self, uv, wi, wo):
        return np.full((len(uv), 3), 0.5, np.float32)


def test_errors_are_those_of_the_samples_inside_and_of_those_outside_but_for_what_is_left_out():
    random = np.random.default_rng(0)
    uv = random.random((4000, 2)).astype(np.float32)
    response = np.where(uv[:, :1] < 0.25, 1.5, 0.7).repeat(3, 1)
    response[uv[:, 0] > 0.75] = 100.0
    directions = np.tile(np.array([[0, 0, 1]], np.float32), (4000, 1))
    weights = np.ones((8, 16), np.float32)
    weights[:, :4], weights[:, 12:] = 8, 0
    found = measure_regions(Constant(), HeldOut(uv, directions, directions, response), weights)
    assert found.inside.log_mae == pytest.approx(np.log(2.5 / 1.5), rel=1e-5)
    assert found.outside.log_mae == pytest.approx(np.log(1.7 / 1.5), rel=1e-5)
    # a texel without samples has none
    assert set(np.unique(found.heat[:, :32].round(5))) == {0, np.float32(0.51083)}


def test_what_is_left_out_counts_neither_as_paint_nor_as_its_surroundings():
    weights = np.zeros((4, 4), np.float32)
    weights[:2] = 1
    # a map that only leaves out: all of the rest is its paint
    np.testing.assert_array_equal(painted_area(weights), weights > 0)
    weights[0] = 2
    # one and a half is the mean of what is left; with the zeros it would be three quarters
    np.testing.assert_array_equal(painted_area(weights), weights == 2)


def test_where_no_sample_lies_there_is_no_error():
    uv = np.full((64, 2), 0.1, np.float32)
    directions = np.tile(np.array([[0, 0, 1]], np.float32), (64, 1))
    held_out = HeldOut(uv, directions, directions, np.ones((64, 3), np.float32))
    weights = np.zeros((4, 4), np.float32)
    weights[0, 0] = 1
    found = measure_regions(Constant(), held_out, weights)
    assert found.outside is None and found.inside.log_mae == pytest.approx(np.log(2 / 1.5))
    compared = PaintedComparison("a", 1 / 16, found, found, weights)
    assert [row[:2] for row in compared.rows()] == [("inside", "log_mae"), ("inside", "smape")]


def test_a_map_without_paint_or_no_map_cannot_be_compared(tmp_path):
    with pytest.raises(SettingsError, match="weighs the same everywhere"):
        painted_area(np.full((4, 4), 3, np.float32))
    with pytest.raises(SettingsError, match="no importance map"):
        PaintedBakes([], BakeSettings(), BakeOptions("a", tmp_path), BakeControl())
    limited = BakeOptions("a", tmp_path, importance=np.eye(4), time_limit=5.0)
    with pytest.raises(SettingsError, match="same number of steps"):
        PaintedBakes([], BakeSettings(), limited, BakeControl())


def test_a_bake_that_was_ended_early_is_not_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(painted, "SAMPLES", 512)
    monkeypatch.setattr(finish, "final_samples", lambda device: 512)
    teacher = Teacher(parse_document(TEXT), device=open_device("software"))
    settings = BakeSettings("2x16", resolution=4, batch=64, iterations=40)
    weights = np.ones((4, 4), np.float32)
    weights[0] = 8
    control, started = BakeControl(), []

    def stop_in_time(events):
        def watched():
            for event in events:
                started.extend([event] if isinstance(event, Started) else [])
                if len(started) == 2 and isinstance(event, Step):
                    control.stop()
                yield event

        json_lines(watched())

    options = BakeOptions("a", tmp_path, trainer="numpy", importance=weights)
    bake_both([teacher], settings, options, control, stop_in_time, as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ends = [line["stopped_by"] for line in lines if line["event"] == "finished"]
    assert ends == ["steps", "request"]
    assert lines[-1]["event"] == "warning"
    assert "ended before both were done" in lines[-1]["text"]


def test_comparing_bakes_both_prints_the_errors_and_draws_them(tmp_path, monkeypatch, capsys):
    (tmp_path / "edge.mtlx").write_text(TEXT)
    weights = np.ones((16, 16), np.float32)
    weights[:, :2] = 8
    write_importance(tmp_path / "paint.exr", weights)
    arguments = ("bake", tmp_path / "edge.mtlx", "-o", tmp_path, "--importance")
    arguments += (tmp_path / "paint.exr", "--compare-uniform", "--json", "--device", "software")
    arguments += ("--network", "2x16", "--resolution", 16, "--batch", 512, "--iterations", 500)
    monkeypatch.setattr(sys, "argv", ["verdigris", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines].count("finished") == 2
    compared = lines[-1]
    assert (compared["event"], compared["material"], compared["share"]) == (
        "compared",
        "edge",
        0.125,
    )
    errors = {(row["where"], row["measure"]): row for row in compared["errors"]}
    assert len(errors) == 4
    inside = errors["inside", "log_mae"]
    assert inside["painted"] < 0.9 * inside["uniform"]
    import OpenImageIO as oiio

    picture = oiio.ImageBuf(compared["picture"]).get_pixels(oiio.FLOAT)
    assert picture.shape[:2] == (384, 1152)
    assert picture[:, :48].mean() > picture[:, 48:384].mean()
    names = {path.name for path in tmp_path.iterdir() if path.suffix == ".vdg"}
    assert names == {"edge.vdg", "edge-uniform.vdg"}
