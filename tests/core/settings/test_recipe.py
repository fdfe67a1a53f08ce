"""Recipes: settings by kind of material."""

import json
from dataclasses import replace

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.changes import check_changes
from verdigris.core.settings.presets import PRESETS
from verdigris.core.settings.recipe import Kind, Recipe

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
def test_json_gives_the_same_recipe_again(recipe):
    read = json.loads(json.dumps(recipe.to_json()))
    assert Recipe.from_json(read) == recipe
    assert Recipe.from_json(read).text() == recipe.text()
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
