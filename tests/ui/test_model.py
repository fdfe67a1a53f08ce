"""The panel without a widget: what it may do when, what it sends, what it makes of what comes."""

import time
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.errors import HostError
from verdigris.core.host import HostDocument, HostMaterial
from verdigris.core.settings import BakeSettings
from verdigris.core.worker import commands as say
from verdigris.core.worker.client import GONE, SILENT, WELL, Health
from verdigris.core.worker.events import STATES
from verdigris.core.worker.protocol import Message
from verdigris.ui import states, words
from verdigris.ui.docs import field_docs
from verdigris.ui.history import History
from verdigris.ui.model import PanelModel
from verdigris.ui.notices import ERROR
from verdigris.ui.weights import Brush, WeightMap

CLAY = HostMaterial("clay", "clay", "file")
REPORT = {"name": "clay", "verdict": "can be baked: reflects 43% of the light", "parts": []}


class FakeHost:
    """Two materials; keeps what is attached."""

    name = "Fake 1.0"
    can_paint = False

    def __init__(self):
        self.attached_results = []
        self.fails = False
        self.opened = "first"

    def scene_file(self):
        return Path("/scene/shot.ma")

    def materials(self):
        return (CLAY, HostMaterial("wax", "wax", "file"))

    def selected_materials(self):
        return ()

    def identity(self, material):
        return f"{self.opened} {material.key}"

    def document(self, material):
        if self.fails:
            raise HostError("the material has gone")
        return HostDocument("scene", "<materialx/>", material.name, (Path("/textures"),))

    def scene_warnings(self):
        return ()

    def meshes(self, material):
        return ()

    def attach(self, material, result):
        self.attached_results.append((material, result.bundle))


class FakeClient:
    """Takes commands, and says what a test tells it to."""

    def __init__(self):
        self.sent, self.queue = [], []
        self.now = Health(WELL)
        self.ended = ""

    def send(self, command):
        self.sent.append(command)

    def poll(self):
        found, self.queue = self.queue, []
        return found

    def health(self):
        return self.now

    def close(self):
        self.ended = "closed"

    def kill(self):
        self.ended = "killed"

    def says(self, event, payload=b"", **fields):
        self.queue.append(Message({"event": event, **fields}, payload))


class Bench:
    def __init__(self, host=None):
        self.host, self.clients = host or FakeHost(), []
        self.model = PanelModel(self.host, self._make)

    def _make(self):
        self.clients.append(FakeClient())
        return self.clients[-1]

    @property
    def client(self):
        return self.clients[-1]

    def hear(self, event, **fields):
        self.client.says(event, **fields)
        self.model.tick()

    def ready(self):
        self.model.refresh_materials()
        self.hear("opened", chosen="clay", materials=[REPORT], trainer="numpy", device="cpu")
        self.hear("state", state="idle", doing="")
        return self.model

    def training(self):
        model = self.ready()
        model.start()
        self.hear("state", state="preparing")
        self.hear("started", step=0, steps=100)
        self.hear("state", state="training")
        self.hear("phase", name="training")
        return model


@pytest.fixture
def bench():
    return Bench()


def test_the_first_material_is_opened_with_its_text_and_folders(bench):
    model = bench.ready()
    assert model.current == CLAY
    view, focus, opening = bench.client.sent[:3]
    assert isinstance(view, say.View) and isinstance(focus, say.Focus)
    assert (opening.payload, opening.search, opening.material) == (
        *(b"<materialx/>", ("/textures",), "clay"),
    )
    assert model.can(states.START)


@pytest.mark.parametrize("state", STATES)
def test_in_every_state_only_what_makes_sense_can_be_done(bench, state):
    model = bench.ready()
    model.state = state
    bench.hear("step", step=1, steps=100, loss=0.5)
    allowed = {action for action in states.ACTIONS if model.can(action)}
    assert (
        allowed
        == {
            "idle": {"start"},
            "preparing": {"pause", "finish", "cancel"},
            "training": {"pause", "finish", "cancel"},
            "paused": {"resume", "finish", "cancel"},
            "finishing": {"cancel"},
            "done": {"start"},
            "failed": {"start"},
        }[state]
    )


