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
from verdigris.core.network.prepared_places import PreparedPlaces, highlights_of
from verdigris.core.network.student import Student
from verdigris.core.pictures import illumination
from verdigris.core.pictures.canvas import Canvas, PlacedShape, Raster, heat_of
from verdigris.core.pictures.compare.heat import NOT_COMPARED
from verdigris.core.pictures.gbuffer import Camera, make_gbuffer, sphere_gbuffer
from verdigris.core.pictures.light_of_view import FILLS, KEY_COLOUR, few_directions
from verdigris.core.pictures.quick_light import Lit
from verdigris.core.pictures.render import Lighting, shade
from verdigris.core.pictures.tone import MAPPINGS, TONES, Tone
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.worker.drawing.errors_by_place import RollingErrors, weigh_places
from verdigris.core.worker.drawing.live_drawing import LitPixels
from verdigris.core.worker.drawing.shown import ShownMaterials
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import ProtocolError
from verdigris.core.worker.session.budget import Budget

from .drawing_of import Drawing
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
    gbuffer = sphere_gbuffer(24, Camera(turn=20))
    for light in ((-0.45, 0.6, 0.66), (-0.9, -0.2, -0.1)):
        wanted = commands.SetView(light=light, environment=0.5)
        found = ShownMaterials(teacher, 64).illumination.quick(teacher, gbuffer, wanted)
        expected = shade(teacher, gbuffer, Lighting(light, KEY_COLOUR, 0.0, 0.0), is_flat=True)
        for direction, colour in FILLS:
            dimmed = tuple(0.5 * part for part in colour)
            fill = Lighting(direction, dimmed, 0.0, 0.0)
            expected[:, :3] += shade(teacher, gbuffer, fill, is_flat=True)[:, :3]
        np.testing.assert_allclose(found.light, expected, rtol=2e-3, atol=2e-4)


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
        commands.SetView(turn=20),
        commands.SetView(shape="plane", light=(-0.9, 0.2, 0.3)),
        commands.SetView(level=2, environment=0.0),
        commands.SetView(turn=20, lit_by="sunset", rotate=40.0),
    ],
)
def test_a_network_is_drawn_where_it_trains_as_the_device_draws_it(
    teacher, trainer, wanted, monkeypatch
):
    gbuffer = make_gbuffer(wanted.shape, 48, None, Camera(turn=wanted.turn))
    network = trainer.live()
    known = highlights_of(network, gbuffer.uv, np.zeros((len(gbuffer.uv), 0)), wanted.level)
    drawn = LitPixels(network, gbuffer, few_directions(wanted, gbuffer, known), wanted.level)
    pixels, found = drawn.draw(network)
    np.testing.assert_array_equal(pixels, gbuffer.pixel)
    student = Student(trainer.parameters(), teacher.device)
    shown = ShownMaterials(teacher, 16).illumination
    by_numpy = shown.quick(student, gbuffer, wanted)
    # the device's kernel of a network does not know its highlights
    monkeypatch.setattr(Student, "highlights", lambda *_: known)
    monkeypatch.setattr(illumination, "network_of", lambda *_: None)
    expected = shown.quick(student, gbuffer, wanted)
    assert not np.array_equal(by_numpy.light, expected.light)
    np.testing.assert_allclose(by_numpy.light, expected.light, rtol=4e-3, atol=4e-4)
    np.testing.assert_allclose(found.light, expected.light, rtol=4e-3, atol=4e-4)
    assert (found.guide is None) == (not wanted.lit_by) == (expected.guide is None)
    if found.guide is not None:
        np.testing.assert_allclose(found.guide, expected.guide, rtol=4e-3, atol=4e-4)
    assert expected.light[:, :3].std() > 0.01


def test_what_is_looked_at_is_not_copied_and_changes_with_the_training(trainer):
    network = trainer.live()
    places = PreparedPlaces(
        network, *(np.full(shape, 0.5, "f4") for shape in ((9, 2), (9, 1, 3), (9, 3)))
    )
    before = places.evaluate(network, 0)
    trainer.step_many(3)
    after = places.evaluate(network, 0)
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


