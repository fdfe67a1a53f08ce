"""What scenes show of a ladder, from its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError, reason
from verdigris.core.hosts.host import BakedResult, LadderLook, RungLook, ShaderLook, ShaderTexture
from verdigris.core.settings.rung_names import NEURAL, PBR, REFLECTION, UNLIT

FORMAT = "verdigris.ladder"
# Keys of an entry of the report.
SCENE_TEXTURES, SCENE_VERTICES, SCENE_SHADER = "scene_textures", "scene_vertices", "scene_shader"
# Of the name of a uv set in which UDIM tiles are an atlas: no mesh of a scene has it.
TILES_SUFFIX = " (tiles)"
_SHOWN, _ALPHA = "shown", "alpha_mode"


def read_look(file: Path) -> LadderLook:
    """What a scene shows of the ladder whose report this is."""
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as failure:
        raise HostError(
            f"{file}: cannot be read ({reason(failure)}): bake the ladder again"
        ) from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise HostError(f"{file}: is no report of a ladder: choose the file ladder.json of one")
    return look_of(report, file.parent)


def look_of(report: Mapping[str, Any], folder: Path) -> LadderLook:
    """The rungs that a scene can show. `detail` needs a shader of an engine, and is left out."""
    below = {each["rung"]: each["below_pixels"] for each in report.get("lods", ())}
    rungs, light_set = [], str(report.get("uv_set_of_light") or "")
    for each in report.get("rungs", ()):
        name, files = str(each["name"]), each.get("files", {})
        textures = {kind: folder / file for kind, file in each.get(SCENE_TEXTURES, {}).items()}
        has_light = name in (UNLIT, REFLECTION) and not light_set.endswith(TILES_SUFFIX)
        light = files.get(_SHOWN) if has_light else None
        vertices, shader = each.get(SCENE_VERTICES), _shader_of(each.get(SCENE_SHADER), folder)
        if name != NEURAL and not (textures or light or vertices or shader):
            continue
        rungs.append(
            RungLook(
                name,
                str(each.get("title", name)),
                below.get(name),
                textures,
                folder / light if light else None,
                light_set,
                folder / vertices if vertices else None,
                _ALPHA in each,
                shader,
            )
        )
    stages = _stages(report)
    return LadderLook(
        str(report.get("name", "ladder")),
        tuple(rungs),
        folder / stages[0] if stages else None,
        result_of(report, folder),
    )


def _shader_of(found: Mapping[str, Any] | None, folder: Path) -> ShaderLook | None:
    if found is None:
        return None
    textures = {
        name: ShaderTexture(
            folder / each["file"], each["is_colour"], each["is_direction"], each["low"],
            each["high"],
        )
        for name, each in found["textures"].items()
    }  # fmt: skip
    values = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found["values"].items()
    }
    return ShaderLook(found["category"], values, textures)


def result_of(report: Mapping[str, Any], folder: Path) -> BakedResult | None:
    """What the scene notes of a ladder: the bundle, or else the USD file, with the glTF textures.
    None if there is neither."""
    rungs = {each.get("name"): each for each in report.get("rungs", ())}
    bundle, stages = rungs.get(NEURAL, {}).get("bundle"), _stages(report)
    if not bundle and not stages:
        return None
    textures = rungs.get(PBR, {}).get(SCENE_TEXTURES, {})
    return BakedResult(
        folder / (bundle or stages[0]), {kind: folder / file for kind, file in textures.items()}
    )


def _stages(report: Mapping[str, Any]) -> list[str]:
    return [str(each) for each in report.get("models", ()) if str(each).endswith(".usdc")]
