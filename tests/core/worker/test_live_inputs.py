"""Live inputs in the worker: both sides of the pictures move, and the bake keeps its defaults."""

import threading
import time
from importlib.util import find_spec

import numpy as np
import pytest

from verdigris.core.baking.measure.measure import draw_held_out, measure_student
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.link.client import LinkClient
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.network.student import Student
from verdigris.core.pictures.view import View
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.worker.client.client import pixels_of
from verdigris.core.worker.drawing.errors_by_place import RollingErrors
from verdigris.core.worker.drawing.shown import ShownMaterials
from verdigris.core.worker.protocol import commands

from .drawing_of import Drawing
from .running_worker import QUICK, RunningWorker


def clay(grey=0.1):
    """Grey, and rougher where it is lighter."""
    return f"""<materialx version="1.39"><nodegraph name="g">
<input name="grey" type="float" value="{grey}"/>
<combine3 name="c" type="color3"><input name="in1" type="float" interfacename="grey"/>
<input name="in2" type="float" interfacename="grey"/><input name="in3" type="float" value="0.1"/>
</combine3><output name="o" type="color3" nodename="c"/></nodegraph>
<oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" nodegraph="g" output="o"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="clay" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


LIVE = ("grey=0.1..0.9@0.3",)
SETTINGS = BakeSettings(network="2x16", resolution=8, batch=256, iterations=100)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


@pytest.fixture(scope="module")
def teacher(device):
    return Teacher(parse_document(clay()), device=device, live=parse_all_wanted(LIVE))


@pytest.fixture(scope="module")
def trainer(teacher):
    settings = SETTINGS.with_live_inputs(1)
    source = DrawnSamples([teacher], settings.layout(), 0, settings.draw)
    parameters = initialise(settings.spec, settings.layout(), 1)
    random = np.random.default_rng(2)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder[:] += 0.3 * random.standard_normal(parameters.decoder.shape)
    found = NumpyTrainer(parameters, source, settings.training())
    yield found
    found.close()


def drawn(picture):
    return picture.canvas(False).pixels().astype(int)


def test_the_reference_is_the_material_with_that_value(teacher, device):
    renderer = Drawing(teacher, commands.SetView(size=24), 8).renderer
    # without values, at the default
    shares = {(): 0.3, (1.0,): 0.9}
    for live, grey in shares.items():
        renderer.look(commands.SetView(size=24, live=live), None)
        still = Teacher(parse_document(clay(grey)), device=device)
        expected = Drawing(still, commands.SetView(size=24), 8).renderer
        difference = drawn(renderer.reference) - drawn(expected.reference)
        assert np.abs(difference).max() <= 1
        # what the bake measures meanwhile
        assert teacher.live == pytest.approx((0.25,))


def test_the_neural_side_moves_alike_in_training_and_on_the_device(teacher, trainer, device):
    parameters = trainer.parameters()
    student = Student(parameters, device)
    student.live = (0.9,)
    pictures = []
    for share in (0.2, 1.0):
        view = commands.SetView(size=24, live=(share,))
        drawing = Drawing(teacher, view, 8)
        drawing.renderer.expect(has_neural=True)
        drawing.renderer.draw_neural(student)
        on_device = drawn(drawing.renderer.neural)
        live = drawing.live
        live.draw_at_once(trainer.live())
        in_place = live._sized[24].neural.pixels().astype(int)
        assert np.abs(on_device - in_place).max() <= 2
        pictures.append(on_device)
    assert np.abs(pictures[0] - pictures[1]).max() > 8
    assert student.live == (0.9,)


def test_errors_while_it_trains_are_those_at_the_values_of_the_samples(teacher, trainer, device):
    held_out = draw_held_out(teacher, 1500)
    student = Student(trainer.parameters(), device)
    expected = measure_student(student, held_out)
    for shown in (trainer.live(), student):
        rolling = RollingErrors(held_out)
        while not rolling.advance(shown):
            pass
        assert rolling.figures().log_mae == pytest.approx(expected.log_mae, rel=1e-3)


def test_a_range_has_the_pictures_of_each_value(teacher):
    view, wanted = View(size=24, turn=90.0, level=2), commands.Range(count=3, size=24)
    found = ShownMaterials(teacher, 8).range_pictures(teacher, view, wanted).astype(int)
    assert found.shape == (24, 72, 3)
    for number in range(3):
        view = View(size=24, live=(number / 2,), backdrop="grey")
        alone = Drawing(teacher, view, 8).renderer
        part = found[:, 24 * number : 24 * (number + 1)]
        assert np.abs(part - drawn(alone.reference)).max() <= 1


def test_another_bundle_takes_the_value_by_its_own_range(teacher, trainer, device):
    """It was baked from 0 to 1 under this name, and with another input."""
    materials = ShownMaterials(teacher, 8)
    other = parse_all_wanted(["grey=0..1", "rain=0..4@1"])
    from verdigris.core.material.live_inputs.live_input import LiveInput

    inputs = tuple(
        LiveInput(each.name, "float", each.low, each.high, 0.25, 1, ()) for each in other
    )
    student = Student(trainer.parameters(), device)
    materials.inputs_of = {id(student): inputs}
    # 0.1..0.9 at the middle is 0.5
    assert materials.live_of(student, View(live=(0.5,))) == pytest.approx((0.5, 0.25))
    beyond = View(live=(1.0,))
    narrow = (LiveInput("grey", "float", (0.2,), (0.6,), 0.0, 1, ()),)
    materials.inputs_of = {id(student): narrow}
    assert materials.live_of(student, beyond) == pytest.approx((1.0,))


def test_a_worker_trains_a_living_material_and_moves_its_pictures(tmp_path, monkeypatch):
    """Also in programs that follow its live link."""
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    worker = RunningWorker()
    received, link = [], None
    try:
        opening = commands.Open(
            name="clay", payload=clay().encode(), live=(*LIVE, "rain=0..1", "grey=0..1")
        )
        worker.send(commands.SetView(size=32), opening, commands.Link("panel", "127.0.0.1:0"))
        linked = worker.wait_for("linked").header
        opened = worker.wait_for("opened").header
        (offer,) = opened["materials"][0]["live"]
        assert offer["input"]["value"] == [0.1] and offer["inputs"] == ["bsdf"]
        (live,) = opened["live"]
        assert (live["name"], live["request"]) == ("grey", "grey=0.1..0.9@0.3")
        assert live["default"] == pytest.approx(0.25)
        worker.wait_for("picture", part="reference")
        told = [each.header["text"] for each in worker.all("warning")]
        assert "'rain' is not an input" in told[0] and "grey is given twice" in told[1]
        worker.send(commands.Range(input=1))
        assert "there are 1 live inputs" in worker.wait_for("error").header["text"]
        worker.start(tmp_path, QUICK)
        if find_spec("websockets"):
            assert linked["address"].endswith("/?token=panel") and not linked["problem"]
            assert linked["page"] == linked["address"].replace("ws:", "http:")
            link = LinkClient(linked["address"])
            worker.wait_for("linked", clients=1)
            following = threading.Thread(target=lambda: received.extend(link))
            following.start()
        worker.wait_for("finished")
        # twice: the first picture of a view may be that of the view before
        light = []
        for number, value in enumerate((0.0, 1.0), 5):
            worker.send(commands.SetView(number=number, size=32, live=(value,)))
            pair = [
                worker.wait_for("picture", part=part, view=number)
                for part in ("reference", "neural")
            ]
            light.append([pixels_of(each).astype(float).mean() for each in pair])
        assert light[1][0] > light[0][0] + 10 and light[1][1] > light[0][1] + 10
        worker.send(commands.Range(count=4, size=16))
        drawn = worker.wait_for("rangedrawn")
        assert drawn.header["part"] == "neural"
        parts = np.split(pixels_of(drawn).astype(float), 4, 1)
        assert np.all(np.diff([part.mean() for part in parts]) > 1)
        (result,) = worker.all("finished")[0].header["results"]
        bundle = open_bundle(tmp_path / "clay.vdg")
        assert str(tmp_path / "clay.vdg") in str(result)
        assert bundle.manifest.live_defaults == pytest.approx((0.25,))
        if link:
            end = time.monotonic() + 10
            while link.state.get("live") != {"grey": 0.9} and time.monotonic() < end:
                time.sleep(0.01)
            assert link.state["live"] == {"grey": 0.9}
            # again: the link that was ended shows what is shown
            worker.send(commands.Link(is_on=False))
            worker.wait_for("linked", address="")
            following.join()
            assert link.ended.startswith("1001")
            worker.send(commands.Link("panel", linked["address"].split("/")[2]))
            worker.wait_for("linked", address=linked["address"])
            with LinkClient(linked["address"]) as again:
                assert again.receive().is_final
                assert again.state["live"] == {"grey": 0.9}
    finally:
        worker.client.kill()
    if link:
        first, last = received[0], received[-1]
        assert (first.material, first.is_final, last.is_final) == ("clay", False, True)
        assert last.files["weights.bin"] == (tmp_path / "clay.vdg" / "weights.bin").read_bytes()
