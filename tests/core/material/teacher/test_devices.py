"""The same material is the same on every device.

`stored_responses.npz` holds what lavapipe gave for the materials of examples/, and for lobes that
none of them has, so that a machine with a GPU and without lavapipe can compare. After one of them
changed, write it anew:

    VERDIGRIS_STORE_RESPONSES=1 pytest tests/core/material/teacher/test_devices.py
"""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.adapters import SOFTWARE
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import hemisphere

DATA = Path(__file__).parents[1] / "data"
DOCUMENTS = [
    *sorted((Path(__file__).parents[4] / "examples").glob("*.mtlx")),
    DATA / "rare_lobes.mtlx",
]
STORED = DATA / "stored_responses.npz"
STORE = "VERDIGRIS_STORE_RESPONSES"
COUNT = 2000
TOLERANCE, VISIBLE = 1e-3, 1e-3
# Of the values above VISIBLE, how many may differ by more. Patterns with an edge (noise cells, a
# mask's step) fall to either side of it by the last bit of a coordinate.
ON_AN_EDGE = 1e-3


def drawn_samples():
    random = np.random.default_rng(31)
    uv = random.random((COUNT, 2)).astype(np.float32)
    wi, wo = (hemisphere(random, COUNT).astype(np.float32) for _ in range(2))
    return uv, wi, wo


@pytest.fixture(scope="module")
def samples():
    """Those that are stored: a sine may differ in its last bit from machine to machine."""
    with np.load(STORED) as stored:
        return tuple(stored[f"samples#{part}"] for part in ("uv", "wi", "wo"))


def evaluate(path, device, samples):
    document = load_document(path)
    uv, wi, wo = samples
    for material in document.materials:
        teacher = Teacher(document, material, device)
        values = [teacher.response(uv, wi, wo), teacher.unlit(uv, wo)[:, :3]]
        yield f"{path.stem}.{material.name}", np.concatenate(values)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def assert_alike(got, expected):
    visible = np.maximum(got, expected) > VISIBLE
    error = np.abs(got - expected)[visible] / np.maximum(got, expected)[visible]
    assert (error > TOLERANCE).mean() <= ON_AN_EDGE, f"largest error {error.max():.2g}"


def hardware_device():
    try:
        device = open_device("auto")
    except DeviceError as failure:
        pytest.skip(str(failure))
    if device.is_software:
        pytest.skip(f"no hardware GPU: the only device is {device}")
    return device


@pytest.mark.skipif(STORE not in os.environ, reason=f"only where {STORE} asks for it")
def test_store_what_the_software_device_gives():
    device, samples = open_device(SOFTWARE), drawn_samples()
    stored = {f"samples#{part}": x for part, x in zip(("uv", "wi", "wo"), samples, strict=True)}
    for path in DOCUMENTS:
        stored[f"{path.stem}#document"] = np.array(digest(path))
        stored |= {
            name: values.astype(np.float32) for name, values in evaluate(path, device, samples)
        }
    STORED.parent.mkdir(exist_ok=True)
    np.savez_compressed(STORED, **stored)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_the_software_device_gives_what_is_stored(path, samples):
    """Tells when the stored values are of another document or another teacher."""
    try:
        device = open_device(SOFTWARE)
    except DeviceError as failure:
        pytest.skip(str(failure))
    compare_with_stored(path, device, samples)


@pytest.mark.gpu
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_gpu_gives_what_the_software_device_gave(path, samples):
    compare_with_stored(path, hardware_device(), samples)


@pytest.mark.gpu
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_gpu_and_the_software_device_agree(path, samples):
    device = hardware_device()
    try:
        software = open_device(SOFTWARE)
    except DeviceError as failure:
        pytest.skip(str(failure))
    expected = dict(evaluate(path, software, samples))
    for name, values in evaluate(path, device, samples):
        assert_alike(values, expected[name])


def compare_with_stored(path, device, samples):
    with np.load(STORED) as stored:
        reported = f"write {STORED.name} anew: {path.name} changed since"
        assert str(stored.get(f"{path.stem}#document", "")) == digest(path), reported
        for name, values in evaluate(path, device, samples):
            assert_alike(values, stored[name])
