import copy
import errno
import io
import os
import pickle
import re
import zipfile

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import (
    CheckpointError,
    Parameters,
    initialise,
    load,
    save,
    save_arrays,
    to_arrays,
)
from verdigris.core.network.spec import PRESETS, LatentLayout

SPEC = PRESETS["2x32"]
LAYOUT = LatentLayout(8, 4, levels=2, materials=2)


@pytest.fixture
def parameters():
    return initialise(SPEC, LAYOUT, seed=3)


def test_views_share_the_flat_vectors_row_major(parameters):
    layer = SPEC.layers[1]
    parameters.weights(layer)[2, 5] = 7
    assert parameters.decoder[1056 + 2 * 32 + 5] == 7
    parameters.bias(layer)[4] = 8
    assert parameters.decoder[2080 + 4] == 8
    parameters.frames()[1, 2] = 9
    assert parameters.decoder[1 * 8 + 2] == 9
    parameters.level(1)[1, 1, 3, 6] = 10
    assert parameters.latents[64 + 8 + 1 * 4 + 3, 6] == 10


def test_the_same_seed_gives_the_same_parameters(parameters):
    again, other = initialise(SPEC, LAYOUT, seed=3), initialise(SPEC, LAYOUT, seed=4)
    np.testing.assert_array_equal(parameters.decoder, again.decoder)
    np.testing.assert_array_equal(parameters.latents, again.latents)
    assert (parameters.latents != other.latents).all()


def test_the_resolution_does_not_change_the_initial_decoder(parameters):
    finer = initialise(SPEC, LatentLayout(32, 32), seed=3)
    np.testing.assert_array_equal(parameters.decoder, finer.decoder)


def test_initial_weights_keep_the_variance_and_biases_are_zero():
    parameters = initialise(PRESETS["3x64"], LAYOUT, seed=0)
    layer = PRESETS["3x64"].layers[1]
    assert parameters.weights(layer).std() == pytest.approx(np.sqrt(2 / 64), rel=0.05)
    assert not parameters.bias(layer).any()


def test_byte_size_counts_four_bytes_a_number(parameters):
    assert parameters.byte_size == 4 * (2310 + (64 + 16) * 8)


def test_arrays_of_another_shape_are_refused(parameters):
    with pytest.raises(SettingsError, match=r"decoder has shape \(2309,\)"):
        Parameters(SPEC, LAYOUT, parameters.decoder[:-1], parameters.latents)


def test_a_file_gives_back_what_was_saved(parameters, tmp_path):
    path = tmp_path / "a.npz"
    save(parameters, path)
    loaded = load(path)
    assert (loaded.spec, loaded.layout) == (SPEC, LAYOUT)
    np.testing.assert_array_equal(loaded.decoder, parameters.decoder)
    np.testing.assert_array_equal(loaded.latents, parameters.latents)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "(the disk is full): free space or choose another folder"),
        # space would not help
        (errno.EROFS, "(Read-only file system): choose another folder"),
    ],
)
def test_a_failed_save_leaves_the_previous_file_and_no_other(
    number, reason, parameters, tmp_path, monkeypatch
):
    path = tmp_path / "a.npz"
    save(parameters, path)
    before = path.read_bytes()

    def fail(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(CheckpointError, match=re.escape(f"a.npz: cannot be written {reason}")):
        save(parameters, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("name", ["spec", "layout", "decoder", "latents"])
def test_a_missing_field_is_named(parameters, tmp_path, name):
    arrays = to_arrays(parameters)
    del arrays[name]
    save_arrays(tmp_path / "a.npz", arrays)
    with pytest.raises(CheckpointError, match=rf"a\.npz: {name} is missing"):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (
            "decoder",
            np.full(2310, np.nan, np.float32),
            "decoder contains values that are not finite",
        ),
        ("decoder", np.zeros(7, np.float32), r"decoder has shape \(7,\)"),
        ("latents", np.zeros((80, 8), np.int32), "latents has type int32"),
        ("spec", np.frombuffer(b"{", np.uint8), "spec: .*not JSON"),
        ("spec", np.frombuffer(b"\xff", np.uint8), "spec: "),
        ("layout", np.frombuffer(b'{"width": 8}', np.uint8), "layout: "),
        ("layout", np.frombuffer(b"[]", np.uint8), "layout: "),
    ],
)
def test_a_wrong_field_is_named(parameters, tmp_path, name, array, message):
    save_arrays(tmp_path / "a.npz", to_arrays(parameters) | {name: array})
    with pytest.raises(CheckpointError, match=rf"a\.npz: {message}"):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_refused(parameters, tmp_path, share):
    path = tmp_path / "a.npz"
    save(parameters, path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(CheckpointError, match=r"a\.npz: .* cannot be read"):
        load(path)


@pytest.mark.parametrize(("field", "value"), [(8, 1), (10, 77)], ids=["encrypted", "method"])
def test_a_damaged_entry_of_the_directory_is_refused(parameters, tmp_path, field, value):
    path = tmp_path / "a.npz"
    save(parameters, path)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + field] = value
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match=r"a\.npz: .* cannot be read"):
        load(path)


