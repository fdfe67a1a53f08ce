"""FLIP between relief and the displaced mesh on a plane, at 30, 45 and 70 degrees, under a sky.

python docs/benchmarks/bench_relief.py examples/brick_wall.mtlx --size 192 --texels 256
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from verdigris.core.base.device import open_device
from verdigris.core.geometry.displaced_mesh import base_mesh, displace
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.geometry.teacher_relief import find_relief
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures.compare.metrics import ldr_flip
from verdigris.core.pictures.environment_render import EnvironmentLighting, render_under
from verdigris.core.pictures.gbuffer import Camera
from verdigris.core.pictures.picture_files import write_picture
from verdigris.core.pictures.relief import DeviceHeights
from verdigris.core.pictures.tone import MAPPINGS

# Degrees from the normal, each with a zoom at which the rim of the plane is out of the picture.
_VIEWS = ((30, 1.8), (45, 2.0), (70, 3.5))
_MARGIN = 1 / 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path)
    parser.add_argument("--size", type=int, default=192)
    parser.add_argument("--texels", type=int, default=256)
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    teacher = Teacher(load_document(given.document), device=open_device())
    heights = find_relief(teacher, given.texels).heights
    assert heights is not None, "the material has no displacement"
    mesh = displace(base_mesh("plane", None), heights)
    sky = find_environment("sky")
    uploaded = DeviceHeights.upload(teacher.device, heights)
    inside = slice(round(_MARGIN * given.size), round((1 - _MARGIN) * given.size))
    sheet = []
    for angle, zoom in _VIEWS:
        pictures = []
        for relief in (uploaded, mesh, None):
            occluder = relief if isinstance(relief, Mesh) else None
            light = EnvironmentLighting.upload(teacher.device, sky, occluder)
            picture = render_under(
                *(teacher, light, "plane", given.size, None, given.samples),
                is_flat=True,
                camera=Camera(pitch=-angle, zoom=zoom),
                relief=relief,
            )[inside, inside, :3]
            pictures.append(picture * np.float32(2.0**sky.exposure))
        found = [ldr_flip(each, pictures[1])[0] for each in (pictures[0], pictures[2])]
        print(f"{angle} degrees: FLIP {found[0]:.4f}, without relief {found[1]:.4f}", flush=True)
        sheet.append(np.concatenate(pictures, 1))
    if given.output:
        write_picture(given.output, MAPPINGS["film"](np.concatenate(sheet)))


main()
