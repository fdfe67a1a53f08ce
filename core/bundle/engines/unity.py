"""What a bundle adds to the package for Unity: the material, and the shader of its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.text import version
from verdigris.core.bundle.engines.container import SUFFIX, make_container
from verdigris.core.bundle.engines.decoder_text import decoder_text
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
    """NAME.verdigris, and shader and include that materials with this architecture share."""
    data, numbers, shader = make_container(bundle)
    words = {
        "SHADER": shader,
        "VERSION": version(),
        "DECODER": decoder_text(bundle.spec, numbers.places, is_hlsl=True),
        **_STATES[bundle.manifest.opacity is not None],
    }
    files = {f"Assets/{name}{SUFFIX}": data}
    for template, suffix in (("unity_material.shader", ".shader"), ("unity_decoder.hlsl", ".hlsl")):
        text = (_FOLDER / template).read_text("utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        files[f"{_PACKAGE}{shader}{suffix}"] = text.encode()
    return files
