"""Presets: recipes with settings for every kind of material, and for those that share a decoder."""

from dataclasses import replace

import pytest

from verdigris.core import api
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SettingsError
from verdigris.core.settings import presets
from verdigris.core.settings.bake_settings import BakeSettings, as_read
from verdigris.core.settings.changes import check_changes
from verdigris.core.settings.presets import PRESETS, Kind, Recipe, default_preset, require_recipe

from ..in_process import run_command

EVERY_PRESET = [
    pytest.param(recipe, id=f"{trainer}-{name}")
    for trainer, recipes in PRESETS.items()
    for name, recipe in recipes.items()
]


def test_there_are_three_presets_for_each_trainer():
    assert {trainer: set(recipes) for trainer, recipes in PRESETS.items()} == {
        trainer: {"draft", "standard", "final"} for trainer in ("tensor", "numpy")
    }


@pytest.mark.parametrize("recipe", EVERY_PRESET)
def test_a_preset_has_settings_for_every_kind(recipe):
    assert set(recipe.by_kind) == set(Kind)
    assert not recipe.is_one_for_all
    assert recipe.largest == recipe[Kind.DETAILED]


@pytest.mark.parametrize("recipe", EVERY_PRESET)
def test_a_constant_material_has_few_texels_one_start_and_few_steps(recipe):
    constant, detailed = recipe[Kind.CONSTANT], recipe[Kind.DETAILED]
    assert (constant.resolution, constant.starts, constant.has_two_stages) == (16, 1, False)
    assert constant.draw.finest_places == 1
    shares = {"tensor": (0.6, 0.16), "numpy": (1, 1 / 3)}
    # a draft is too short to become much shorter
    of_draft, of_others = next(shares[name] for name in shares if recipe in PRESETS[name].values())
    share = of_draft if recipe in (each["draft"] for each in PRESETS.values()) else of_others
    assert constant.iterations == round(share * detailed.iterations)


@pytest.mark.parametrize("recipe", EVERY_PRESET)
def test_kinds_differ_in_how_places_are_sampled(recipe):
    detailed = recipe[Kind.DETAILED]
    smooth, dense = recipe[Kind.SMOOTH], recipe[Kind.DENSE]
    assert smooth == replace(detailed, draw=replace(detailed.draw, finest_places=2))
    assert detailed.draw.finest_places > 2
    width = dense.draw.finest_width
    assert dense == replace(detailed, draw=replace(detailed.draw, finest_width=width))
    assert width >= detailed.draw.finest_width


def test_a_change_applies_to_every_kind_and_to_nothing_else():
    recipe = PRESETS["numpy"]["standard"]
    changes = {"resolution": 64, "iterations": 50, "draw": {"finest_places": 3}}
    found = recipe.changed(changes)
    for kind in Kind:
        assert found[kind] == recipe[kind].changed(changes)
        assert found[kind].resolution == 64 and found[kind].iterations == 50
        assert found[kind].draw.finest_places == 3


def test_plain_settings_apply_to_every_kind():
    settings = BakeSettings(seed=4)
    recipe = Recipe.of(settings)
    assert recipe.is_one_for_all
    assert all(recipe[kind] == settings for kind in Kind)
    assert Recipe.of(recipe) is recipe


@pytest.mark.parametrize("recipe", EVERY_PRESET)
def test_equal_recipes_have_the_same_text_and_others_another(recipe):
    again = Recipe({kind: BakeSettings.from_json(as_read(recipe[kind])) for kind in Kind})
    assert again == recipe and again.text() == recipe.text()
    assert recipe.changed({"seed": 9}).text() != recipe.text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"zeal": 1}, "zeal"),
        ({"iterations": "many"}, "iterations"),
        ({"draw": {"pairs": "two"}}, r"draw\.pairs"),
        ({"draw": 3}, "draw"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_an_invalid_change_is_refused_by_name(changes, message):
    with pytest.raises(SettingsError, match=message):
        check_changes(changes)


WALL = """<materialx version="1.39"><surface name="a" type="surfaceshader"/>
  <surfacematerial name="{0}" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="a"/></surfacematerial>
</materialx>"""
TINY = {"resolution": 4, "iterations": 2, "batch": 64}


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match="preset 'best' is not known: use one of draft, stand"):
        require_recipe("best", "numpy")
    with pytest.raises(SettingsError, match="trainer 'abacus' is not known: use one of tensor, nu"):
        require_recipe("draft", "abacus")


