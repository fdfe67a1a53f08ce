"""Images of one surface under many lights, written from known BRDFs, are read back."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError, VerdigrisError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import write_image

UP = (0.0, 0.0, 1.0)


def hemisphere(count, least=0.3):
    """Directions in a spiral."""
    place = (np.arange(count) + 0.5) / count
    z = least + (1 - least) * place
    turn = np.arange(count) * np.pi * (3 - np.sqrt(5))
    side = np.sqrt(1 - z**2)
    return np.stack([side * np.cos(turn), side * np.sin(turn), z], 1)


def write(folder, entries, brdf, colours, **more):
    """One image for each pair of directions: `brdf` times the cosine, with colours by place."""
    folder.mkdir()
    lights = []
    for number, (light, view) in enumerate(entries):
        values = brdf(np.array(light), np.array(view)) * light[2] * colours
        stored = np.where(values < 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
        write_image(folder / f"{number}.png", np.uint16(np.round(stored[::-1] * 65535)))
        lights.append({"file": f"{number}.png", "light": [*light], "view": [*view]})
    (folder / "lights.json").write_text(json.dumps({"lights": lights, **more}))
    return folder / "lights.json"


def evaluate(file, uv, wi, wo):
    given = (np.array(each, np.float32) for each in (uv, wi, wo))
    return Teacher(load_document(file, confined=True)).response(*given)


def test_images_of_one_view_give_a_lambert_surface_exactly(tmp_path):
    colours = np.array([[[0.9, 0.5, 0.2], [0.1, 0.6, 0.3]], [[0.2, 0.2, 0.8], [0.5, 0.5, 0.5]]])
    lights = [(light, UP) for light in hemisphere(12)]
    file = write(tmp_path / "felt", lights, lambda light, view: 1 / np.pi, colours)
    document = load_document(file)
    assert document.require_material().name == "felt"
    wi, wo = hemisphere(7, 0.2), hemisphere(7, 0.1)[::-1]
    # the middle of a texel: row 0 is at v = 0
    found = evaluate(file, [[0.75, 0.25]] * 7, wi, wo)
    np.testing.assert_allclose(found, colours[0, 1] / np.pi * wi[:, 2:], rtol=2e-3)
    between = evaluate(file, [[0.5, 0.5]], [UP], [UP])
    np.testing.assert_allclose(between[0], colours.mean((0, 1)) / np.pi, rtol=2e-3)
    before = source_facts(document, document.require_material())
    write_image(file.parent / "3.png", np.zeros((2, 2, 3), np.uint16))
    document = load_document(file)
    facts = source_facts(document, document.require_material())
    assert changed_sources(before, facts) == ["lights.json has changed"]


def test_images_of_many_views_are_met_and_directions_may_be_exchanged(tmp_path):
    def phong(light, view):
        return 0.1 + 0.2 * max(0.0, float(light @ (view * (-1, -1, 1)))) ** 6

    views = hemisphere(6, 0.5)
    pairs = [(light, view) for light in hemisphere(40) for view in views]
    file = write(tmp_path / "foil", pairs, phong, np.full((1, 1, 3), 0.8))
    wi, wo = map(np.array, zip(*pairs[::7], strict=True))
    expected = 0.8 * np.array([phong(*each) for each in pairs[::7]])
    uv = np.zeros((len(wi), 2))
    found = evaluate(file, uv, wi, wo)[:, 0]
    np.testing.assert_allclose(found, expected * wi[:, 2], rtol=2e-3)
    exchanged = evaluate(file, uv, wo, wi)[:, 0]
    np.testing.assert_allclose(exchanged / wo[:, 2], found / wi[:, 2], rtol=2e-3)
    # between images
    wi = hemisphere(60, 0.5) + 0.05
    wi /= np.linalg.norm(wi, axis=1, keepdims=True)
    wo = np.repeat(views[2:3], 60, 0)
    expected = 0.8 * np.array([phong(*each) for each in zip(wi, wo, strict=True)])
    found = evaluate(file, np.zeros((60, 2)), wi, wo)[:, 0] / wi[:, 2]
    assert np.abs(found / expected - 1).mean() < 0.1


def test_faults_name_the_file_and_the_light(tmp_path):
    lights = [(light, UP) for light in hemisphere(3)]
    file = write(tmp_path / "a", lights, lambda light, view: 0.3, np.ones((1, 1, 3)))
    whole = json.loads(file.read_text())
    for change, expected in (
        ({"lights": []}, "has 0 lights: name 2 to"),
        ({"lights": [1]}, "must be a list of objects"),
        ({"lamps": 1}, "'lamps' is not known"),
        ({"colour_space": "mud"}, "colour_space is 'mud'"),
        ({"light": [0, 0, -1]}, r"lights\[1\]: light \[.*\] is not above the surface"),
        ({"light": [0, 1]}, r"lights\[1\].light"),
        ({"file": "gone.png"}, r"lights\[1\]: .*gone\.png"),
        ({"file": "../b.png"}, r"lights\[1\]: .*outside of the allowed folders"),
        ({"intensity": 0}, "intensity 0 is not above 0"),
    ):
        text = json.loads(json.dumps(whole))
        (text if "lights" in change or "lamps" in change else text["lights"][1]).update(change)
        if "colour_space" in change:
            text = {**whole, **change}
        file.write_text(json.dumps(text))
        write_image(tmp_path / "b.png", np.zeros((1, 1, 3), np.uint8))
        with pytest.raises(VerdigrisError, match=expected):
            Teacher(load_document(file))
    file.write_text(json.dumps(whole))
    write_image(file.parent / "1.png", np.zeros((2, 1, 3), np.uint8))
    with pytest.raises(DocumentError, match="is 1 x 2 texels, and the first image 1 x 1"):
        load_document(file)
