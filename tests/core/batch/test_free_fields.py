"""What a manifest says beside what decoders need may be absent, or be anything: plans are made all
the same, runs end in a report, and no terminal is told what to do."""

import json
import math
from itertools import zip_longest

import pytest

from verdigris.core.batch.plan.estimate import Estimate
from verdigris.core.batch.plan.plan import make_plan
from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.run import finish_plan, write_summary
from verdigris.core.batch.run.summary import status_lines
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.presets import require_recipe

from .scenes import read, write_baked, write_documents

BEYOND_FLOATS = 10**400
ABSENT = object()
STRANGE = [ABSENT, None, True, 0, -3, "x", [1], {"a": {}}, BEYOND_FLOATS, -BEYOND_FLOATS]
PLACES = [
    "errors.samples",
    "errors.samples.log_mae",
    "errors.samples.smape",
    "errors.sphere",
    "errors.sphere.psnr",
    "errors.sky",
    "errors.sky.bias",
    "cost.loaded_bytes",
    "cost.weights_bytes",
    "report.dropped",
    "source.asked",
    "source.asked.group",
    "source.asked.group.size",
    "source.device",
    "source.document",
    "source.material",
    "source.seconds",
    "source.settings",
    "source.settings.batch",
    "source.settings.draw",
    "source.settings.encode_from",
    "source.step",
    "source.stopped_by",
    "source.textures",
    "source.trainer",
]


@pytest.fixture
def scene(tmp_path):
    return read(write_documents(tmp_path / "docs", "clay"), out=tmp_path / "out")


def write_strange(planned, place, value):
    """Its bundle, with a value at a place of the manifest."""
    file = write_baked(planned) / "manifest.json"
    file.write_text(strange_manifest(file.read_text(), place, value))


def strange_manifest(text, place, value):
    manifest = json.loads(text)
    *above, last = place.split(".")
    table = manifest
    for name in above:
        table = table.setdefault(name, {})
    table[last] = value
    if value is ABSENT:
        del table[last]
    return json.dumps(manifest)


def strange_plan(scene, place, value):
    (planned,) = make_plan(scene).materials
    write_strange(planned, place, value)
    return make_plan(scene)


# Two places of different parts, of which neither hides the other.
_OF_SOURCE = [place for place in PLACES if place.startswith("source.")]
_OTHERS = [place for place in PLACES if place not in _OF_SOURCE]


@pytest.mark.parametrize(("place", "other"), [*zip_longest(_OF_SOURCE, _OTHERS)])
def test_a_run_ends_in_a_report_whatever_a_bundle_says(place, other, scene):
    (planned,) = make_plan(scene).materials
    file = write_baked(planned) / "manifest.json"
    text = file.read_text()
    for value in STRANGE:
        strange = strange_manifest(text, place, value)
        file.write_text(strange_manifest(strange, other, value) if other else strange)
        summary = finish_plan(make_plan(scene), [])
        told, report = (path.read_text() for path in write_summary(summary))
        (material,) = json.loads(told)["materials"]
        assert material["status"] in ("up to date", "not reached")
        assert '<article id="clay"' in report


@pytest.mark.parametrize("value", [True, "0.5", BEYOND_FLOATS], ids=["true", "text", "large"])
def test_what_is_no_number_is_not_shown_as_one(value, scene):
    summary = finish_plan(strange_plan(scene, "errors.samples.log_mae", value), [])
    (row,) = summary.rows
    assert math.isnan(row.log_mae)
    cells = '<td class="number"></td><td class="number" data-value="0.1">0.100</td>'
    assert cells in report_html(summary)
    (row,) = finish_plan(strange_plan(scene, "cost.weights_bytes", value), []).rows
    assert row.decoder_bytes == 0


@pytest.mark.parametrize("size", ["x", 0, -1, 2.0, True])
def test_a_group_of_no_size_is_another_group(size, scene):
    (planned,) = strange_plan(scene, "source.asked.group.size", size).materials
    assert planned.reasons == ("shares its decoder, and should have its own",)


@pytest.mark.parametrize("place", ["seconds", "step", "settings"])
def test_nothing_is_learnt_of_times_that_are_none(place):
    settings = require_recipe("draft", "numpy").largest
    source = {"settings": as_read(settings), "seconds": 1.0, "step": 100, "trainer": "numpy"}
    unknown = Estimate().seconds(settings, "numpy", None)
    for value in STRANGE[1:]:
        estimate = Estimate()
        estimate.learn({**source, place: value})
        assert estimate.seconds(settings, "numpy", None) == unknown


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (
            "source.textures",
            [{"file": "\x1b[2J\nclay", "sha256": "0"}],
            "�[2J�clay is no longer read",
        ),
        ("source.verdigris", "\x1b[31m1.0", "made with verdigris �[31m1.0, this is"),
        ("source.settings.network", "\x1b[31m", "was �[31m)"),
        ("source.time_limit", "\x1b[31m", "time_limit is None, was �[31m)"),
    ],
    ids=["textures", "version", "settings", "wishes"],
)
def test_texts_of_a_bundle_reach_no_terminal_as_escape_sequences(place, value, told, scene):
    line, _ = status_lines(strange_plan(scene, place, value))
    assert line.isprintable()
    assert told in line