@pytest.mark.parametrize("state", ["preparing", "training", "paused"])
def test_nothing_is_stopped_and_kept_before_the_first_step(bench, state):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    bench.hear("state", state=state)
    model.finish()
    assert say.Finish() not in bench.client.sent
    assert not model.can(states.FINISH) and model.can(states.CANCEL)
    bench.hear("step", step=1, steps=100, loss=0.5)
    model.finish()
    assert bench.client.sent[-1] == say.Finish()


def test_what_a_resumed_bake_has_learnt_before_can_be_kept_at_once(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=40, steps=100)
    assert model.can(states.FINISH)


def test_a_bake_runs_through_its_states_and_is_attached_once(bench):
    model = bench.training()
    seen = []
    model.state_changed.connect(lambda: seen.append(model.state))
    for step in range(10, 101, 10):
        bench.hear("step", step=step, steps=100, loss=1 / step, seconds=1.0, seconds_left=9.0)
    assert model.bake.progress.share == 1.0
    bench.hear("state", state="finishing")
    assert bench.host.attached_results == []
    metrics = {"log_mae": 0.01, "smape": 0.2}
    bench.hear(
        *("finished",),
        results=["/out/clay.vdg"],
        step=100,
        samples=[metrics],
        pictures=[],
    )
    bench.hear("state", state="done")
    assert bench.host.attached_results == [(CLAY, Path("/out/clay.vdg"))]
    assert seen[-2:] == ["finishing", "done"]
    assert model.bake.errors["log_mae"] == 0.01


def test_the_bar_leaves_room_for_textures_that_are_fitted_after_measuring(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("training", 0, 90), ("rounding", 90, 100), ("flattening", 0, 60)]
    bench.hear(
        "plan", parts=[{"name": name, "first": low, "last": high} for name, low, high in parts]
    )
    seen = []
    for name, step, steps in (
        ("training", 45, 100),
        ("rounding", 100, 100),
        ("measuring", 100, 100),
        ("flattening", 30, 60),
        ("flattening", 60, 60),
    ):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=steps, loss=0.5)
        seen.append(model.bake.progress.share)
    assert seen == pytest.approx([45 / 160, 100 / 160, 100 / 160, 130 / 160, 1.0])


def hear_plan(bench, parts):
    """Names of phases, each with its first and last step."""
    said = [{"name": name, "first": first, "last": last} for name, first, last in parts]
    bench.hear("plan", parts=said)


def test_the_bar_of_the_whole_bake_never_goes_back_when_a_phase_begins(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("candidates", 0, 20), ("training", 10, 90), ("rounding", 90, 100)]
    hear_plan(bench, parts)
    seen = []
    for name, first, last in parts:
        bench.hear("phase", name=name)
        for step in range(first + 5, last + 1, 5):
            bench.hear("step", step=step, steps=100, loss=0.5)
            progress = model.bake.progress
            seen.append((progress.number, progress.phase_share, progress.share))
    shares = [share for _, _, share in seen]
    assert shares == sorted(shares) and shares[-1] == 1.0
    # 20 steps of candidates, then 40 of 80
    assert (2, 0.5, 60 / 110) in seen
    bench.hear("phase", name="measuring")
    assert model.bake.progress.number is None


def test_the_loss_of_a_small_texture_is_shown_and_the_bar_waits_while_it_is_encoded(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    parts = [("small texture", 0, 25), ("encoding", 25, 25), ("training", 25, 100)]
    hear_plan(bench, parts)
    shares = []
    for name, step in (("small texture", 25), ("encoding", 25), ("training", 25)):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=100, loss=0.5)
        shares.append((model.bake.progress.number, model.bake.progress.share))
    assert shares == [(1, 0.25), (2, 0.25), (3, 0.25)]
    assert len(model.bake.history.losses()[0]) == 2


