"""Images, and what is expected of them.

They are looked at through a probe that gives off the value of an image node, and compared with
bilinear interpolation in numpy: v is 0 at the bottom row, and the centre of the first texel is half
a texel in. No device rounds more than single precision does.
"""

import numpy as np

from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import glow, node, probe

COUNT = 2000
HEIGHT, WIDTH = 6, 9

FOLDS = {
    "clamp": lambda index, size: np.clip(index, 0, size - 1),
    "periodic": lambda index, size: index % size,
    "mirror": lambda index, size: np.minimum(index % (2 * size), 2 * size - 1 - index % (2 * size)),
    "constant": lambda index, size: np.clip(index, 0, size - 1),
}


def bilinear(texels, uv, mode="periodic", v_mode=None):
    """Texels (rows from the top, columns, channels) at places, in double precision."""
    texels = np.asarray(texels, np.float64)[::-1]
    height, width = texels.shape[:2]
    place = np.asarray(uv, np.float64) * [width, height] - 0.5
    first = np.floor(place).astype(int)
    share = (place - first)[:, :, None]
    columns = [FOLDS[mode](first[:, 0] + step, width) for step in (0, 1)]
    rows = [FOLDS[v_mode or mode](first[:, 1] + step, height) for step in (0, 1)]
    low, high = (
        texels[row, columns[0]] * (1 - share[:, 0]) + texels[row, columns[1]] * share[:, 0]
        for row in rows
    )
    return low * (1 - share[:, 1]) + high * share[:, 1]


def image(name, kind="color3", attributes="", **inputs):
    """An image node called `texels`; `attributes` go to its file input."""
    ports = {"file": ("filename", name), **inputs}
    text = node("image", "texels", kind, ports)
    return text.replace('type="filename"', f'type="filename" {attributes}')


def look(folder, uv, name, **options):
    made = probe(image(name, **options), "texels", search_paths=[folder])
    # uv are those of tiles, not of an atlas
    teacher = Teacher(made, has_atlas=False)
    return glow(teacher, uv)


def decoded_srgb(x):
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
