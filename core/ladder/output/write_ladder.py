"""Writes a ladder: the files of all rungs, `ladder.json` and `ladder.html`."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.files import Folder, make_folders
from verdigris.core.base.outputs import draft_in, write_own_file
from verdigris.core.bundle.files.replace_folder import move_bundles
from verdigris.core.hosts.ladder_looks import FORMAT, SCENE_SHADER, SCENE_TEXTURES, SCENE_VERTICES
from verdigris.core.ladder.measure.measure_rung import SWITCH_FLIP, choose_lods
from verdigris.core.ladder.measure.time_rung import NOT_MEASURED
from verdigris.core.ladder.output.gltf import write_gltf
from verdigris.core.ladder.output.page import ShownViews, make_page
from verdigris.core.ladder.output.usd import write_usd
from verdigris.core.ladder.surface_shader.surface_shader import describe_shader
from verdigris.core.ladder.texels.displacement import DISPLACEMENT
from verdigris.core.ladder.views.visibility import shows_backs
from verdigris.core.pictures.picture_files import encode_jpeg

if TYPE_CHECKING:
    from verdigris.core.ladder.ladder import Ladder
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.ladder.rungs.rung import Rung, VertexLight, Written

REPORT, PAGE = "ladder.json", "ladder.html"
# All files are written here and then moved together, so that a folder holds a whole ladder: the new
# one or the one before.
_DRAFT = ".writing"


def write_ladder(
    ladder: Ladder, folder: Path, name: str, has_ktx: bool = True, baked: Path | None = None
) -> dict[str, Any]:
    """Writes everything into a folder, the report last. Returns the report. `baked` is the folder
    in which the neural rung was baked; its bundle is moved from there."""
    moved = [rung.with_bundle_in(folder, baked) for rung in ladder.rungs]
    ladder = replace(ladder, rungs=moved)
    make_folders(folder)
    try:
        with Folder.at(folder) as place, draft_in(place, _DRAFT) as draft:
            report = _write_all(ladder, draft.steady_path, folder, name, has_ktx)
            if baked:
                move_bundles(baked, folder)
            # the report is last, because it names the others
            for file in sorted(draft.names(), key=lambda file: (file == REPORT, file)):
                draft.rename(file, file, to=place)
    except OSError as failure:
        raise VerdigrisError(
            f"{folder}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None
    return report


def _write_all(
    ladder: Ladder, draft: Path, folder: Path, name: str, has_ktx: bool
) -> dict[str, Any]:
    """Writes everything but bundles into a draft of the folder. Returns the report."""
    written = [
        (rung, rung.write_files(draft, has_ktx, ladder.scene.atlas)) for rung in ladder.rungs
    ]
    if (moved := ladder.displacement) is not None:
        atlas = ladder.scene.atlas
        moved.write(draft, {} if atlas is None else atlas.parts(len(moved.values)))
    is_two_sided = shows_backs(ladder.held_out.seen)
    models = write_gltf(ladder.scene, written, draft, name, is_two_sided)
    lods = [each.as_json() for each in choose_lods(ladder.rungs, ladder.measured)]
    bundles = {rung.name: rung.bundle_beside(folder) for rung in ladder.rungs}
    models += write_usd(ladder.scene, written, draft, name, lods, bundles, is_two_sided)
    scene, views = ladder.scene, ShownViews(ladder)
    report: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "mesh": scene.surface.name,
        "exposure": scene.exposure,
        "texture_format": ladder.settings.texture_format,
        "uv_sets": {each: found.describe() for each, found in scene.surface.reports.items()},
        "uv_set_of_light": scene.unique_set,
        "uv_set_of_materials": scene.first_set,
        "held_out_views": len(ladder.held_out.seen),
        "switch_flip": SWITCH_FLIP,
        "warnings": ladder.warnings,
        **({} if moved is None else {DISPLACEMENT: moved.facts()}),
        "lods": lods,
        "models": models,
        "rungs": [
            {
                "name": rung.name,
                "title": rung.title,
                "cost": rung.cost,
                "size": rung.size,
                "bytes": rung.byte_size,
                "seconds": round(rung.seconds, 2),
                **_times(rung),
                "files": files.files,
                **rung.facts(folder),
                "picture": _write_picture(ladder, views, rung, draft),
                **_write_for_scenes(rung, files, draft, scene.surface),
                **files.numbers,
                **ladder.measured[rung.name].as_json(),
                "notes": rung.notes,
            }
            for rung, files in written
        ],
    }
    write_own_file(draft / PAGE, make_page(ladder, name).encode())
    write_own_file(draft / REPORT, json.dumps(report, indent=1).encode())
    return report


def _times(rung: Rung) -> dict[str, Any]:
    """The nanoseconds of an evaluation and its kind, or the reason why there are none."""
    if rung.nanoseconds is None:
        return {"nanoseconds_left_out": NOT_MEASURED}
    return {
        "nanoseconds": round(rung.nanoseconds, 4),
        "nanoseconds_of": "light" if rung.is_lit else "pixel",
    }


def _write_picture(ladder: Ladder, views: ShownViews, rung: Rung, folder: Path) -> str:
    """Writes a picture for programs that show a list of rungs. Returns its name."""
    name = f"{rung.name}_shown.jpg"
    pictures = views.shown(ladder.measured[rung.name].pictures)
    write_own_file(folder / name, encode_jpeg(pictures[views.clearest]))
    return name


def _write_for_scenes(
    rung: Rung, written: Written, folder: Path, surface: Surface
) -> dict[str, Any]:
    """Writes what scenes show: light of vertices, or a surface shader with its textures. Scenes do
    not have the uv set of an atlas, and get no textures of it."""
    light = rung.vertex_light()
    if light is not None:
        return {SCENE_VERTICES: _write_vertices(rung.name, light, surface, folder)}
    if written.shader is None:
        return {}
    kinds = rung.write_viewport_textures(written, folder)
    return {
        **({SCENE_TEXTURES: kinds} if kinds else {}),
        SCENE_SHADER: describe_shader(written.shader, written.shader_files),
    }


def _write_vertices(name: str, light: VertexLight, surface: Surface, folder: Path) -> str:
    """Writes the place, the light and the opacity of each vertex. Returns the file's name."""
    vertex, count = surface.vertices
    position = np.zeros((count, 3), np.float32)
    position[vertex.reshape(-1)] = surface.mesh.position.reshape(-1, 3)
    colour = np.ones((count, 4), np.float32)
    colour[:, :3] = np.maximum(light.light, 0)
    if light.alpha is not None:
        colour[:, 3] = light.alpha[:, 0]
    data = io.BytesIO()
    np.savez(data, position=position, colour=colour)
    file = f"{name}_colours.npz"
    write_own_file(folder / file, data.getvalue())
    return file
