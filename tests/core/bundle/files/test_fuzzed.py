"""Bundles damaged at random: each is read, or refused by an error that names its file."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.ktx2 import BC7
from verdigris.core.bundle.files.read import digest, open_bundle
from verdigris.core.bundle.files.reference import Reference, choose_points, exported_response
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.proxies.proxy_texture import Proxies
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..bundles import lively_parameters, make_bundle, random_curves

SEED = 4711
MUTATIONS = 200
ODD_VALUES = (
    *(None, True, -1, 0, 1, 7, 128, 2**31, 2**63, 2**200, -1e300, 1e-300, 0.5, "", "x", "../x"),
    *("/etc/passwd", "a\0b", "weights.bin", "é" * 300, [], [0], [[]], {}, {"file": 1}, [1e308] * 8),
)


@pytest.fixture(scope="module")
def tiny():
    """A small bundle with every kind of file, and its files' bytes; in memory where that can be."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield make_tiny(Path(folder).resolve())


def make_tiny(parent):
    # an array of one layer, and of five: proxies
    spec = NetworkSpec(hidden_width=4, hidden_layers=1, activation="silu", latent_channels=4)
    exported = export_numbers(lively_parameters(spec, LatentLayout(4, 2, 3)), format_name=BC7)
    parameters = exported.parameters
    points = choose_points(parameters.layout)
    some = [getattr(points, name)[::2] for name in ("uv", "lod", "wi", "wo")]
    reference = Reference(*some, exported=np.zeros((256, 3), np.float32))
    found = exported_response(parameters, reference)
    bundle = make_bundle(
        parent / "a.vdg",
        exported,
        reference=Reference(*some, exported=found, teacher=found),
        emission=[np.ones((2, 2, 4), np.float16), np.ones((1, 1, 4), np.float16)],
        opacity=[np.ones((1, 1, 1), np.uint8)],
        proxies=Proxies([np.ones((5, 1, 1, 4), np.uint8)], 4, random_curves()),
        preview=b"a picture",
        runtime={"a.slang": b"// code"},
    )
    files = [path for path in bundle.folder.rglob("*") if path.is_file()]
    return bundle.folder, {
        str(path.relative_to(bundle.folder)): path.read_bytes() for path in files
    }


def places(value, found):
    """Every object or list in a JSON value, with each key or index of it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        found.append((value, key))
        if isinstance(item, dict | list):
            places(item, found)
    return found


def change_json(random, data):
    document = json.loads(data)
    for _ in range(random.integers(1, 4)):
        container, key = (found := places(document, []))[random.integers(len(found))]
        kind = random.integers(4)
        if kind == 0:
            del container[key]
        elif kind == 1 and isinstance(container[key], int | float):
            container[key] += int(random.choice([-1, 1, 64, -128, 10**6]))
        elif kind == 2:
            other, name = found[random.integers(len(found))]
            container[key] = json.loads(json.dumps(other[name]))
        else:
            container[key] = ODD_VALUES[random.integers(len(ODD_VALUES))]
    return json.dumps(document).encode()


def change_bytes(random, data):
    data = bytearray(data)
    # most damage is to the beginning, where headers are
    end = len(data) if random.random() < 0.5 else min(len(data), 240)
    for _ in range(random.integers(1, 6)):
        at = random.integers(end)
        width = int(random.choice([1, 2, 4, 8]))
        value = random.choice([0, 0xFF, 0x7C, 0x80, random.integers(256)])
        data[at : at + width] = bytes([int(value)]) * len(data[at : at + width])
    return bytes(data)


def change_length(random, data):
    if random.random() < 0.5:
        return data[: random.integers(len(data))]
    return data + random.bytes(int(random.choice([1, 16, 4096])))


def mutate(random, folder, files):
    """Damages one or two files; then the manifest knows their new lengths and digests, or not."""
    changed = {}
    for name in random.choice(sorted(files), random.integers(1, 3), replace=False):
        change = [change_bytes, change_length, change_json][random.integers(3)]
        if change is change_json and not name.endswith(".json"):
            change = change_bytes
        changed[str(name)] = change(random, files[name])
    if random.random() < 0.7 and MANIFEST_FILE not in changed:
        document = json.loads(files[MANIFEST_FILE])
        for entry in [*document.values(), *document["runtime"]]:
            if isinstance(entry, dict) and entry.get("file") in changed:
                data = changed[entry["file"]]
                entry.update(bytes=len(data), sha256=digest(data))
        changed[MANIFEST_FILE] = json.dumps(document).encode()
    for name, data in changed.items():
        (folder / name).write_bytes(data)
    if random.random() < 0.05:
        name = str(random.choice(sorted(files)))
        target = str(random.choice(["/etc/hostname", "../secret", "/dev/zero", "weights.bin", "."]))
        (folder / name).unlink()
        (folder / name).symlink_to(target)
        changed[name] = b""
    return changed


def restore(folder, files, names):
    for name in names:
        path = folder / name
        if path.is_symlink() or not path.is_file():
            path.unlink()
        path.write_bytes(files[name])


WATCHED = []


def watch(event, arguments):
    if WATCHED and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        WATCHED.append(os.path.realpath(os.fsdecode(arguments[0])))


def test_bundles_damaged_at_random_are_read_or_refused_cleanly(tiny):
    folder, files = tiny
    (folder.parent / "secret").write_bytes(files["weights.bin"])
    sys.addaudithook(watch)
    random = np.random.default_rng(SEED)
    refused, read = {}, 0
    for number in range(MUTATIONS):
        changed = mutate(random, folder, files)
        WATCHED.append("begin")
        try:
            with np.errstate(all="ignore"):
                bundle = open_bundle(folder)
                bundle.emission()
                bundle.opacity()
                verify(bundle)
            read += 1
        except BundleError as failure:
            message = str(failure)
            assert message.startswith(str(folder)), (number, message)
            assert len(message) < 1500
            name = message.removeprefix(f"{folder}{os.sep}").partition(":")[0]
            refused[name] = refused.get(name, 0) + 1
        finally:
            opened, WATCHED[:] = WATCHED[1:], []
            restore(folder, files, changed)
        outside = [path for path in opened if not path.startswith(str(folder.resolve()))]
        assert outside == [], number
    assert verify(open_bundle(folder)).holds
    # the damage is of every kind, and some of it is none: padding, texels, words for people
    assert set(refused) >= set(files)
    assert MUTATIONS / 50 < read < MUTATIONS / 2
    assert sum(refused.values()) + read == MUTATIONS


def test_a_folder_of_random_bytes_is_refused(tiny, tmp_path):
    folder, files = tiny
    random = np.random.default_rng(SEED)
    copy = tmp_path / "b.vdg"
    shutil.copytree(folder, copy)
    for name in files:
        (copy / name).write_bytes(random.bytes(200))
    with pytest.raises(BundleError, match=r"manifest.json: is not JSON"):
        open_bundle(copy)