def test_materials_of_one_name_are_not_written_over_each_other(bench, monkeypatch):
    twins = [HostMaterial(key, "clay", "stack") for key in ("|a,%d%clay", "|b,%d%clay")]
    monkeypatch.setattr(bench.host, "materials", lambda: tuple(twins))
    written = []
    for material in twins:
        model = bench.ready()
        model.choose(material)
        bench.hear("opened", chosen="clay", materials=[REPORT], trainer="numpy", device="cpu")
        model.start()
        written.append(bench.client.sent[-1])
        model._set_state("idle")
    assert [(each.folder, each.name) for each in written] == [
        ("/scene/neural", "clay"),
        ("/scene/neural", "clay_2"),
    ]


def test_the_loss_of_the_steps_that_round_is_shown_to_the_last(bench):
    model = bench.ready()
    model.start()
    bench.hear("started", step=0, steps=100)
    hear_plan(bench, [("training", 0, 90), ("rounding", 90, 100)])
    for name, step in (("training", 90), ("rounding", 100)):
        bench.hear("phase", name=name)
        bench.hear("step", step=step, steps=100, loss=0.5, seconds_left=2.0)
    bench.hear("phase", name="rounding")
    assert list(model.bake.history.losses()[0]) == [90, 100]
    assert model.bake.progress.seconds_left == 2.0


def test_error_figures_are_those_that_were_told_last(bench):
    model = bench.training()
    bench.hear("metrics", step=1, samples=[{"log_mae": 0.5, "smape": 0.9, "relative_l1": 0.4}])
    bench.hear("errors", step=2, log_mae=0.25, smape=0.8, relative_l1=0.3)
    assert model.bake.errors == {"log_mae": 0.25, "smape": 0.8, "relative_l1": 0.3}
    # dots of the plot are measured at once, or not at all
    assert model.bake.history.errors()[1][-1] == 0.5


def test_a_command_is_asked_once_until_the_worker_has_answered(bench):
    model = bench.training()
    bench.hear("step", step=1, steps=100, loss=0.5)
    model.pause()
    model.pause()
    model.finish()
    assert [type(each) for each in bench.client.sent].count(say.Pause) == 1
    assert say.Finish() not in bench.client.sent
    bench.hear("state", state="paused")
    model.finish()
    assert bench.client.sent[-1] == say.Finish()


def test_a_state_that_cannot_follow_is_late_and_ignored(bench):
    model = bench.training()
    bench.hear("state", state="done")
    bench.hear("state", state="nonsense")
    assert model.state == "training"


def test_a_worker_that_is_gone_fails_the_bake_and_a_new_one_goes_on_with_it(bench):
    model = bench.training()
    bench.hear("checkpointed", step=40)
    bench.client.now = Health(GONE, "The worker was killed (SIGKILL).")
    model.tick()
    assert (model.state, model.health.state) == ("failed", GONE)
    assert model.can_recover and not model.can(states.START)
    model.recover()
    assert len(bench.clients) == 2
    bench.hear("opened", chosen="clay", materials=[REPORT], trainer="numpy")
    (start,) = [each for each in bench.client.sent if isinstance(each, say.Start)]
    assert start.resume
    assert not model.choices.resume


def test_a_silent_worker_may_come_back_or_be_replaced(bench):
    model = bench.training()
    bench.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    assert model.state == "training" and model.can_recover
    bench.client.now = Health(WELL)
    model.tick()
    assert not model.can_recover
    bench.client.now = Health(SILENT, "The worker has not answered for 3 s.")
    model.tick()
    first = bench.client
    model.recover()
    assert first.ended == "killed"


def test_what_is_wrong_with_a_material_is_in_its_report_and_it_cannot_be_started(bench):
    model = bench.model
    model.refresh_materials()
    bench.hear("error", command="open", text="scene: image.png is missing")
    assert model.report["problem"] == "scene: image.png is missing"
    assert not model.can(states.START)
    bench.host.fails = True
    model.choose(model.materials[1])
    assert model.report["problem"] == "the material has gone"
    assert model.notices[-1].severity == ERROR


