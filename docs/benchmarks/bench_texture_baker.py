"""Compares surface and pbr with what MaterialX's TextureBaker writes, at equal texture size.

python docs/benchmarks/bench_texture_baker.py BAKED examples/glazed_tile.mtlx:figure.usda:studio

`--rungs surface` leaves out pbr.

BAKED/KIND/NAME/NAME.mtlx are documents that TextureBaker wrote; `write_baked.py` writes them, where
OpenGL and a display are. `as_is` keeps the surface model, and `gltf` was translated to glTF PBR
before, as for an engine of glTF. Both are evaluated as MaterialX evaluates them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench_ladder import open_surface
from runs import each_case

from verdigris.core.base.device import open_device
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.measure.measure_rung import measure_rung
from verdigris.core.ladder.rungs.neural import Neural, NeuralRung
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher

KINDS = ("as_is", "gltf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("baked", type=Path)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--device")
    parser.add_argument("--rungs", default="surface,pbr")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--views", type=int, default=24)
    parser.add_argument("--view-size", type=int, default=256)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--responses", type=int, default=4_000_000)
    given = parser.parse_args()
    device = open_device(given.device)
    print(f"{device}\n| case | what | FLIP mesh | dB | s |", flush=True)
    each_case(given.cases, lambda case: compare(case, given, device))


def compare(case, given, device) -> None:
    document, mesh, light = case.split(":")
    teacher = Teacher(load_document(document), None, device, has_atlas=False)
    settings = LadderSettings(
        size=given.size, views=given.views, view_size=given.view_size, held_out=8,
        held_out_size=256, held_out_samples=given.samples, responses=given.responses,
    )  # fmt: skip
    surface = open_surface(Path(mesh))
    names = given.rungs.split(",")
    found = make_ladder(teacher, surface, find_environment(light), names, settings)
    measured = {f"rung {name}": each for name, each in found.measured.items()}
    seconds = {f"rung {each.name}": each.seconds for each in found.rungs}
    for kind in KINDS:
        path = given.baked / kind / Path(document).stem / Path(document).name
        if not path.is_file() or not any(path.parent.glob("*.png")):
            print(f"| {case} | TextureBaker {kind} | writes no textures | | |", flush=True)
            continue
        # drawn like a bundle: on the flat square that it was baked on
        other = Teacher(load_document(path), None, device, has_atlas=False)
        rung = NeuralRung.of(found.scene, Neural(other, path.parent, 0))
        measured[f"TextureBaker {kind}"] = measure_rung(rung, found.held_out)
    for what, each in measured.items():
        spent = f"{seconds[what]:.1f}" if what in seconds else ""
        print(f"| {case} | {what} | {each.flip:.4f} | {each.psnr:.1f} | {spent} |", flush=True)


if __name__ == "__main__":
    main()