@pytest.mark.parametrize("index", [1.0, 1.5])
def test_light_from_below_is_drawn_and_measured_where_a_network_trains(teacher, index, monkeypatch):
    settings = BakeSettings(network="2x16", resolution=16, batch=256)
    parameters = initialise(settings.spec, settings.layout(), 1, index)
    parameters.latents[:] = np.random.default_rng(2).standard_normal(parameters.latents.shape)
    source = DrawnSamples([teacher], settings.layout(), index_below=index)
    trainer = NumpyTrainer(parameters, source, settings.training())
    network, student = trainer.live().snapshot(), Student(trainer.parameters(), teacher.device)
    trainer.close()
    monkeypatch.setattr(Student, "highlights", lambda *_: None)
    gbuffer = make_gbuffer("sphere", 32)
    shown = ShownMaterials(teacher, 16).illumination
    for wanted in (commands.SetView(), commands.SetView(lit_by="sunset")):
        directions = few_directions(wanted, gbuffer, index=index)
        expected = shown.quick(student, gbuffer, wanted)
        found = LitPixels(network, gbuffer, directions, 0).draw(network)[1]
        np.testing.assert_allclose(found.light, expected.light, rtol=4e-3, atol=4e-4)
        without = LitPixels(network, gbuffer, few_directions(wanted, gbuffer), 0).draw(network)[1]
        is_darker = np.abs(without.light - found.light).max() > 0.05
        # one light is not refracted to the viewer
        assert is_darker == (index == 1.0 or wanted.lit_by != "")
    held_out = draw_held_out(teacher, 3001, index_below=index)
    rolling = RollingErrors(held_out)
    while not rolling.advance(network):
        pass
    expected = measure_student(student, held_out)
    assert rolling.figures().log_mae == pytest.approx(expected.log_mae, rel=1e-3)
    assert rolling.figures().relative_l1 == pytest.approx(expected.relative_l1, rel=1e-3)


def canvas_of(side, level=None):
    raster = Raster.of(PlacedShape(commands.SetView(), None), side, 1.0)
    canvas = Canvas(raster, Tone())
    if level is not None:
        light = np.float32([[level, level, level, 1]] * (side * side))
        canvas.put(np.arange(side * side), Lit(light))
    return canvas


def srgb(light):
    return 1.055 * light ** (1 / 2.4) - 0.055


@pytest.mark.parametrize("levels", [(0.5, 0.25), (8.0, 4.0)])
def test_the_difference_is_that_of_display_values_also_of_clipped_light(levels):
    first, second = (canvas_of(4, level) for level in levels)
    assert not heat_of(first, first).any()
    a, b = (srgb(level / (1 + level)) for level in levels)
    found = heat_of(first, second)
    assert found.shape == (4, 4, 1) and found.dtype == np.uint16
    np.testing.assert_allclose(found / 65_535, a - b, atol=2e-5)
    # 8 and 4 are the same white on a screen
    is_clipped = min(levels) > 1
    assert (first.pixels() == second.pixels()).all() == is_clipped
    # the exposure of the artist changes what is shown, and not the difference
    second.expose(Tone(1.0))
    np.testing.assert_array_equal(second.pixels(), first.pixels())
    np.testing.assert_array_equal(heat_of(first, second), found)


def test_only_what_is_equally_sharp_is_compared(teacher, trainer, monkeypatch):
    monkeypatch.setattr("verdigris.core.pictures.renderer._TILE_ON_CPU", 16)
    monkeypatch.setattr("verdigris.core.worker.drawing.live_drawing.COARSE", 24)
    drawing = Drawing(teacher, commands.SetView(size=64, shape="plane"), 16)
    renderer = drawing.renderer
    # the reference of a bake is sharper than the first picture of its student
    monkeypatch.setattr("verdigris.core.worker.drawing.live_drawing._LARGEST_IN_PLACE", 48)
    list(drawing.live.draw_reference())
    student = Student(trainer.parameters(), teacher.device)
    renderer.expect(has_neural=True)
    renderer.draw_neural(student)
    sharp = {}
    for name in ("reference", "neural"):
        side, seen = getattr(renderer, name), sharp.setdefault(name, np.zeros((64, 64), bool))

        def note(tile, gbuffer, light, seen=seen, draw=side.draw_quick):
            seen.reshape(-1)[tile.pixels(64, 64)] = True
            draw(tile, gbuffer, light)

        monkeypatch.setattr(side, "draw_quick", note)
    shares = []
    while True:
        heat = next(each for each in renderer.news(student) if each.part == "heat").pixels[..., 0]
        is_compared = heat != NOT_COMPARED
        if heat.shape == (64, 64):
            np.testing.assert_array_equal(is_compared, sharp["reference"] & sharp["neural"])
        shares.append(is_compared.mean())
        if renderer.is_complete(student):
            break
        renderer.complete(student)
    assert shares[0] == 0 and shares[-1] == 1 and len(set(shares)) > 10


