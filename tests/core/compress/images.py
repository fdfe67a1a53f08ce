"""A small document with images, and how little its tests train."""

import numpy as np
import OpenImageIO as oiio

from verdigris.core.compress.compressor import Effort

SMALL = Effort(width=16, hidden=1, samples=512, steps=40)
DOCUMENT = """<?xml version="1.0"?>
<materialx version="1.39" colorspace="lin_rec709">
  <nodegraph name="graph">
    <image name="color" type="color3">
      <input name="file" type="filename" value="color.png" colorspace="srgb_texture" />
    </image>
    <image name="masks" type="vector3">
      <input name="file" type="filename" value="masks.png" />
    </image>
    <extract name="rough" type="float">
      <input name="in" type="vector3" nodename="masks" />
    </extract>
    <image name="height-map" type="float">
      <input name="file" type="filename" value="height.exr" />
    </image>
    <image name="direction" type="vector3">
      <input name="file" type="filename" value="direction.png" />
    </image>
    <multiply name="metal" type="float">
      <input name="in1" type="float" nodename="height-map" />
      <input name="in2" type="float" nodename="turn" />
    </multiply>
    <extract name="turn" type="float">
      <input name="in" type="vector3" nodename="direction" />
    </extract>
    <output name="color_out" type="color3" nodename="color" />
    <output name="rough_out" type="float" nodename="rough" />
    <output name="metal_out" type="float" nodename="metal" />
  </nodegraph>
  <open_pbr_surface name="shader" type="surfaceshader">
    <input name="base_color" type="color3" nodegraph="graph" output="color_out" />
    <input name="specular_roughness" type="float" nodegraph="graph" output="rough_out" />
    <input name="base_metalness" type="float" nodegraph="graph" output="metal_out" />
  </open_pbr_surface>
  <surfacematerial name="wall" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="shader" />
  </surfacematerial>
</materialx>
"""


def write(path, texels, kind="uint8"):
    rows, columns, channels = texels.shape
    image = oiio.ImageBuf(oiio.ImageSpec(columns, rows, channels, kind))
    image.set_pixels(oiio.ROI(), np.ascontiguousarray(texels, np.float32))
    assert image.write(str(path)), image.geterror()


def waves(rows, columns, channels, seed):
    """Smooth numbers from 0 to 1 that repeat."""
    random = np.random.default_rng(seed)
    y, x = (
        (np.arange(rows)[:, None, None] + 0.5) / rows,
        (np.arange(columns)[:, None] + 0.5) / columns,
    )
    turns = random.integers(1, 3, (2, channels))
    return 0.5 + 0.5 * np.sin(2 * np.pi * (turns[0] * x + turns[1] * y) + random.random(channels))
