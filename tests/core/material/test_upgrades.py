"""Documents of earlier versions give what they gave then."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import glow, node, surface_material

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
