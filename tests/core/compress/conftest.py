"""What is compressed of a small document with images."""

import pytest

from verdigris.core.base.device import open_device
from verdigris.core.compress import compress as compressing
from verdigris.core.compress.compress import Limits, compress_material
from verdigris.core.material.load.mtlx_document import load_document

from .images import DOCUMENT, SMALL, waves, write


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Nine channels that vary: three of colour, two of three masks, one from -2 to 6, and three."""
    folder = tmp_path_factory.mktemp("images") / "of" / "it"
    folder.mkdir(parents=True)
    (folder / "wall.mtlx").write_text(DOCUMENT)
    write(folder / "color.png", waves(32, 32, 3, 1))
    masks = waves(16, 16, 3, 2)
    masks[..., 2] = 0.25
    write(folder / "masks.png", masks)
    write(folder / "height.exr", 8 * waves(32, 32, 1, 3) - 2, "float")
    write(folder / "direction.png", waves(32, 32, 3, 4))
    return folder


@pytest.fixture(scope="session")
def document(folder):
    return load_document(folder / "wall.mtlx")


@pytest.fixture(scope="session")
def device():
    return open_device("software")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(compressing, "effort_for", lambda *_: SMALL)


@pytest.fixture(scope="session")
def done(document, device, tmp_path_factory):
    """The whole document, compressed."""
    path = tmp_path_factory.mktemp("sets") / "wall.vdt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressing, "effort_for", lambda *_: SMALL)
        return compress_material(document, document.require_material(), path, device, Limits())
