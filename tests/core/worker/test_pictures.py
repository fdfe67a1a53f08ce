"""What the worker draws, and how much of the time it takes for it."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from verdigris.core.baking.measure.measure import draw_held_out, measure_student
from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.network.student import Student
from verdigris.core.pictures.render import Lighting, make_view, shade
from verdigris.core.pictures.views import Camera, sphere_view
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.worker.drawing.canvas import Canvas, heat_of
from verdigris.core.worker.drawing.live_network import LitView, PreparedPlaces
from verdigris.core.worker.drawing.painter import Painter
from verdigris.core.worker.drawing.studio import _FILLS, _KEY_COLOUR, Studio, plain_lights
from verdigris.core.worker.drawing.texel_inspector import RollingErrors, weigh_places
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import ProtocolError
from verdigris.core.worker.session.budget import Budget

from .running_worker import CLAY


@pytest.fixture(scope="module")
def teacher():
    return Teacher(parse_document(CLAY), device=open_device("software"))


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize("cost", [0.003, 0.02, 0.25])
def test_pictures_take_their_share_of_the_time_whatever_one_of_them_costs(cost):
    clock = Clock()
    budget = Budget(0.08, clock)
    budget.start()
    trained = 0.0
    while trained < 60:
        clock.now += 0.2
        trained += 0.2
        while budget.is_left:
            clock.now += cost
            budget.charge(cost)
    assert budget.spent / trained == pytest.approx(0.08, abs=0.01)
    assert budget.spent / trained < 0.1


def test_what_was_drawn_before_the_training_costs_no_picture_of_it():
    clock = Clock()
    budget = Budget(0.08, clock)
    clock.now = 3.0
    budget.charge(3.0)
    budget.start()
    clock.now += 0.1
    assert budget.is_left
    # what is spent is no time that more could be saved in
    clock.now += 1.0
    budget.charge(1.0)
    assert budget._credit == pytest.approx(-0.5)


def test_three_lights_in_one_dispatch_are_three_pictures_added_up(teacher):
    view = sphere_view(24, Camera(turn=20))
    for light in ((-0.45, 0.6, 0.66), (-0.9, -0.2, -0.1)):
        wanted = commands.View(light=light, environment=0.5)
        found = Studio(teacher, 64).shade(teacher, view, wanted)
        expected = shade(teacher, view, Lighting(light, _KEY_COLOUR, 0.0, 0.0), is_flat=True)
        for direction, colour in _FILLS:
            dimmed = tuple(0.5 * part for part in colour)
            fill = Lighting(direction, dimmed, 0.0, 0.0)
            expected[:, :3] += shade(teacher, view, fill, is_flat=True)[:, :3]
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


@pytest.fixture(scope="module")
def trainer(teacher):
    """One with numbers that are not those of the start, and latents that differ by place."""
    settings = BakeSettings(network="2x16", resolution=16, batch=256, iterations=100)
    source = DrawnSamples([teacher], settings.layout(), 0, settings.draw)
    parameters = initialise(settings.spec, settings.layout(), 1)
    random = np.random.default_rng(2)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder[:] += 0.1 * random.standard_normal(parameters.decoder.shape)
    found = NumpyTrainer(parameters, source, settings.training())
    yield found
    found.close()


@pytest.mark.parametrize(
    "wanted",
    [
        commands.View(turn=20),
        commands.View(shape="plane", light=(-0.9, 0.2, 0.3)),
        commands.View(level=2, environment=0.0),
    ],
)
def test_a_network_is_drawn_where_it_trains_as_the_device_draws_it(teacher, trainer, wanted):
    view = make_view(wanted.shape, 48, None, Camera(turn=wanted.turn))
    network = trainer.live()
    lit = LitView(network, view, plain_lights(wanted), wanted.level)
    assert lit.parts > 2
    found = np.concatenate([lit.draw(network, number)[1] for number in range(lit.parts)])
    student = Student(trainer.parameters(), teacher.device)
    expected = Studio(teacher, 16).shade(student, view, wanted)
    np.testing.assert_allclose(found, expected, rtol=4e-3, atol=4e-4)
    assert expected[:, :3].std() > 0.01


def test_what_is_looked_at_is_not_copied_and_changes_with_the_training(trainer):
    network = trainer.live()
    places = PreparedPlaces(
        network, *(np.full(shape, 0.5, "f4") for shape in ((9, 2), (9, 1, 3), (9, 3)))
    )
    _, before = places.evaluate(network, 0)
    trainer.step_many(3)
    _, after = places.evaluate(network, 0)
    assert np.abs(after - before).max() > 0
    network.latents[0] += 1
    np.testing.assert_array_equal(trainer.parameters().latents, network.latents)
    network.latents[0] -= 1


def test_errors_by_parts_are_those_of_all_held_out_samples(teacher, trainer):
    held_out = draw_held_out(teacher, 3000)
    student = Student(trainer.parameters(), teacher.device)
    expected = measure_student(student, held_out)
    for shown in (trainer.live(), student):
        rolling = RollingErrors(held_out)
        assert rolling.figures() is None
        while not rolling.advance(shown):
            pass
        found = rolling.figures()
        assert found.log_mae == pytest.approx(expected.log_mae, rel=1e-3)
        assert found.smape == pytest.approx(expected.smape, rel=1e-3)
        assert found.relative_l1 == pytest.approx(expected.relative_l1, rel=1e-3)


def test_the_difference_is_that_of_what_is_shown(teacher):
    size = 4
    first, second = Canvas(size, 0.0), Canvas(size, 0.0)
    light = np.full((size * size, 4), 0.5, np.float32)
    light[:, 3] = 1
    pixels = np.arange(size * size)
    first.put(pixels, light)
    assert heat_of(first, first)[1] == 0.005
    light[:, :3] = 0.25
    second.put(pixels, light)
    # sRGB of a half and a quarter: 0.735 and 0.537
    _, top = heat_of(first, second)
    assert top == 0.2
    second.expose(1.0)
    np.testing.assert_allclose(second.shown, first.shown, atol=1e-6)


def test_a_picture_that_is_drawn_in_parts_is_the_whole_picture(teacher):
    painter = Painter(teacher, commands.View(size=96), 64)
    while not painter.is_reference_whole:
        painter.draw_reference()
    (found,) = painter.news(0)
    whole = Canvas(96, 0.0)
    view = sphere_view(96)
    whole.put(view.pixel, Studio(teacher, 64).shade(teacher, view, commands.View()))
    difference = np.abs(found.array.astype(int) - whole.pixels().astype(int))
    assert difference.max() <= 1
    assert found.sharp == 1.0


def test_places_tell_the_uv_under_each_pixel(teacher):
    painter = Painter(teacher, commands.View(size=32, shape="plane"), 64)
    places = painter.places().array
    np.testing.assert_allclose(places[0, 0], (0.5 / 32, 1 - 0.5 / 32), atol=1e-6)
    painter.look(commands.View(size=32))
    assert np.isnan(painter.places().array[0, 0]).all()


def test_focus_weighs_what_is_painted_or_what_is_seen():
    weights = np.ones((8, 8), np.float32)
    weights[2, 3] = 4
    painted = weigh_places(weights, commands.Focus("painted"), np.zeros((1, 2)))
    assert np.argwhere(painted).tolist() == [[2, 3]]
    seen = weigh_places(
        weights, commands.Focus("view", 9.0), np.float32([[0.06, 0.9], [1.06, -0.1]])
    )
    # v = 0.9 is row 7 of 8; both places are the same on a texture that repeats
    assert seen[7, 0] == 10.0
    assert seen[2, 3] == 4.0
    assert weigh_places(weights, commands.Focus(), np.zeros((1, 2))) is weights
    with pytest.raises(ProtocolError, match="nothing is painted"):
        weigh_places(None, commands.Focus("painted"), np.zeros((1, 2)))


def test_from_near_each_texel_is_a_square_of_what_is_in_its_middle(teacher, trainer):
    # 16 texels a side, and 2 of them across 64 pixels
    wanted = commands.View(size=64, shape="plane", zoom=8.0, x=0.125, y=-0.25, number=3)
    painter = Painter(teacher, wanted, 16)
    network = trainer.live()
    while not painter.is_neural_whole:
        painter.draw_neural(network)
    places = painter.places()
    assert (places.texels, places.view) == (16, 3)
    # the middle is u = (1 + 0.125) / 2 and v = (1 - 0.25) / 2: texel 9 by 6, from its lower left
    np.testing.assert_allclose(places.array[31:33, 31:33].mean((0, 1)), (9 / 16, 6 / 16), atol=1e-6)
    picture = next(each for each in painter.news(0) if each.part == "neural").array.astype(int)
    squares = picture.reshape(2, 32, 2, 32, 3).transpose(0, 2, 1, 3, 4).reshape(4, -1, 3)
    # nothing but the direction to the eye differs in one
    assert np.ptp(squares, axis=1).max() <= 2
    means = squares.mean(1)
    assert min(np.abs(a - b).max() for a, b in combinations(means, 2)) > 4

    # as the kernel has it at the middles, row 0 at the top
    view = make_view("plane", 64, None, Camera(zoom=8.0, x=0.125, y=-0.25))
    middles = np.float32([[8.5, 6.5], [9.5, 6.5], [8.5, 5.5], [9.5, 5.5]]) / 16
    quarter = (np.arange(64) // 32 * 2)[:, None] + np.arange(64) // 32
    at_middles = replace(view, uv=middles[quarter.ravel()[view.pixel]])
    student = Student(trainer.parameters(), teacher.device)
    whole = Canvas(64, 0.0)
    whole.put(view.pixel, Studio(teacher, 16).shade(student, at_middles, wanted))
    assert np.abs(picture - whole.pixels()).max() <= 2

    # from further away places are mixed as ever
    painter.look(replace(wanted, zoom=7.9))
    assert painter.places().texels == 0
    assert painter.view.uv is painter.seen_uv