def test_while_it_bakes_another_material_cannot_be_chosen(bench):
    model = bench.training()
    model.choose(model.materials[1])
    assert model.current == CLAY
    assert "Finish or cancel" in model.notices[-1].text


def test_a_refused_start_fails_without_an_offer_to_resume(bench):
    model = bench.ready()
    model.start()
    bench.hear("error", command="start", text="preset 'best' is not known")
    assert model.state == "failed"
    assert not model.can_recover and model.can(states.START)


def test_choices_become_the_start_command_and_nothing_else_does(bench):
    model = bench.ready()
    model.set_choices(resolution=64, time_limit=30.0, nonsense=1)
    model.start()
    start = bench.client.sent[-1]
    assert start.changes == {"resolution": 64}
    assert (start.time_limit, start.preset, start.folder) == (30.0, "", "/scene/neural")
    assert BakeSettings.from_json({**BakeSettings().to_json(), **start.changes}).resolution == 64


def test_what_the_result_will_weigh_follows_the_choices(bench):
    model = bench.model
    model.set_choices(network="2x16", resolution=32)
    bench.ready()
    # the worker's is of the preset alone
    bench.hear("forecast", texture_bytes=699_050, decoder_bytes=4480)
    # 8 bytes a texel, and its mips
    assert model.forecast["texture_bytes"] == 8 * (4**6 - 1) // 3
    small = model.forecast["decoder_bytes"]
    bench.hear("forecast", texture_bytes=1, decoder_bytes=1, nanoseconds=2.0, verdict="bake it")
    assert model.forecast["verdict"] == "bake it"
    model.set_choices(folder="/elsewhere")
    assert model.forecast["verdict"] == "bake it"
    model.set_choices(resolution=64, network="3x64")
    assert model.forecast["texture_bytes"] == 8 * (4**7 - 1) // 3
    assert model.forecast["decoder_bytes"] > small and not model.forecast["verdict"]
    model.start()
    bench.hear("forecast", texture_bytes=7, decoder_bytes=8)
    model.set_choices(resolution=16)
    # of the bake that runs
    assert model.forecast["texture_bytes"] == 7


def test_views_are_numbered_and_sent_only_when_they_change(bench):
    model = bench.ready()
    before = len(bench.client.sent)
    model.look(turn=10.0)
    model.look(turn=10.0)
    assert [each.number for each in bench.client.sent[before:]] == [model.view.number]


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


def test_a_dab_is_round_soft_and_goes_over_the_edge():
    weights = WeightMap(64)
    weights.dab(0.0, 0.5, Brush(radius=0.25, weight=3.0, strength=1.0))
    values = weights.values
    # half a texel from the middle on both sides of the seam
    assert values[32, 0] == pytest.approx(values[32, 63])
    assert values[32, 0] == pytest.approx(3.0, abs=0.02)
    assert values[32, 8] == pytest.approx(2.0, abs=0.15)
    assert values[32, 20] == 1.0


def test_a_dab_is_the_same_as_one_that_looks_at_every_texel_and_never_misses_a_coarse_map():
    random = np.random.default_rng(4)
    for size, radius, place in ((40, 0.2, (0.97, 0.03)), (128, 0.5, (0.4, 0.6)), (9, 0.3, (0, 0))):
        weights = WeightMap()
        start = random.uniform(0, 8, (size, 2 * size)).astype(np.float32)
        weights.replace(start)
        weights.dab(*place, Brush(radius=radius, weight=6.0, strength=0.7))
        for row, column in np.ndindex(start.shape):
            gaps = np.abs([(column + 0.5) / (2 * size) - place[0], (row + 0.5) / size - place[1]])
            near = max(0.0, 1 - np.linalg.norm(np.minimum(gaps, 1 - gaps)) / radius)
            share = 0.7 * (3 * near**2 - 2 * near**3)
            expected = start[row, column] + share * (6 - start[row, column])
            assert weights.values[row, column] == pytest.approx(expected, abs=1e-5)
    coarse = WeightMap()
    coarse.replace(np.ones((8, 8)))
    coarse.dab(0.51, 0.26, Brush(radius=0.01))
    assert np.unravel_index(coarse.values.argmax(), (8, 8)) == (2, 4)