def test_grain_is_no_difference_while_a_material_trains():
    """Two pictures of one grey with independent grain, and a place that does differ."""
    random = np.random.default_rng(4)
    sides = [canvas_of(64, 0.4) for _ in range(2)]
    for number, canvas in enumerate(sides):
        light = np.ones((64 * 64, 4), np.float32)
        light[:, :3] = random.uniform(0.3, 0.5, (64 * 64, 3))
        if number:
            light.reshape(64, 64, 4)[20:40, 20:40, :3] *= 1.5
        canvas.put(np.arange(64 * 64), Lit(light))
    plain, smooth = (heat_of(*sides, radius=radius)[..., 0] / 65_535 for radius in (0, 3))
    truth = srgb(0.6 / 1.6) - srgb(0.4 / 1.4)
    np.testing.assert_allclose(smooth[24:36, 24:36].mean(), truth, atol=0.01)
    assert plain[:12].mean() > 4 * smooth[:12].mean()


@pytest.mark.parametrize("mapping", TONES)
def test_the_screen_shows_what_a_picture_file_holds(mapping):
    from verdigris.core.pictures.picture_files import srgb_from_linear

    light = np.geomspace(1e-4, 30, 400, dtype=np.float32)
    # grey, and colours
    light = np.stack([light, light[::-1], light], 1)
    expected = srgb_from_linear(MAPPINGS[mapping](light * np.float32(2**0.5)))
    found = Tone(0.5, mapping).bytes(light)
    assert np.abs(found - 255.0 * expected).max() < 0.8


@pytest.mark.parametrize("aspect", [1.75, 0.6])
def test_tiles_see_what_the_whole_picture_sees(aspect):
    command = commands.SetView(turn=30, pitch=-10, zoom=1.4, x=0.2, y=-0.1)
    raster = Raster.of(PlacedShape(command, None), 24, aspect)
    assert {raster.width, raster.height} == {24, round(24 * max(aspect, 1 / aspect))}
    whole = np.full((raster.count, 2), np.nan)
    seen = raster.gbuffer(raster.whole())
    whole[seen.pixel] = seen.uv
    found = np.full((raster.count, 2), np.nan)
    drawn = np.zeros(raster.count, int)
    for tile in raster.tiles(9):
        part = raster.gbuffer(tile)
        found[part.pixel] = part.uv
        drawn[tile.pixels(raster.width, raster.height)] += 1
    assert (drawn == 1).all()
    np.testing.assert_allclose(found, whole, atol=1e-5)
    # the middle is that of a square picture of this camera
    side = 24
    square = make_gbuffer("sphere", side, None, Camera(30, -10, 1.4, 0.2, -0.1))
    middle = np.full((side * side, 2), np.nan)
    middle[square.pixel] = square.uv
    middle = middle.reshape(side, side, 2)
    found = found.reshape(raster.height, raster.width, 2)
    left, top = (raster.width - side) // 2, (raster.height - side) // 2
    np.testing.assert_allclose(found[top : top + side, left : left + side], middle, atol=1e-5)


def test_a_picture_that_is_drawn_in_parts_is_the_whole_picture(teacher):
    renderer = Drawing(teacher, commands.SetView(size=96), 64).renderer
    while not renderer.is_reference_whole:
        renderer.draw_reference()
    (found,) = renderer.news()
    whole = canvas_of(96)
    gbuffer = sphere_gbuffer(96)
    whole.put(
        gbuffer.pixel,
        ShownMaterials(teacher, 64).illumination.quick(teacher, gbuffer, commands.SetView()),
    )
    difference = np.abs(found.pixels.astype(int) - whole.pixels().astype(int))
    assert difference.max() <= 1
    assert found.sharp == 1.0


