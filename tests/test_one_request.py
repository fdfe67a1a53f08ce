"""One request, whatever the way in: what reaches the bake is the same, field by field, and so is an
option that is added."""

import contextlib
import json
import sys
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import typer

from verdigris.core import api
from verdigris.core.baking import bake
from verdigris.core.baking.bake_neural_rung import bake_neural
from verdigris.core.baking.bake_request import POSITIVE, BakeRequest, Option, options_of
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SceneError, VerdigrisError
from verdigris.core.base.json_fields import Fields
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_task import run as run_task
from verdigris.core.batch.scene.entry import Rule
from verdigris.core.batch.scene.scene import Grouping, SceneOptions, read_scene
from verdigris.core.cli.commands.bake import bake as bake_command
from verdigris.core.cli.shared import bake_options
from verdigris.core.cli.shared.bake_options import BakeCommand
from verdigris.core.cli.shared.options import CommandApp
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import HostDocument
from verdigris.core.material.live_inputs.live_input import parse_all_wanted
from verdigris.core.settings.presets import PRESETS
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Decoder, encode
from verdigris.core.worker.session.job import Job
from verdigris.core.worker.session.opening import open_document
from verdigris.plugins.common.batch.arguments import BatchOptions, read_arguments
from verdigris.plugins.common.batch.materials import _command, bake_scene
from verdigris.ui.model.parts.choices import BakeChoices

from .core.material.documents import document, material, standard_surface

CLAY = document(standard_surface(), material(name="clay"))
ROUGH = "specular_roughness=0.1..0.9"
WEIGHTS = np.float32([[1, 2], [3, 4]])
# A value of every field, which is not the default: a new field has to be added.
VALUES = {
    "preset": "draft",
    "changes": {"resolution": 16, "draw": {"pairs": 4}},
    "directions": "grazing",
    "time_limit": 7.5,
    "target_error": 0.02,
    "target": "good",
    "live": parse_all_wanted([ROUGH]),
    "viewport_textures": True,
    "resume": True,
    "trainer": "numpy",
    "checkpoint_seconds": 3.0,
}


class CaughtError(VerdigrisError):
    """In place of the training."""


@dataclass
class Setup:
    """A request for the bake of a material, and where it is written."""

    folder: Path
    request: BakeRequest
    app: typer.Typer

    @property
    def file(self):
        return self.folder / "clay.mtlx"

    @property
    def out(self):
        return self.folder / "out"


def by_api(setup):
    given = {name: getattr(setup.request, name) for name in options_of(type(setup.request))}
    given["live"] = [*map(str, setup.request.live)]
    given["importance"] = np.load(setup.request.importance)
    given |= given.pop("changes")
    api.bake(api.load(setup.file), setup.out, device="software", **given)


def by_command(setup):
    run_words(setup, ["bake", setup.file, "--out", setup.out, *setup.request.as_words()])


def by_worker(setup):
    # hosts send the same, with what is painted and the live inputs of their scenes
    request = replace(setup.request, importance=None, live=None)
    opening = commands.Open.of(HostDocument("clay", CLAY, "clay", live=(ROUGH,)))
    teacher = open_document(commands.parse(sent(opening))).teacher
    start = commands.parse(sent(commands.Start(str(setup.out), request=request)))
    Job(teacher, start, np.load(setup.request.importance))


def by_scene(setup):
    request, asked = setup.request, setup.request.as_json()
    item = {
        option.in_scenes: asked[name]
        for name, option in options_of(type(request)).items()
        if option.in_scenes
    }
    scene = setup.folder / "scene.json"
    scene.write_text(json.dumps({"scene": 1, "sources": [{"source": "clay.mtlx", **item}]}))
    choices = Choices(device="software", checkpoint_seconds=request.checkpoint_seconds)
    plan = make_plan(read_scene(scene, SceneOptions(out=setup.out)), choices)
    (work,) = plan.works
    # bakes of a scene continue from what is there
    setup.out.mkdir()
    work.task.checkpoint.write_bytes(b"")
    run_task(Task.from_json(json.loads(json.dumps(work.task.as_json()))), lambda _: None)


def by_host(setup):
    own = {name for name, option in options_of(type(setup.request)).items() if option.in_hosts}
    given, rest = (
        replace(setup.request, **dict.fromkeys(names), **changes)
        for names, changes in (
            (set(options_of(type(setup.request))) - own - {"changes"}, {"changes": {}}),
            (own, {}),
        )
    )
    words = ["-o", setup.out, "--device", "software", "--force", *given.as_words()]
    words = map(str, [setup.file, *words, "--", *rest.as_words()])
    _, _, options = read_arguments("batch", list(words))
    bake_scene(
        FilesHost(setup.file), options,
        lambda command: run_words(setup, command[command.index("bake") :]),
    )  # fmt: skip


def by_ladder(setup):
    found = api.load(setup.file)
    device = open_device("software")
    bake_neural(found, found.require_material(), None, device, setup.out, setup.request)