def test_a_large_map_is_painted_without_delay_and_its_undo_has_bounds():
    weights = WeightMap()
    weights.replace(np.ones((4096, 4096), np.float32))
    start = time.process_time()
    for number in range(20):
        weights.dab(0.02 * number, 0.5, Brush())
    assert time.process_time() - start < 2
    for _ in range(10):
        weights.begin_stroke()
        weights.dab(0.5, 0.5, Brush())
        weights.end_stroke()
    assert sum(each.nbytes for each in weights._undo) <= 1 << 29


def test_a_stroke_beside_the_texture_is_no_step_of_undo():
    weights = WeightMap()
    weights.fill(2.0)
    weights.undo()
    weights.begin_stroke()
    weights.end_stroke()
    assert weights.can_redo and not weights.can_undo


@pytest.mark.parametrize("change", ["undo", "fill"])
def test_what_is_painted_after_another_step_in_one_stroke_is_a_step_of_its_own(change):
    weights = WeightMap(16)
    weights.begin_stroke()
    weights.dab(0.2, 0.5, Brush())
    weights.undo() if change == "undo" else weights.fill(2.0)
    before = weights.values.copy()
    weights.dab(0.6, 0.5, Brush())
    weights.dab(0.8, 0.5, Brush())
    weights.end_stroke()
    painted = weights.values.copy()
    weights.undo()
    np.testing.assert_array_equal(weights.values, before)
    weights.redo()
    np.testing.assert_array_equal(weights.values, painted)


def test_a_stroke_is_one_step_of_undo_and_undo_can_be_undone():
    weights = WeightMap(16)
    weights.begin_stroke()
    for u in (0.2, 0.4, 0.6):
        weights.dab(u, 0.5, Brush())
    weights.end_stroke()
    painted = weights.values.copy()
    weights.fill(2.0)
    weights.undo()
    np.testing.assert_array_equal(weights.values, painted)
    weights.undo()
    assert weights.is_plain and not weights.can_undo
    weights.redo()
    np.testing.assert_array_equal(weights.values, painted)
    weights.invert()
    np.testing.assert_allclose(weights.values, painted.max() + painted.min() - painted)


def test_erasing_goes_back_to_normal():
    weights = WeightMap(16)
    weights.fill(6.0)
    weights.dab(0.5, 0.5, Brush(radius=2.0, strength=1.0, erases=True))
    assert weights.values[8, 8] == pytest.approx(1.0, abs=0.01)


def test_the_smoothed_loss_follows_the_raw_one_without_its_spikes():
    history = History()
    for step in range(200):
        history.add_loss(step, 1.0 if step != 100 else 1000.0)
    history.add_loss(300, None)
    _, raw, smooth = history.losses()
    assert raw.max() == 1000 and smooth.max() < 10
    assert smooth[-1] == pytest.approx(1.0, rel=0.01)
    for step in range(10_000):
        history.add_loss(400 + step, 0.5)
    assert len(history.losses()[0]) <= 2001


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (None, "not known")],
)
def test_times_are_said_as_one_says_them(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 bytes"), (4300, "4.3 KB"), (698_000, "698 KB"), (2.1e9, "2.1 GB")],
)
def test_sizes_are_said_as_files_show_them(count, text):
    assert words.size_of(count) == text


def test_a_report_is_said_by_what_becomes_of_each_part():
    report = {
        "parts": [
            {"name": "oren_nayar_diffuse_bsdf", "fate": "kept", "how": ""},
            {"name": "transmission", "fate": "dropped", "how": "light that passes through"},
        ]
    }
    assert words.parts_by_fate(report) == [
        ("kept", "Kept", ["oren nayar diffuse"]),
        ("dropped", "Left out", ["transmission: light that passes through"]),
    ]


def test_tooltips_are_the_docstrings_of_settings():
    docs = field_docs(BakeSettings)
    assert docs["resolution"] == "Latent texels a side. Detail finer than a texel is averaged."
    assert "draw" in docs
