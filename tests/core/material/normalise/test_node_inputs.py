"""Inherited inputs, and documents of earlier versions."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, standard_surface
from ..surfaces import glow, node, probe, surface_material, write_image

PLACE = [[0.5, 0.25]]


def given(base, heir, **options):
    """What the node `heir` gives, which inherits from `base`."""
    return glow(Teacher(probe(base + heir, "heir", **options)), PLACE)[0]


def test_an_heir_is_connected_to_what_the_other_is():
    base = '<add name="base" type="color3"><input name="in1" type="color3" nodename="uv_colour"/>'
    base += '<input name="in2" type="color3" value="1, 1, 1"/></add>'
    own = '<input name="in2" type="color3" value="2, 2, 2"/>'
    heir = f'<add name="heir" type="color3" inherit="base">{own}</add>'
    np.testing.assert_allclose(given(base, heir), [2.5, 2.25, 2.25], rtol=1e-6)


def test_an_inherited_file_and_an_inherited_value_keep_their_colour_space(tmp_path):
    write_image(tmp_path / "grey.png", np.full((2, 2, 3), 128, np.uint8))
    for kind, port in (
        ("constant", f'name="value" type="color3" value="{", ".join(3 * [str(128 / 255)])}"'),
        ("image", 'name="file" type="filename" value="grey.png"'),
    ):
        base = f'<input {port} colorspace="srgb_texture"/>'
        base = f'<{kind} name="base" type="color3">{base}</{kind}>'
        heir = f'<{kind} name="heir" type="color3" inherit="base"/>'
        linear = ((128 / 255 + 0.055) / 1.055) ** 2.4
        found = given(base, heir, search_paths=[tmp_path])
        np.testing.assert_allclose(found, linear, rtol=1e-5, err_msg=kind)


def test_an_inherited_connection_to_nothing_is_refused():
    base = '<dot name="base" type="color3"><input name="in" type="color3" nodename="gone"/></dot>'
    with pytest.raises(DocumentError, match="'heir', input 'in': is connected to 'gone'"):
        given(base, '<dot name="heir" type="color3" inherit="base"/>')


@pytest.mark.parametrize("kind", ["look", 'image type="color3"'])
@pytest.mark.parametrize("names", ["ab", "a"])
def test_what_inherits_from_itself_is_refused(kind, names):
    heirs = (f'<{kind} name="{name}" inherit="{names[at - 1]}"/>' for at, name in enumerate(names))
    with pytest.raises(DocumentError, match="MaterialX cannot read it: Encountered cycle"):
        parse_document(document(*heirs, standard_surface(), material()))


SOURCE = (0.1, 0.2, 0.3, 0.4)
GLOW = (
    node("uniform_edf", "edf", "EDF", {"color": ("color3", "@swizzled")})
    + node("surface", "surf", "surfaceshader", {"edf": ("EDF", "@edf")})
    + surface_material("surf")
)


@pytest.mark.parametrize("kind", ["color3", "color4", "vector3", "vector4"])
@pytest.mark.parametrize("channels", ["bgr", "zyx", "rrg", "xxy", "z0y"])
def test_channels_of_swizzles_have_the_letters_of_colours_or_of_vectors(kind, channels):
    value = ", ".join(map(str, SOURCE[: int(kind[-1])]))
    inputs = {"in": (kind, "@source"), "channels": ("string", channels)}
    text = (
        node("constant", "source", kind, {"value": (kind, value)})
        + node("swizzle", "swizzled", "color3", inputs)
        + GLOW
    )
    made = parse_document(f'<materialx version="1.38">{text}</materialx>')
    by_letter = {"0": 0.0, **dict(zip("rgba", SOURCE, strict=True))}
    by_letter.update(zip("xyzw", SOURCE, strict=True))
    expected = [by_letter[letter] for letter in channels]
    np.testing.assert_allclose(glow(Teacher(made), [[0.5, 0.5]])[0], expected, atol=1e-6)