WAYS = [by_api, by_command, by_worker, by_scene, by_host, by_ladder]


def run_words(setup, words):
    given = [*map(str, words[1:])]
    if "--device" not in given:
        given += ["--device", "software"]
    typer.main.get_command(setup.app).main(given, standalone_mode=False)


def sent(command):
    """A command as the worker reads it."""
    (message,) = Decoder().feed(encode(*commands.command_line(command)))
    return message


def command_app():
    app = CommandApp("verdigris", "")
    app.add("bake", cls=BakeCommand)(bake_command)
    return app


@pytest.fixture
def reach(tmp_path, monkeypatch):
    """What reaches the bake by a way in: recipe, options and teachers."""
    (tmp_path / "clay.mtlx").write_text(CLAY)
    np.save(tmp_path / "weights.npy", WEIGHTS)

    def caught_by(way, request):
        caught = []

        def catch(teachers, recipe, options, control=None):
            caught.append((recipe, options, teachers))
            raise CaughtError("caught")

        replace_everywhere(monkeypatch, bake.bake, catch)
        request = replace(request, importance=tmp_path / "weights.npy")
        # a host's batch goes on with its next material
        with contextlib.suppress(CaughtError):
            way(Setup(tmp_path, request, command_app()))
        (found,) = caught
        return found

    return caught_by


def replace_everywhere(monkeypatch, thing, other):
    """Replaces a function or class in all modules that have imported it."""
    modules = [each for name, each in sys.modules.items() if name.startswith("verdigris.")]
    for module in modules:
        for name in [name for name, value in vars(module).items() if value is thing]:
            monkeypatch.setattr(module, name, other)


def test_the_request_of_this_test_has_every_field():
    assert {*VALUES, "importance"} == {*options_of()}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_request_is_the_same_bake_by_every_way_in(way, reach):
    recipe, options, (teacher,) = reach(way, BakeRequest(**VALUES))
    # a draft on a CPU trains 2,500 steps, and half as many again with a live input
    wanted = {
        kind: replace(
            settings,
            iterations=round(1.5 * settings.iterations),
            resolution=16,
            size=replace(settings.size, tolerance=0.0),
            draw=replace(
                settings.draw, pairs=4, directions="grazing", direction_table=(), live_inputs=1
            ),
        )
        for kind, settings in PRESETS["numpy"]["draft"].by_kind.items()
    }
    assert recipe.by_kind == wanted
    assert [str(each.wanted) for each in teacher.live_inputs] == [f"{ROUGH}@0.2"]
    np.testing.assert_array_equal(options.importance, WEIGHTS)
    names = {each.name for each in fields(BakeOptions)} & {*VALUES}
    assert names == {*VALUES} - {"changes", "directions", "live"}
    for name in names:
        assert (name, getattr(options, name)) == (name, VALUES[name])
    assert options.folder.name == "out" and options.name == "clay"


@pytest.mark.parametrize("way", ["api", "command", "scene"])
def test_materials_that_share_a_decoder_train_as_long_by_every_way_in(way, tmp_path, monkeypatch):
    files = [tmp_path / f"{name}.mtlx" for name in ("clay", "slate", "wax")]
    for file in files:
        file.write_text(document(standard_surface(), material(name=file.stem)))
    caught = []

    def catch(teachers, recipe, options, control=None):
        caught.append((len(teachers), recipe.largest))
        raise CaughtError("caught")

    replace_everywhere(monkeypatch, bake.bake, catch)
    setup = Setup(tmp_path, BakeRequest(preset="standard"), command_app())
    with contextlib.suppress(CaughtError):
        if way == "api":
            api.bake(
                [api.load(file) for file in files], setup.out, preset="standard", device="software"
            )
        elif way == "command":
            run_words(setup, ["bake", *files, "--out", setup.out, "--preset", "standard"])
        else:
            rule = Rule(request=setup.request, group="all")
            scene = read_scene(tmp_path, SceneOptions(out=setup.out, rules=(rule,)))
            choices = Choices(device="software", grouping=Grouping.BY_HAND)
            (work,) = make_plan(scene, choices).works
            run_task(work.task, lambda _: None)
    ((count, settings),) = caught
    # half of the 20,000 steps of one, for each of the three, in a wide decoder
    assert (count, settings.network, settings.iterations) == (3, "3x64", 30_000)


def test_a_document_of_a_host_is_opened_with_all_that_it_says():
    found = HostDocument(
        "|scene|clay", CLAY, "clay", (Path("/textures"),), ("a note",), confined=True, live=(ROUGH,)
    )
    opening = commands.parse(sent(commands.Open.of(found, ["/more"])))
    assert opening == commands.Open(
        name="|scene|clay", search=("/textures", "/more"), confined=True, material="clay",
        live=(ROUGH,), payload=CLAY.encode(),
    )  # fmt: skip
    # notes and what can be converted are for people; the panel has its own choice of live inputs
    assert {each.name for each in fields(found)} == {
        *("name", "text", "material", "search", "notes", "convertible", "confined", "live")
    }
    assert commands.Open.of(found, live=()).live == ()
    words = _command(Path("clay.mtlx"), None, found, "clay", BatchOptions(), ["python"])
    assert " --confined --search /textures --live " in " ".join(words)