def write_archive(path, arrays, packed):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array)
            kind = zipfile.ZIP_DEFLATED if name in packed else zipfile.ZIP_STORED
            archive.writestr(f"{name}.npy", content.getvalue(), kind)


@pytest.mark.parametrize("packed", [["decoder"], ["padding"], ["decoder", "padding"]])
def test_an_archive_that_inflates_is_refused_by_its_directory(parameters, tmp_path, packed):
    path = tmp_path / "a.npz"
    arrays = to_arrays(parameters) | {"padding": np.zeros(1 << 22, np.uint8)}
    write_archive(path, arrays, [])
    assert load(path).byte_size == parameters.byte_size
    write_archive(path, arrays, packed)
    with pytest.raises(CheckpointError, match=r"a\.npz: archive cannot be read \(its arrays have"):
        load(path)


def test_entries_that_share_their_bytes_are_refused(parameters, tmp_path):
    """Each entry of the directory would be read again: a small file of many gigabytes."""
    path = tmp_path / "a.npz"
    write_archive(path, to_arrays(parameters) | {"padding": np.zeros(1 << 20, np.uint8)}, [])
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.getinfo("padding.npy")
        for number in range(20):
            twin = copy.copy(first)
            twin.filename = twin.orig_filename = f"p{number}.npy"
            archive.filelist.append(twin)
        archive._didModify = True
    with pytest.raises(CheckpointError, match=r"a\.npz: archive cannot be read \(its arrays have"):
        load(path)


def test_an_entry_that_is_no_array_is_refused(parameters, tmp_path):
    path = tmp_path / "a.npz"
    write_archive(path, to_arrays(parameters), [])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("spec", b"{}")
    with pytest.raises(CheckpointError, match=r"a\.npz: spec cannot be read \(it is not an array"):
        load(path)


def test_a_header_that_is_no_header_is_refused(parameters, tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("latents.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': ('<f4\n   ")
    with pytest.raises(CheckpointError, match=r"a\.npz: .* cannot be read"):
        load(path)


def pickled(path):
    path.write_bytes(pickle.dumps([1]))


def objects(path):
    with path.open("wb") as file:
        np.savez(file, spec=np.array([{}], object))


def one_array(path):
    with path.open("wb") as file:
        np.save(file, np.ones(3))


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (pickled, "archive cannot be read (it contains no plain numbers)"),
        (objects, "spec cannot be read (it contains no plain numbers)"),
        (one_array, "archive cannot be read (it contains one array, not several (.npz))"),
    ],
)
def test_a_file_of_another_program_is_refused_without_advice_to_run_its_code(tmp_path, write, said):
    path = tmp_path / "a.npz"
    write(path)
    with pytest.raises(CheckpointError, match=re.escape(f"a.npz: {said}")):
        load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match=r"a\.npz"):
        load(tmp_path / "a.npz")
