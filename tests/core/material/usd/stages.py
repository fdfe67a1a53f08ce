"""Materials of stages as documents."""

from pathlib import Path

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.usd.usdshade import convert_material, require_material

DATA = Path(__file__).parent / "data"
# Between two teachers of one material.
SAME = 1e-4


def converted(stage, path):
    found = convert_material(require_material(stage, path))
    loaded = parse_document(found.text, found.folders, found.name)
    valid, message = loaded.root.validate()
    assert valid, message
    loaded.check(loaded.require_material(found.name))
    return found, loaded