def test_places_tell_the_uv_under_each_pixel(teacher):
    renderer = Drawing(teacher, commands.SetView(size=32, shape="plane"), 64).renderer
    places = renderer.places()
    np.testing.assert_allclose(places[0, 0], (0.5 / 32, 1 - 0.5 / 32), atol=1e-6)
    renderer.look(commands.SetView(size=32), None)
    assert np.isnan(renderer.places()[0, 0]).all()


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
    wanted = commands.SetView(size=64, shape="plane", zoom=8.0, x=0.125, y=-0.25, number=3)
    renderer = Drawing(teacher, wanted, 16).renderer
    network = trainer.live()
    while renderer.neural.sharp < 1:
        renderer.draw_neural(network)
    places = renderer.places()
    assert renderer.texels == 16
    # the middle is u = (1 + 0.125) / 2 and v = (1 - 0.25) / 2: texel 9 by 6, from its lower left
    np.testing.assert_allclose(places[31:33, 31:33].mean((0, 1)), (9 / 16, 6 / 16), atol=1e-6)
    picture = next(each for each in renderer.news() if each.part == "neural").pixels.astype(int)
    squares = picture.reshape(2, 32, 2, 32, 3).transpose(0, 2, 1, 3, 4).reshape(4, -1, 3)
    # nothing but the direction to the eye differs in one
    assert np.ptp(squares, axis=1).max() <= 2
    means = squares.mean(1)
    assert min(np.abs(a - b).max() for a, b in combinations(means, 2)) > 4

    # as the kernel has it at the middles, row 0 at the top
    gbuffer = make_gbuffer("plane", 64, None, Camera(zoom=8.0, x=0.125, y=-0.25))
    middles = np.float32([[8.5, 6.5], [9.5, 6.5], [8.5, 5.5], [9.5, 5.5]]) / 16
    quarter = (np.arange(64) // 32 * 2)[:, None] + np.arange(64) // 32
    at_middles = replace(gbuffer, uv=middles[quarter.ravel()[gbuffer.pixel]])
    student = Student(trainer.parameters(), teacher.device)
    whole = canvas_of(64)
    whole.put(
        gbuffer.pixel, ShownMaterials(teacher, 16).illumination.quick(student, at_middles, wanted)
    )
    assert np.abs(picture - whole.pixels()).max() <= 2

    # from further away places are mixed as ever
    renderer.look(replace(wanted, zoom=7.9), None)
    assert renderer.texels == 0


def finish(renderer, student=None):
    while not renderer.is_complete(student):
        renderer.complete(student)


def test_only_what_is_in_sight_is_drawn(teacher, trainer, monkeypatch):
    monkeypatch.setattr("verdigris.core.pictures.renderer._TILE_ON_CPU", 16)
    wanted = commands.SetView(size=64, shape="plane", shows="wipe", wipe=0.25)
    renderer = Drawing(teacher, wanted, 16).renderer
    network = trainer.live()
    renderer.expect(has_neural=True)
    drawn = {"reference": set(), "neural": set()}
    for name in drawn:
        side = getattr(renderer, name)

        def note(tile, gbuffer, light, name=name, draw=side.draw_quick):
            drawn[name].add(tile.left)
            draw(tile, gbuffer, light)

        monkeypatch.setattr(side, "draw_quick", note)
    finish(renderer, network)
    # and a little beside the wipe
    assert drawn == {"reference": {0, 16}, "neural": {0, 16, 32, 48}}
    pictures = {each.part for each in renderer.news(network)}
    assert pictures == {"reference", "neural"}
    # a wipe that moves draws only what is missing
    drawn["reference"].clear()
    renderer.look(replace(wanted, wipe=0.7), None)
    finish(renderer, network)
    assert drawn["reference"] == {32}


def test_a_student_of_another_size_is_shown_before_its_reference_is_drawn_again(teacher, trainer):
    renderer = Drawing(teacher, commands.SetView(size=32), 64).renderer
    student = Student(trainer.parameters(), teacher.device)
    renderer.expect(has_neural=True)
    assert renderer.compare_with(teacher, 16)
    renderer.draw_neural(student)
    assert [shown.part for shown in renderer.news(student)] == ["neural"]
    finish(renderer, student)
    assert {shown.part for shown in renderer.news(student)} == {"reference", "neural", "heat"}


def test_without_a_student_the_reference_is_all_in_sight(teacher):
    renderer = Drawing(teacher, commands.SetView(size=32, shows="wipe", wipe=0.1), 16).renderer
    assert renderer.reference.columns == (0.0, 1.0)


def test_at_rest_the_panel_shows_what_render_draws_under_the_same_light(teacher):
    """Against the picture of the command, which is computed in another order."""
    from verdigris.core.lighting.named_environments import make_environment
    from verdigris.core.pictures.backdrop import over
    from verdigris.core.pictures.environment_render import (
        EnvironmentLighting,
        draw_behind,
        render_under,
    )
    from verdigris.core.pictures.picture_files import srgb_from_linear
    from verdigris.core.pictures.tone import film

    renderer = Drawing(
        teacher, commands.SetView(size=24, lit_by="overcast", rotate=40.0), 64
    ).renderer
    finish(renderer)
    found = {each.part: each for each in renderer.news()}["reference"]
    assert found.sharp == found.refined == 1.0
    light = make_environment("overcast").turned(40.0)
    lit = EnvironmentLighting.upload(teacher.device, light)
    picture = render_under(teacher, lit, "sphere", 24, samples=64, subpixels=3, is_flat=True)
    behind = draw_behind(teacher.device, lit, "environment", "sphere", 24)
    exposed = over(picture, behind) * np.float32(2.0**light.exposure)
    expected = 255 * srgb_from_linear(film(exposed))
    apart = np.abs(found.pixels - expected)
    # noise and edges; an exposure that differed by a tenth of a stop would be 4 everywhere
    assert np.median(apart) < 1.5 and apart.mean() < 3


def test_live_pictures_grow_to_what_fits_the_time_and_are_never_tiny(teacher, trainer):
    clock = Clock()
    drawing = Drawing(teacher, commands.SetView(size=400, shows="neural"), 16, clock)
    drawing.renderer.expect(has_neural=True)
    live, network = drawing.live, trainer.live()
    draw = live._draw

    def at_a_price(student, size):
        # a second for 512 x 512
        for _ in draw(student, size):
            yield
        clock.now += (size / 512) ** 2

    live._draw = at_a_price
    sizes = []
    live.draw_at_once(network)
    for seconds in (0.15, 0.2, 0.02, 0.5, 0.2):
        live.begin(network, seconds)
        while not live.advance():
            pass
        neural = live.pictures()[0]
        sizes.append(neural.pixels.shape[0])
        assert neural.sharp == pytest.approx(sizes[-1] / 400)
    # 512 * sqrt(.9 * .2) = 217: another size fills nine tenths; and nothing is below 128
    assert sizes == [160, 192, 128, 320, 192]


def test_a_live_picture_is_of_one_state_of_the_network(teacher, trainer):
    drawing = Drawing(teacher, commands.SetView(size=48, shows="neural"), 16)
    drawing.renderer.expect(has_neural=True)
    network = trainer.live()
    before = drawing.live.draw_at_once(network)[0].pixels.copy()
    drawing.live.begin(network, 0.1)
    drawing.live.advance()
    trainer.step_many(5)
    while not drawing.live.advance():
        pass
    np.testing.assert_array_equal(drawing.live.pictures()[0].pixels, before)
    after = drawing.live.draw_at_once(network)[0].pixels
    assert not np.array_equal(after, before)


def test_both_sides_stand_on_the_ground_that_render_draws(teacher, trainer):
    from verdigris.core.lighting.named_environments import make_environment
    from verdigris.core.pictures.environment_render import EnvironmentLighting, draw_behind
    from verdigris.core.pictures.picture_files import srgb_from_linear
    from verdigris.core.pictures.tone import film

    view = commands.SetView(size=64, lit_by="sky", rotate=120.0, ground=True, zoom=0.5)
    renderer = Drawing(teacher, view, 16).renderer
    student = Student(trainer.parameters(), teacher.device)
    renderer.expect(has_neural=True)
    finish(renderer, student)
    shown = {each.part: each.pixels.astype(float) for each in renderer.news(student)}
    light = make_environment("sky").turned(120.0)
    lit = EnvironmentLighting.upload(teacher.device, light)
    camera = view.camera
    behind = draw_behind(teacher.device, lit, "ground", "sphere", 64, samples=64, camera=camera)
    expected = 255 * srgb_from_linear(film(behind * np.float32(2.0**light.exposure)))
    beside = renderer.reference.fine.covered.reshape(64, 64) == 0
    np.testing.assert_array_equal(shown["reference"][beside], shown["neural"][beside])
    # the shadow has an edge, and the panel draws the ground at half the size
    below = beside & (np.arange(64)[:, None] > 40)
    apart = np.abs(shown["reference"] - expected)[below]
    assert np.median(apart) < 3 and np.ptp(expected[below]) > 60
    # without it, nothing is shaded
    renderer.look(replace(view, ground=False), None)
    finish(renderer, student)
    plain = {each.part: each.pixels.astype(float) for each in renderer.news(student)}
    assert np.abs(plain["reference"] - shown["reference"])[below].mean() > 10
