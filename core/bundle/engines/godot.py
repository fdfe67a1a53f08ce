"""What a bundle adds to the add-on for Godot 4: the material, and the shader of its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.text import version
from verdigris.core.bundle.engines.container import NUMBERS_WIDTH, SUFFIX, make_container
from verdigris.core.bundle.engines.decoder_text import decoder_text
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

_SHADER = SHADER_FOLDER / "bundle" / "engines" / "godot_material.gdshader"
_ALPHA = "    ALPHA = textureLod(neural_opacity, uv, max(lod, 0.0)).r;\n"


def godot_files(bundle: Bundle, name: str) -> dict[str, bytes]:
    """NAME.verdigris, and the shader that materials with this architecture share."""
    data, numbers, shader = make_container(bundle)
    spec = bundle.spec
    is_blended = bundle.manifest.opacity is not None
    words = {
        "SHADER": shader,
        "VERSION": version(),
        # responses contain the coverage already
        "RENDER_MODE": "blend_premul_alpha" if is_blended else "blend_mix",
        "FRAMES": spec.frame_count,
        "WIDTH": -(-spec.hidden_width // 4),
        "NUMBERS_MASK": NUMBERS_WIDTH - 1,
        "NUMBERS_SHIFT": NUMBERS_WIDTH.bit_length() - 1,
        "DECODER": decoder_text(spec, numbers.places),
        "ALPHA": _ALPHA if is_blended else "",
    }
    text = _SHADER.read_text("utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return {name + SUFFIX: data, f"addons/verdigris/shaders/{shader}.gdshader": text.encode()}
