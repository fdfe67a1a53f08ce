"""What a bundle adds to the add-on for Godot 4: the material, and the shader of its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.text import version
from verdigris.core.bundle.engines.container import NUMBERS_WIDTH, SUFFIX, make_container
from verdigris.core.bundle.engines.decoder_text import BELOW, decoder_text
from verdigris.core.bundle.engines.passing import Passing, conditions
from verdigris.core.bundle.shader_templates import LEAF, RELIEF, THIN, fill, relief_text
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

_FOLDER = SHADER_FOLDER / "bundle" / "engines"
_SHADERS = "addons/verdigris/shaders/"
_ALPHA = "    ALPHA = textureLod(neural_opacity, uv, max(lod, 0.0)).r;\n"


def godot_files(bundle: Bundle, name: str) -> dict[str, bytes]:
    """NAME.verdigris, and the shader that materials with this architecture share."""
    passing = Passing.of(bundle)
    data, numbers, shader = make_container(bundle, passing)
    spec, having = bundle.spec, conditions(bundle, passing)
    is_blended, is_thin = bundle.manifest.opacity is not None, THIN in having
    frames, width, count = spec.frame_count, -(-spec.hidden_width // 4), 1 + is_thin
    # responses contain the coverage already
    mode = "blend_premul_alpha" if is_blended else "blend_mix"
    words = {
        "SHADER": shader,
        "VERSION": version(),
        # a thin wall is seen from both sides
        "RENDER_MODE": mode + (", cull_disabled" if is_thin else ""),
        "FRAMES": frames,
        "WIDTH": width,
        "ALL_FRAMES": count * frames,
        "ALL_WIDTH": count * width,
        "AT_FRAMES": "at" if is_thin else "k",
        "LIT": " * lit" if RELIEF in having else "",
        "BELOW": numbers.places.get(BELOW, 0),
        "NUMBERS_MASK": NUMBERS_WIDTH - 1,
        "NUMBERS_SHIFT": NUMBERS_WIDTH.bit_length() - 1,
        "DECODER": decoder_text(spec, numbers.places),
        "RELIEF": relief_text(),
        "ALPHA": _ALPHA if is_blended else "",
    }
    text = fill((_FOLDER / "godot_material.gdshader").read_text("utf-8"), words, having)
    files = {name + SUFFIX: data, f"{_SHADERS}{shader}.gdshader": text.encode()}
    if LEAF in having:
        behind = fill(
            (_FOLDER / "godot_behind.gdshader").read_text("utf-8"), {"VERSION": version()}
        )
        files[f"{_SHADERS}neural_behind.gdshader"] = behind.encode()
    return files
