"""Files to read are plain ones: whoever opens a pipe may wait for ever."""

import os
from functools import partial
from pathlib import Path

import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import read_json_file
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.importance.camera import read_camera
from verdigris.core.importance.maps import read_importance
from verdigris.core.lighting.environment_file import read_environment
from verdigris.core.settings.draw_settings import read_directions

READERS = {
    "scene.json": partial(read_json_file, error=VerdigrisError, most_bytes=100),
    "mesh.obj": load_mesh,
    "mesh.usda": load_mesh,
    "camera.json": read_camera,
    "map.exr": read_importance,
    "map.npy": read_importance,
    "sky.hdr": read_environment,
    "table.json": lambda path: read_directions(str(path)),
    "table.npy": lambda path: read_directions(str(path)),
}


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_plain_file_is_refused_for_what_it_is(tmp_path, name):
    def refused(path):
        with pytest.raises(VerdigrisError) as refusal:
            READERS[name](path)
        return str(refusal.value)

    path = tmp_path / name
    assert refused(path).startswith(f"{path}: there is no such file: ")
    path.mkdir()
    assert refused(path).startswith(f"{path}: is a folder: ")
    path.rmdir()
    if Path(os.devnull).exists():
        # a device that ends at once: a reader that is not careful fails here, and does not hang
        path.symlink_to(os.devnull)
        assert refused(path).startswith(f"{path}: is not a plain file: ")
