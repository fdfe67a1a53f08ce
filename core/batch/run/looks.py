"""The layers with which the USD stages of a scene show its bakes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.batch.plan.plan import Plan, bundle_of
from verdigris.core.hosts.look_layer import (
    LAYER_SUFFIX,
    StageLook,
    look_of,
    write_looks,
    write_stage_with_looks,
)
from verdigris.core.material.usd.open_stage import open_stage

_STAGE_SUFFIX = ".baked.usda"


def write_looks_of(plan: Plan) -> Iterator[str]:
    """Writes for each stage of a scene the layer with the looks that are baked, and a stage that
    shows them. Yields lines that name the files, and what they leave out."""
    looks: dict[str, dict[str, StageLook]] = {}
    for each in plan.materials:
        bundle = bundle_of(each.entry, plan.scene.out)
        if each.entry.stage and (bundle / MANIFEST_FILE).is_file():
            found = dict.fromkeys(each.entry.prims, look_of(bundle))
            looks.setdefault(each.entry.stage, {}).update(found)
    taken: set[str] = set()
    for name, of_stage in looks.items():
        stage, out = Path(name), plan.scene.out
        stem, number = stage.stem, 2
        while stem.lower() in taken:
            stem, number = f"{stage.stem}-{number}", number + 1
        taken.add(stem.lower())
        layer, shown = out / f"{stem}{LAYER_SUFFIX}", out / f"{stem}{_STAGE_SUFFIX}"
        try:
            notes = write_looks(open_stage(stage).stage, of_stage, layer)
            write_stage_with_looks(stage, layer, shown)
        except VerdigrisError as failure:
            yield f"looks: not written: {failure}"
            continue
        bundles = {look.bundle: bool(look.textures) for look in of_stage.values()}
        plain = len(bundles) - sum(bundles.values())
        hint = ""
        if plain:
            hint = (
                f"; {plain} of {len(bundles)} bakes have no plain textures to show: add "
                "--viewport-textures"
            )
        yield f"looks: {shown}, from the layer {layer.name}{hint}"
        yield from (f"looks: {note}" for note in notes)
