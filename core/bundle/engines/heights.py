"""The height map of a bundle as a picture, for applications that tessellate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.effect_images import encode_heights

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle


def height_files(bundle: Bundle, name: str) -> dict[str, bytes]:
    """NAME_height.png with 16 bits, whose first row is at v = 1, and its numbers in
    NAME_height.json. Nothing for a bundle without displacement."""
    heights = bundle.relief()
    if heights is None:
        return {}
    stored = np.rint(heights.stored()[::-1] * 65535).astype(np.uint16)
    facts = {
        "file": f"{name}_height.png",
        "height": "scale * (value - midlevel), in world units along the normal; value from 0 to 1",
        "scale": heights.scale,
        "midlevel": heights.midlevel,
    }
    text = json.dumps(facts, indent=1) + "\n"
    return {f"{name}_height.png": encode_heights(stored), f"{name}_height.json": text.encode()}
