"""Nodes that inherit from others, and looks."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from .documents import document, material, standard_surface
from .surfaces import glow, probe, write_image

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
