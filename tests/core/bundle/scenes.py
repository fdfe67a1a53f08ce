"""Values for scene packs, and changed copies of them."""

import json
import shutil

from verdigris.core.bundle.files.arithmetic import Arithmetic
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.network.spec import LatentLayout

WIDE = LatentLayout(16, 2, 5)
TAME = Arithmetic("cooperative", {"cooperative": 0.004, "careful": 0.003})
LOOSE = Bounds(relative=0.02, floor=0.1, absolute=0.001)


def damaged_copy(scene, tmp_path, path, value, forget=None):
    """A copy of a scene that has `value` at the path in its manifest, or what is there without the
    key `forget`."""
    copy = tmp_path / "damaged.vdg"
    shutil.copytree(scene.folder, copy)
    document = json.loads((copy / "manifest.json").read_text())
    *way, last = path
    place = document
    for step in way:
        place = place[step]
    if forget:
        del place[last][forget]
    else:
        place[last] = value
    (copy / "manifest.json").write_text(json.dumps(document))
    return copy
