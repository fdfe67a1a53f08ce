"""Documents and bundles for tests of scenes: bundles hold untrained numbers, and say of their
sources what a bake would."""

from __future__ import annotations

import json
from unittest.mock import patch

from verdigris.core.base.text import version
from verdigris.core.batch.scene.scene import SceneOptions, read_scene
from verdigris.core.bundle.files import write
from verdigris.core.bundle.files.reference import Reference, encode_reference, make_reference
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.presets import Kind

ONE = """<standard_surface name="SR_{name}" type="surfaceshader">
<input name="base_color" type="color3" value="{colour}"/>
<input name="specular_roughness" type="float" value="0.5"/>{more}</standard_surface>
<surfacematerial name="{name}" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="SR_{name}"/></surfacematerial>
"""
IMAGE = '<input name="base" type="float" nodename="T_{name}"/>'
IMAGE_NODE = """<image name="T_{name}" type="float">
<input name="file" type="filename" value="{file}"/></image>
"""


def document(*names, colour="0.7, 0.3, 0.1", file=""):
    """MaterialX of plain materials of these names, which read an image if one is named."""
    parts = []
    for name in names:
        more = IMAGE.format(name=name) if file else ""
        parts.append(IMAGE_NODE.format(name=name, file=file) if file else "")
        parts.append(ONE.format(name=name, colour=colour, more=more))
    return f'<materialx version="1.39">\n{"".join(parts)}</materialx>\n'


def write_documents(folder, *names, **options):
    """A document for each name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.mtlx").write_text(document(name, **options))
    return folder


def write_scene(path, sources, **fields):
    path.write_text(json.dumps({"scene": 1, "sources": sources, **fields}))
    return path


_NUMBERS = export_numbers(initialise(NetworkSpec(hidden_width=8), LatentLayout(8, 8, 4), 1))
_ROWS = make_reference(_NUMBERS.parameters)
_REFERENCE = Reference(
    *(each[::2] for each in (_ROWS.uv, _ROWS.lod, _ROWS.wi, _ROWS.wo, _ROWS.exported))
)
# The same for all of them, and most of the time that a bundle takes to write.
_ENCODED = encode_reference(_REFERENCE)


def baked_settings(entry, trainer="numpy", kind=Kind.DETAILED, materials=1):
    """The settings of a bake as its bundle has them."""
    return as_read(entry.request.recipe(trainer, materials)[kind])


def write_baked(planned, trainer="numpy", log_mae=0.01, kind=Kind.DETAILED, **changes):
    """Writes the bundle that a bake of this material would, with other numbers in it."""
    entry, wanted = planned.entry, planned.inputs
    size = wanted.asked.get("group", {}).get("size", 1)
    source = {
        "material": wanted.material,
        **wanted.sources,
        "verdigris": version(),
        "kind": kind.value,
        "settings": baked_settings(entry, trainer, kind, size),
        "trainer": trainer,
        "step": 100,
        "seconds": 1.0,
        "stopped_by": "steps",
        **({"importance_sha256": "0"} if "importance" in wanted.asked else {}),
        **({"asked": dict(wanted.asked)} if wanted.asked else {}),
        **({"live": list(wanted.live)} if wanted.live else {}),
        **changes,
    }
    planned.bundle.parent.mkdir(parents=True, exist_ok=True)
    errors = {"samples": {"log_mae": log_mae, "smape": 0.1}}
    contents = Contents(entry.name, source=source, errors=errors, reference=_REFERENCE)
    with patch.object(write, "encode_reference", return_value=_ENCODED):
        return write.write_bundle(planned.bundle, _NUMBERS, contents)


def read(path, **asked):
    return read_scene(path, SceneOptions(**asked))