def test_a_processor_bakes_drafts_by_default():
    assert (default_preset("numpy"), default_preset("tensor")) == ("draft", "standard")


@pytest.mark.parametrize(("trainer", "steps"), [("tensor", 31_000), ("numpy", 10_000)])
def test_several_materials_share_a_wide_decoder_by_standard(trainer, steps):
    several, alone = (require_recipe("standard", trainer, count) for count in (4, 1))
    assert (several.largest.network, several.largest.iterations) == ("3x64", steps)
    for kind in Kind:
        undone = {
            name: getattr(alone[kind], name)
            for name in ("network", "iterations", "decoder_rate", "draw")
        }
        assert several[kind].changed(undone) == alone[kind]
        assert several[kind].iterations == alone[kind].iterations // 2
        # each of them has fewer samples of its own
        assert several[kind].draw.repeats <= 2
        assert replace(several[kind].draw, repeats=1) == replace(alone[kind].draw, repeats=1)
    for preset in ("draft", "final"):
        assert require_recipe(preset, trainer, 4) == require_recipe(preset, trainer)


def test_materials_that_share_have_the_steps_of_each():
    request = BakeRequest(preset="standard")
    assert request.recipe("tensor").largest.iterations == 62_000
    together = request.recipe("tensor", 4).largest
    assert (together.network, together.iterations) == ("3x64", 124_000)
    numbered = BakeRequest(preset="standard", changes={"iterations": 500, "network": "2x16"})
    together = numbered.recipe("tensor", 3).largest
    assert (together.network, together.iterations) == ("2x16", 1_500)
    assert BakeRequest(preset="draft").recipe("numpy", 3).largest.iterations == 7_500


@pytest.fixture
def walls(tmp_path, monkeypatch, small_endings):
    """Documents, where standard bakes of several on a processor have another decoder."""
    narrow = PRESETS["numpy"]["standard"].changed({"network": "2x16"})
    monkeypatch.setitem(presets._SHARED, "numpy", narrow)
    files = [tmp_path / "brick.mtlx", tmp_path / "slate.mtlx"]
    for file in files:
        file.write_text(WALL.format(file.stem))
    return files


def networks(folder):
    bundles = [api.open_bundle(file) for file in folder.glob("*.vdg")]
    return [bundle.manifest.source["settings"]["network"] for bundle in bundles]


@pytest.mark.parametrize("way", ["api", "command"])
def test_api_and_command_choose_the_preset_by_the_number_of_materials(walls, tmp_path, way):
    def bake(files, out):
        if way == "api":
            documents = [api.load(file) for file in files]
            list(api.bake(documents, out, preset="standard", device="software", **TINY))
        else:
            options = [text for field in TINY.items() for text in ("--set", "{}={}".format(*field))]
            where = ("--device", "software", "--preset", "standard", "-o", out, "-q")
            code, _, errors = run_command(("bake", *files, *options, *where))
            assert not code, errors
        return networks(out)

    assert bake(walls[:1], tmp_path / "alone") == ["2x32"]
    assert bake(walls, tmp_path / "both") == ["2x16", "2x16"]


def test_bakes_of_all_presets_choose_their_size_but_for_constant_materials():
    for recipes in PRESETS.values():
        for recipe in recipes.values():
            assert {kind: settings.size.is_open for kind, settings in recipe.by_kind.items()} == {
                kind: kind is not Kind.CONSTANT for kind in Kind
            }
            # a resolution that is named is kept, unless a size is named with it
            assert not recipe.changed({"resolution": 64}).largest.size.is_open
            few = {"resolution": 64, "size": {"latent_channels": 4}}
            assert not recipe.changed(few).largest.size.is_open
            assert recipe.changed(few).largest.spec.latent_channels == 4
            assert recipe.largest.spec.latent_channels == 8
            both = {"resolution": 64, "size": {"most_bytes": 9_000}}
            assert recipe.changed(both).largest.size.most_bytes == 9_000


def test_long_bakes_on_a_card_train_samples_again_but_for_constant_materials():
    standard = require_recipe("standard", "tensor")
    repeats = {kind: settings.draw.repeats for kind, settings in standard.by_kind.items()}
    assert repeats == {kind: 1 if kind is Kind.CONSTANT else 4 for kind in Kind}
    # what moves has more to learn
    assert presets.for_live_inputs(standard, 1).largest.draw.repeats == 2
