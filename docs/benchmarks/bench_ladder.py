"""Fits ladders and prints a table: bytes, seconds, FLIP and PSNR of each rung over held-out views.

python docs/benchmarks/bench_ladder.py examples/copper_tray.mtlx:examples/tray.obj:sky

Each case is DOCUMENT:MESH:ENVIRONMENT. `examples/ladder/make_meshes.py` writes more meshes.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
from runs import each_case

from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.mesh.mesh_surface import Surface, load_surface
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.ladder.rungs.registry import RUNGS
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher


def open_surface(path: Path) -> Surface:
    """Of a mesh file, or of arrays by `save_surface`, for machines that read no USD."""
    if path.suffix != ".npz":
        return load_surface(path)
    arrays = np.load(path)
    sets = {name[3:]: arrays[name] for name in arrays.files if name.startswith("uv ")}
    uv = next(iter(sets.values()))
    return Surface(Mesh(arrays["position"], arrays["normal"], uv), sets, name=path.stem)


def save_surface(surface: Surface, path: Path) -> None:
    sets = {f"uv {name}": uv for name, uv in surface.sets.items()}
    np.savez_compressed(path, position=surface.mesh.position, normal=surface.mesh.normal, **sets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="+")
    fitted = ",".join(each.name for each in RUNGS if not each.is_baked)
    parser.add_argument("--rungs", default=fitted)
    parser.add_argument("--device")
    parser.add_argument("--out", type=Path, help="also write the ladders here")
    for field in fields(LadderSettings):
        if field.type == "int":
            parser.add_argument("--" + field.name.replace("_", "-"), type=int)
    given = vars(parser.parse_args())
    device = open_device(given["device"])
    size = given["size"] or LadderSettings.size
    settings = LadderSettings.for_device(size, device.is_software)
    changes = {
        each.name: given[each.name] for each in fields(LadderSettings) if given.get(each.name)
    }
    settings = LadderSettings(**{**vars(settings), **changes})
    print(f"{device}; {settings}", flush=True)
    each_case(given["cases"], lambda case: run(case, settings, given, device))


def run(case, settings, given, device) -> None:
    name, shape, light = case.split(":")
    document, mesh = Path(name), Path(shape)
    begun = time.monotonic()
    teacher = Teacher(load_document(document), None, device, has_atlas=False)
    has_tiles = any(is_tiled(slot.file) for slot in teacher.generated.textures)
    found = make_ladder(
        teacher, open_surface(mesh), find_environment(light), given["rungs"].split(","), settings,
        has_tiles=has_tiles, on_progress=lambda stage, part: show(stage, part, begun),
    )  # fmt: skip
    name = f"{document.stem}-{mesh.stem}-{light}"
    print(f"\n{name}, {time.monotonic() - begun:.0f} s", *found.warnings, sep="\n  ", flush=True)
    shared = ", ".join(f"{name} {each:.1f} s" for name, each in found.shared_seconds.items())
    print(f"  {shared}")
    print("| rung | KiB | s | FLIP mesh | FLIP picture | dB | good below px | ns |")
    for rung in found.rungs:
        m = found.measured[rung.name]
        figures = f"{m.flip:.4f} | {m.flip_of_pictures:.4f} | {m.psnr:.1f} | {m.switch_pixels}"
        figures += f" | {rung.nanoseconds:.3f}" if rung.nanoseconds else " |"
        size = f"{rung.byte_size / 1024:.0f} | {rung.seconds:.1f}"
        bound = f"bound {m.bound[0]:.4f}, {m.bound[1]:.4f}" if m.bound else ""
        print(f"| {rung.name} | {size} | {figures} |", bound, *rung.notes, flush=True)
    if given["out"]:
        write_ladder(found, given["out"] / name, document.stem, has_ktx=False)


def show(stage: str, part: float, begun: float) -> None:
    if part >= 1:
        print(f"{time.monotonic() - begun:7.1f} s {stage}", flush=True)


if __name__ == "__main__":
    main()
