"""What a bundle adds to the package for Unity: the material, and the shader of its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.text import version
from verdigris.core.bundle.engines.container import SUFFIX, make_container
from verdigris.core.bundle.engines.decoder_text import as_hlsl, decoder_text, sides_text
from verdigris.core.bundle.engines.passing import Passing, conditions
from verdigris.core.bundle.shader_templates import PLAIN, RELIEF, THIN, fill, relief_text
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

_FOLDER = SHADER_FOLDER / "bundle" / "engines"
_PACKAGE = "Packages/com.verdigris.material/Shaders/"
# Responses contain the coverage already.
_STATES = {
    False: {"RENDER_TYPE": "Opaque", "QUEUE": "Geometry", "BLEND": "ZWrite On"},
    True: {
        "RENDER_TYPE": "Transparent",
        "QUEUE": "Transparent",
        "BLEND": "Blend One OneMinusSrcAlpha ZWrite Off",
    },
}


def unity_files(bundle: Bundle, name: str) -> dict[str, bytes]:
    """NAME.verdigris, and shader and includes that materials with this architecture share."""
    passing = Passing.of(bundle)
    data, numbers, shader = make_container(bundle, passing)
    having = conditions(bundle, passing)
    words = {
        "SHADER": shader,
        "VERSION": version(),
        "DECODER": decoder_text(bundle.spec, numbers.places, is_hlsl=True),
        "SIDES": sides_text(numbers.places, is_hlsl=True),
        # a thin wall is seen from both sides
        "CULL": "0" if THIN in having else "2",
        **_STATES[bundle.manifest.opacity is not None],
    }
    templates = {"unity_material.shader": ".shader", "unity_decoder.hlsl": ".hlsl"}
    files = {f"Assets/{name}{SUFFIX}": data}
    for template, suffix in templates.items():
        text = fill((_FOLDER / template).read_text("utf-8"), words, having or [PLAIN])
        files[f"{_PACKAGE}{shader}{suffix}"] = text.encode()
    if having:
        files[f"{_PACKAGE}{shader}_urp.hlsl"] = _passes(having).encode()
    return files


def _passes(having: list[str]) -> str:
    """The passes of a surface that transmits or has relief, in place of the package's."""
    words = {
        "RELIEF": as_hlsl(relief_text()),
        "BEHIND": (_FOLDER / "behind.hlsl").read_text("utf-8"),
        "SEEN": "seen, " if RELIEF in having else "",
    }
    passes = (_FOLDER / "unity" / _PACKAGE / "NeuralUrp.hlsl").read_text("utf-8")
    surface = (_FOLDER / "unity_surface.hlsl").read_text("utf-8")
    return fill(surface + passes, words, having)