# An option that is added for a test


@dataclass(frozen=True, kw_only=True)
class Wider(BakeRequest):
    """A request with another option."""

    shine: float | None = field(
        default=None,
        metadata={
            "option": Option(POSITIVE, "--shine", "More of it.", in_scenes="shine", in_hosts=True)
        },
    )


@dataclass(frozen=True)
class WiderOptions(BakeOptions):
    """Options that the bake reads it from."""

    shine: float = 1.0


@dataclass(frozen=True)
class WiderWords(bake_options.RequestOptions):
    """The words of the command."""

    shine: Annotated[float | None, typer.Option()] = None


@pytest.mark.parametrize("way", WAYS)
def test_an_option_that_is_added_arrives_by_every_way_in(way, reach, monkeypatch):
    replace_everywhere(monkeypatch, BakeOptions, WiderOptions)
    replace_everywhere(monkeypatch, BakeRequest, Wider)
    replace_everywhere(monkeypatch, bake_options.RequestOptions, WiderWords)
    _, options, _ = reach(way, Wider(**VALUES, shine=2.5))
    assert options.shine == 2.5


def test_the_panel_asks_for_what_the_artist_has_chosen():
    # as widgets choose, and as panels before this one have stored it
    values = {
        "preset": "draft", "resolution": 64, "network": None, "seed": 0, "time_limit": 7.5,
        "target": "", "target_error": 0.0, "viewport_textures": True, "resume": False,
        "folder": "/scene/neural", "unknown": 3,
    }  # fmt: skip
    choices = BakeChoices().with_values(values)
    assert choices.request == BakeRequest(
        preset="draft", changes={"resolution": 64, "seed": 0}, time_limit=7.5,
        viewport_textures=True,
    )  # fmt: skip
    assert (choices.folder, choices.resolution, choices.network) == ("/scene/neural", 64, None)
    assert BakeChoices().with_values(choices.as_json()) == choices
    assert choices.with_values({"resolution": None}).request.changes == {"seed": 0}
    assert BakeChoices().request == BakeRequest()


# settings are chosen by their own names, and live inputs are opened with the material
@pytest.mark.parametrize("name", sorted({*VALUES, "shine"} - {"changes", "live"}))
def test_an_option_that_is_added_can_be_chosen_in_the_panel(name, monkeypatch):
    replace_everywhere(monkeypatch, BakeRequest, Wider)
    value = {**VALUES, "shine": 2.5}[name]
    choices = BakeChoices(Wider()).with_values({name: value})
    start = commands.parse(sent(commands.Start("/out", request=choices.request)))
    assert getattr(start.request, name) == getattr(choices, name) == value


def test_a_request_lies_over_another_one_field_by_field():
    base = BakeRequest(preset="draft", target="good", changes={"seed": 1, "draw": {"pairs": 2}})
    over = BakeRequest(preset="", time_limit=3.0, changes={"draw": {"repeats": 2}})
    assert over.over(base) == BakeRequest(
        preset="", target="good", time_limit=3.0,
        changes={"seed": 1, "draw": {"pairs": 2, "repeats": 2}},
    )  # fmt: skip
    assert BakeRequest().over(base) == base
    assert over.over(base).without_empty().preset is None


def test_json_of_a_request_is_read_as_the_same_request():
    request = BakeRequest(**VALUES, importance="weights.npy")
    assert BakeRequest.from_json(found_in(request.as_json())) == request


def found_in(values):
    return Fields("scene.json", "rules[0]", json.loads(json.dumps(values)), SceneError)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"preset": "best"}, "scene.json: rules[0]: preset 'best' is not known: use one of draft"),
        ({"preset": 3}, "scene.json: rules[0].preset is 3: it must be a text"),
        ({"changes": {"zeal": 1}}, "rules[0]: settings: 'zeal' is not known: use one of activ"),
        ({"time_limit": 0}, "rules[0].time_limit is 0: it must be a number above 0"),
        ({"target": "fine"}, "rules[0]: target 'fine' is not known: use one of good"),
        ({"trainer": "abacus"}, "rules[0]: trainer 'abacus' is not known: use one of tensor"),
        ({"live": "wetness"}, "rules[0]: live input 'wetness': use NAME=LOW..HIGH"),
        ({"resume": 1}, "rules[0].resume is 1: it must be true or false"),
    ],
)
def test_a_value_that_no_bake_can_have_is_refused_by_its_field(values, message):
    with pytest.raises(VerdigrisError) as refused:
        BakeRequest.from_json(found_in(values))
    assert message in str(refused.value)
