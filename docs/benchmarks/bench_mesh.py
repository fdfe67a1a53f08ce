"""Bakes materials on a mesh and compares each bundle with its graph on that mesh.

python docs/benchmarks/bench_mesh.py marble.mtlx:figure.usda:st1 --preset standard

Each case is DOCUMENT:MESH, with :SET for another uv set than the first; `triplanar`, `noise` and
`facing` are documents of this file, and `examples/ladder/make_meshes.py` writes meshes. PSNR and
FLIP are means over views of the mesh in the studio. For a mesh with UDIM tiles, values on both
sides of the borders between tiles are compared, too.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from bench_ladder import open_surface
from runs import each_case

from verdigris.core.baking.bake_neural_rung import bake_neural
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.device import open_device
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher

_TEXTURE = Path(__file__).parents[2] / "examples/textures/painted_wood_wood.jpg"
_SURFACE = (
    '<standard_surface name="shader" type="surfaceshader">'
    '<input name="base_color" type="color3" nodename="colour"/>'
    '<input name="specular_roughness" type="float" value="0.35"/></standard_surface>'
    '<surfacematerial name="{0}" type="material">'
    '<input name="surfaceshader" type="surfaceshader" nodename="shader"/></surfacematerial>'
)
_MIX = (
    '<mix name="colour" type="color3"><input name="bg" type="color3" value="0.7, 0.25, 0.1"/>'
    '<input name="fg" type="color3" value="0.1, 0.3, 0.6"/>'
    '<input name="mix" type="float" nodename="share"/></mix>'
)
DOCUMENTS = {
    "triplanar": '<triplanarprojection name="colour" type="color3">'
    + "".join(
        f'<input name="file{axis}" type="filename" value="{_TEXTURE}" colorspace="srgb_texture"/>'
        for axis in "xyz"
    )
    + "</triplanarprojection>",
    "noise": '<position name="place" type="vector3"/><multiply name="scaled" type="vector3">'
    '<input name="in1" type="vector3" nodename="place"/><input name="in2" type="float" value="7"/>'
    '</multiply><fractal3d name="raw" type="float"><input name="position" type="vector3" '
    'nodename="scaled"/></fractal3d><smoothstep name="share" type="float"><input name="in" '
    'type="float" nodename="raw"/><input name="low" type="float" value="-0.4"/><input name="high" '
    'type="float" value="0.4"/></smoothstep>' + _MIX,
    "facing": '<normal name="up" type="vector3"><input name="space" type="string" value="object"/>'
    '</normal><extract name="height" type="float"><input name="in" type="vector3" nodename="up"/>'
    '<input name="index" type="integer" value="1"/></extract><smoothstep name="share" type="float">'
    '<input name="in" type="float" nodename="height"/><input name="low" type="float" value="0"/>'
    '<input name="high" type="float" value="0.8"/></smoothstep>' + _MIX,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--device")
    parser.add_argument("--resolution", type=int)
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--samples", type=int, default=64)
    given = parser.parse_args()
    device = open_device(given.device)
    print(f"{device}, {given.preset}\n| case | texels | KiB | s | FLIP mesh | dB |", flush=True)
    each_case(given.cases, lambda case: run(case, given, device))


def run(case, given, device) -> None:
    name, mesh, *uv_set = case.split(":")
    with tempfile.TemporaryDirectory() as folder:
        document = Path(name)
        if name in DOCUMENTS:
            document = Path(folder) / f"{name}.mtlx"
            text = DOCUMENTS[name] + _SURFACE.format(name)
            document.write_text(
                f'<materialx version="1.39" colorspace="lin_rec709">{text}</materialx>'
            )
        loaded = load_document(document)
        material, surface = loaded.require_material(None), open_surface(Path(mesh))
        changes = {"resolution": given.resolution} if given.resolution else {}
        request = BakeRequest(preset=given.preset, changes=changes)
        begun = time.monotonic()
        neural = bake_neural(
            loaded, material, surface, device, Path(folder), request, uv_set[0] if uv_set else None
        )
        seconds = time.monotonic() - begun
        graph = Teacher(loaded, material, device, has_atlas=False)
        settings = LadderSettings(
            views=1, view_size=16, held_out=given.views, held_out_size=given.size,
            held_out_samples=given.samples,
        )  # fmt: skip
        found = make_ladder(
            graph,
            surface,
            find_environment("studio"),
            ["neural"],
            settings,
            find_bundle=lambda neural=neural: neural,
        )
        figures = found.measured["neural"]
        texels = neural.material.bindings()["gBundle"]["record"]
        print(
            f"| {document.stem} on {surface.name} {neural.uv_set or ''} | {texels['width']} x "
            f"{texels['height']} | {neural.byte_size / 1024:.0f} | {seconds:.0f} | "
            f"{figures.flip:.4f} | {figures.psnr:.1f} |",
            flush=True,
        )
        if neural.material.tiles:
            print_seams(graph, neural.material)


def print_seams(graph, student, count: int = 4000, aside: float = 1e-4) -> None:
    """Compares both sides of inner borders, and the error there with that of all places."""
    rng = np.random.default_rng(5)
    tiles = student.tiles
    border = rng.integers(1, tiles.side, count)
    along = rng.random(count) * tiles.side
    is_across = rng.random(count) < 0.5
    sides = []
    for shift in (-aside, aside):
        uv = np.stack([border + shift, along], 1)
        uv[is_across] = uv[is_across, ::-1]
        sides.append((uv + tiles.first).astype(np.float32))
    anywhere = (rng.random((count, 2)) * tiles.side + tiles.first).astype(np.float32)
    turn, rise = rng.random((2, 2, count)) * [[[6.28]], [[0.9]]]
    wi, wo = (
        np.stack([np.cos(a) * np.sqrt(r), np.sin(a) * np.sqrt(r), np.sqrt(1 - r)], 1).astype("f4")
        for a, r in zip(turn, rise, strict=True)
    )

    def values(uv):
        of_graph = graph.response(uv, wi, wo)
        return of_graph, student.response(tiles.to_atlas(uv), wi, wo)

    left, right, all_of = map(values, (*sides, anywhere))

    def error(pair):
        return float(np.abs(np.log1p(pair[0]) - np.log1p(pair[1])).mean())

    steps = [float(np.abs(np.log1p(right[k]) - np.log1p(left[k])).mean()) for k in (0, 1)]
    ends = [float(np.percentile(np.abs(right[k] - left[k]), 99)) for k in (0, 1)]
    print(
        f"  across borders: graph steps by {steps[0]:.5f} (99%: {ends[0]:.5f}), bundle by "
        f"{steps[1]:.5f} (99%: {ends[1]:.5f}); log MAE beside borders "
        f"{(error(left) + error(right)) / 2:.5f}, anywhere {error(all_of):.5f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
