"""Invalid bundles are refused with file and field."""

import json
import os
import re
import time
from functools import partial

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.ktx2 import RGBA16F
from verdigris.core.bundle.files.read import digest, is_bundle, open_bundle
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.scene.scene_pack import is_scene
from verdigris.core.bundle.verify.verify import verify

from ..bundles import edit, lively_parameters


def place(document, path):
    """The object that a path like weights.tensors.1.offset ends in, and its last step."""
    *steps, last = path.split(".")
    for step in steps:
        document = document[int(step) if step.isdigit() else step]
    return document, int(last) if last.isdigit() else last


def refresh(folder, name):
    """Makes the manifest say of a changed file what is true."""
    data = (folder / name).read_bytes()

    def change(document):
        for entry in document.values():
            if isinstance(entry, dict) and entry.get("file") == name:
                entry.update(bytes=len(data), sha256=digest(data))

    edit(folder, change)


def read_everything(folder):
    bundle = open_bundle(folder)
    bundle.check_files()
    bundle.parameters()
    bundle.reference()


WRONG = [
    ("format", "other.material", "format is 'other.material': a bundle's is"),
    ("version", "3.0", "version is '3.0': this reads 4.x: bake the material again"),
    ("version", "5.0", "version is '5.0': this reads 4.x: use a newer Verdigris"),
    ("version", "1", "version is '1': it must be MAJOR.MINOR"),
    ("version", 1.0, "version is 1.0: it must be a text"),
    ("name", "a\nb", r"name is 'a\nb': it must be a plain text"),
    ("name", " ", "name is ' ': it must be a plain text: printable, and not blank"),
    ("name", "a" * 4097, "…: at most 4096 characters are read"),
    ("network.latent_channels", 16, "network.latent_channels is 16: it must be 4 or 8"),
    ("network.latent_channels", 4, "network.inputs is 28: it must be 24"),
    ("latents.layers", 1, "latents.layers is 1: it must be 2"),
    ("network.inputs", 21, "network.inputs is 21: it must be 28"),
    ("network.layers", [], "network.layers is []: it must be a list of 1 to 9 objects"),
    ("network.layers.0.outputs", 10**9, "network.layers[0].outputs is 1000000000: "),
    ("network.layers.1.inputs", True, "network.layers[1].inputs is True: "),
    ("network.layers.1.activation", "gelu", "network.layers[1].activation is 'gelu': this reads"),
    ("network.layers.2.outputs", 4, "network.layers[2].outputs is 4: "),
    ("network.output.shift", "3", "network.output.shift is '3': it must be a finite number"),
    ("network.output.limit", 1e9, "network.output.limit is 1000000000.0: use at most 10.39"),
    ("network.output.limit", 10.5, "network.output.limit is 10.5: use at most 10.39"),
    ("network.output.lobes", 5, "network.output.lobes is 5: it must be a whole number from 1 to"),
    ("network.output.lobes", 1, "network.layers[2].outputs is 6: "),
    ("network.output.transform", "exp", "network.output.transform is 'exp': this reads sum_of_exp"),
    ("network.directions.stretch_limit", 6, "network.directions.stretch_limit is 6: this"),
    ("network.directions.cosine_offset", 0, "network.directions.cosine_offset is 0: this"),
    ("network.directions.logarithm_share", 1, "network.directions.logarithm_share is 1: this"),
    ("network.output.shift", 1e200, "network.output.shift is 1e+200: it must fit single floats"),
    ("network.directions.half_z_minimum", 0.5, "network.directions.half_z_minimum is 0.5: this"),
    ("weights.bytes", 1 << 40, "weights.bytes is 1099511627776: it must be a whole number"),
    ("weights.bytes", 4000, "weights.bytes is 4000: it must be a multiple of 128"),
    ("weights.file", "../a.bin", "weights.file is '../a.bin': it must be the plain name"),
    ("weights.file", "/etc/passwd", "weights.file is '/etc/passwd': it must be the plain name"),
    ("weights.file", "C:a.bin", "weights.file is 'C:a.bin': it must be the plain name"),
    ("weights.file", "a\\b.bin", r"weights.file is 'a\\b.bin': it must be the plain name"),
    ("weights.file", "nul.bin", "weights.file is 'nul.bin': it must be the plain name"),
    ("weights.file", "a.bin\0", r"weights.file is 'a.bin\x00': it must be the plain name"),
    (
        "weights.file",
        "manifest.json",
        "json: weights.file is 'manifest.json': this is the manifest",
    ),
    ("latents.file", "Weights.BIN", "latents.file is 'Weights.BIN': weights.file names the same"),
    ("weights.sha256", "0", "weights.sha256 is '0': it must be 64"),
    ("weights.tensors.0.name", "other", "weights.tensors names 'frames' 0 times"),
    ("weights.tensors.1.shape", [16, 21], "weights.tensors[1].shape is (16, 21): needs (16, 28)"),
    ("weights.tensors.1.shape", [16, -1], "weights.tensors[1].shape is [16, -1]: it must be"),
    ("weights.tensors.1.type", "float8", "weights.tensors[1].type is 'float8': it must be float16"),
    ("weights.tensors.1.offset", 100, "weights.tensors[1].offset is 100: it must be a multiple"),
    ("weights.tensors.1.offset", 1 << 23, "weights.tensors[1].offset is 8388608: the tensor must"),
    ("weights.tensors.1.offset", -128, "weights.tensors[1].offset is -128: it must be a whole"),
    ("weights.tensors.1.offset", 0, "begins at 0, inside"),
    ("weights.tensors.1.row_stride", 24, "weights.tensors[1].row_stride is 24: it must be a"),
    ("weights.tensors.1.row_stride", 44, "weights.tensors[1].row_stride is 44: it must be a"),
    ("weights.tensors.2.row_stride", 31, "weights.tensors[2].row_stride is 31: it must be 32 or"),
    ("latents.width", 16, "latents.levels is 4: it must be 5"),
    ("latents.width", 1 << 20, "latents.width is 1048576: it must be a whole number from 1 to"),
    ("latents.layers", 3, "latents.layers is 3: it must be"),
    ("latents.format", "BC7", "latents.format is 'BC7': this reads BC7_UNORM_BLOCK or R8"),
    (
        "latents.format",
        "R16G16B16A16_SFLOAT",
        "latents.ktx2: vkFormat is 145: the manifest needs 97",
    ),
    ("latents.scale", [1.0] * 7, "latents.scale is [1.0, "),
    ("latents.scale.3", 0.0, "each must be at least 1.1754944e-38 and below 1e+30"),
    ("latents.scale.0", 1e-320, "manifest.json: latents.scale is [1e-320, "),
    ("latents.scale.0", 1e30, "manifest.json: latents.scale is [1e+30, "),
    ("latents.offset.3", 1e200, "each must be below 1e+30"),
    ("reference.count", 511, "reference.json: count is 512: it must be 511"),
    ("reference.count", 255, "reference.count is 255: it must be a whole number from 256 to 16384"),
    ("bounds.relative", -1, "bounds.relative is -1: it must be 0 or more"),
    ("bounds.floor", 0, "bounds.floor is 0: it must be above 0"),
    ("bounds.relative", 1e300, "bounds.relative is 1e+300: it must be a finite number below 1e+30"),
    ("bounds", None, "bounds is None: it must be an object"),
    ("cost", [], "cost is []: it must be an object"),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG)
def test_a_wrong_field_is_refused_by_file_name_and_value(path, value, message, folder):
    def change(document):
        entry, last = place(document, path)
        entry[last] = value

    edit(folder, change)
    with pytest.raises(BundleError, match=re.escape(message)) as failure:
        read_everything(folder)
    assert str(failure.value).startswith(str(folder))


@pytest.mark.parametrize(
    "path",
    [
        *("format", "version", "name", "network", "weights", "latents", "reference", "bounds"),
        *("network.layers.0.inputs", "network.output.limit", "weights.sha256", "latents.scale"),
        *("weights.tensors.2.offset", "bounds.floor", "response", "source", "cost"),
    ],
)
def test_a_missing_field_is_refused_by_name(path, folder):
    def change(document):
        entry, last = place(document, path)
        del entry[last]

    edit(folder, change)
    shown = re.sub(r"\.(\d+)", r"[\1]", path)
    with pytest.raises(BundleError, match=re.escape(f"manifest.json: {shown} is missing")):
        read_everything(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "line 1 column 1 (char 0): correct it, or write it again"),
        (b"[]", "the top is []: it must be an object"),
        (b"\xff\xfe{}", "is not JSON"),
        (b'{"format": NaN}', "NaN is not a JSON number"),
        (b'{"format": 1e999}', "1e999 is too large"),
        (b'{"format": 1, "format": 2}', "'format' is given twice"),
        (b'{"name": "\\ud800"}', "surrogates not allowed"),
        (b"[" * 100_000, "manifest.json: is nested too deeply"),
        (b'{"a": ' + b'{"b": ' * 100 + b"{}" + b"}" * 101, "json: is nested too deeply"),
        (b'{"a": ' + b"[" * 100 + b"1" + b"]" * 100 + b"}", "json: is nested too deeply"),
        (b'{"a": ' + b"[" * 99 + b"1" + b"]" * 99 + b"}", "json: format is missing"),
        (b'{"a": ' + b"[" * 99 + b"]" * 99 + b"}", "json: format is missing"),
        (b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "json: is nested too deeply"),
        (
            b'{"format": ' + b"9" * 5_000 + b"}",
            "json: contains a number with too many digits: 5000",
        ),
        (
            b'{"format": -' + b"9" * 4_001 + b"}",
            "json: contains a number with too many digits: 4001",
        ),
        (b'{"format": -' + b"9" * 4_000 + b"}", "json: format is -9999"),
    ],
)
def test_a_manifest_that_is_no_json_is_refused(text, message, folder):
    (folder / "manifest.json").write_bytes(text)
    with pytest.raises(BundleError, match=re.escape(message)):
        open_bundle(folder)


def test_the_last_of_very_many_names_is_found_given_twice_at_once(folder):
    names = [f'"k{index}": 0' for index in range(200_000)]
    (folder / "manifest.json").write_text("{" + ", ".join([*names, names[-1]]) + "}")
    before = time.process_time()
    with pytest.raises(BundleError, match="'k199999' is given twice"):
        open_bundle(folder)
    # looking each up among all others took minutes
    assert time.process_time() - before < 10


def test_a_manifest_of_a_hundred_megabytes_is_not_read(folder, monkeypatch):
    # sparse: it takes no room, and would take memory if it were read
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(100 << 20)
    read = []
    monkeypatch.setattr(os, "fdopen", lambda *a, fdopen=os.fdopen: Counted(fdopen(*a), read))
    with pytest.raises(BundleError, match=r"json: has 104857600 bytes: the limit is 4194304"):
        open_bundle(folder)
    assert sum(read) == 0


class Counted:
    """A file that tells how much was read of it."""

    def __init__(self, file, read):
        self._file, self._read = file, read

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def fileno(self):
        return self._file.fileno()

    def read(self, size):
        data = self._file.read(size)
        self._read.append(len(data))
        return data


def test_a_newer_minor_version_and_what_it_adds_are_read(folder):
    def change(document):
        document["version"] = "4.99"
        document["thickness"] = {"file": "thickness.ktx2"}
        document["network"]["comment"] = "new"
        document["weights"]["tensors"][:0] = [
            {"name": "new", "shape": [2, 3, 4], "type": "float8", "offset": 0, "row_stride": 0},
            {"name": "sparse"},
            {"name": "far", "offset": 1 << 60},
        ]

    before = open_bundle(folder).parameters()
    edit(folder, change)
    read_everything(folder)
    np.testing.assert_array_equal(open_bundle(folder).parameters().decoder, before.decoder)


def test_an_unknown_tensor_still_has_a_name_and_leaves_the_others_theirs(folder):
    def add(document):
        document["weights"]["tensors"].insert(0, {"name": 7})

    edit(folder, add)
    with pytest.raises(BundleError, match=r"weights.tensors\[0\].name is 7: it must be a text"):
        open_bundle(folder)

    def name(document):
        document["weights"]["tensors"][0]["name"] = "new"
        document["weights"]["tensors"][2]["offset"] = 100

    edit(folder, name)
    with pytest.raises(BundleError, match=r"weights.tensors\[2\].offset is 100: it must be a"):
        open_bundle(folder)


@pytest.mark.parametrize("stride", [65, 128, 1 << 20])
def test_the_stride_of_a_vector_is_of_no_use(stride, folder):
    def change(document):
        for tensor in document["weights"]["tensors"]:
            if len(tensor["shape"]) == 1:
                tensor["row_stride"] = stride

    before = open_bundle(folder).parameters()
    edit(folder, change)
    read_everything(folder)
    np.testing.assert_array_equal(open_bundle(folder).parameters().decoder, before.decoder)


@pytest.mark.filterwarnings("error")
def test_latents_that_overflow_disagree_and_print_no_warning(folder):
    edit(folder, lambda document: document["latents"].update(offset=[9e29] * 8))
    assert not verify(open_bundle(folder)).holds


def test_bounds_of_0_are_held_to_and_print_no_warning(folder):
    edit(folder, lambda document: document["bounds"].update(relative=0, absolute=0))
    bounds = open_bundle(folder).manifest.bounds
    assert (bounds.relative, bounds.floor, bounds.absolute) == (0, 0.01, 0)


@pytest.mark.parametrize("name", ["weights.bin", "latents.ktx2", "reference.json"])
def test_a_file_that_is_not_the_one_that_was_written_is_refused(name, folder):
    data = bytearray((folder / name).read_bytes())
    data[-20] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(BundleError, match=rf"{name}: sha256 is [0-9a-f]+: the manifest has"):
        read_everything(folder)
    bundle = open_bundle(folder)
    (folder / name).write_bytes(data[:-1])
    message = (
        rf"{name}: bytes are {len(data) - 1}: the manifest has {len(data)}: the file is damaged, "
        "or was replaced while it was read: try again"
    )
    for read in (partial(open_bundle, folder), bundle.check_files):
        with pytest.raises(BundleError, match=message):
            read()
    (folder / name).unlink()
    with pytest.raises(BundleError, match=rf"{name}: there is no such file"):
        open_bundle(folder)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused_by_their_tensor(value, folder):
    data = bytearray((folder / "weights.bin").read_bytes())
    bias = next(t for t in open_bundle(folder).manifest.tensors if t.name == "layer1.bias")
    data[bias.offset + 4 : bias.offset + 6] = np.float16(value).tobytes()
    (folder / "weights.bin").write_bytes(data)
    refresh(folder, "weights.bin")
    with pytest.raises(BundleError, match=r"weights.bin: layer1.bias contains values that are not"):
        read_everything(folder)


def test_a_reference_with_directions_that_are_none_is_refused(folder):
    path = folder / "reference.json"
    document = json.loads(path.read_text())
    document["wi"][7] = [0, 0, 2]
    path.write_text(json.dumps(document))
    refresh(folder, "reference.json")
    with pytest.raises(BundleError, match=r"reference.json: wi is .*: directions must have"):
        read_everything(folder)


def test_links_that_lead_out_are_refused_and_others_are_not(folder):
    weights = folder / "weights.bin"
    outside = folder.parent / "outside.bin"
    outside.write_bytes(weights.read_bytes())
    weights.rename(folder / "moved.bin")
    weights.symlink_to("moved.bin")
    read_everything(folder)
    for target in (outside, "../outside.bin"):
        weights.unlink()
        weights.symlink_to(target)
        with pytest.raises(BundleError, match=r"weights.bin: is a link that leads out"):
            open_bundle(folder)
    weights.unlink()
    weights.symlink_to("weights.bin")
    with pytest.raises(BundleError, match=r"weights.bin: cannot be opened"):
        open_bundle(folder)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder):
    (folder / "weights.bin").unlink()
    os.mkfifo(folder / "weights.bin")
    with pytest.raises(BundleError, match=r"weights.bin: is not a plain file"):
        open_bundle(folder)
    for name in ("weights.bin", "manifest.json"):
        (folder / name).unlink()
        (folder / name).mkdir()
        with pytest.raises(BundleError, match=rf"{name}: is not a plain file"):
            open_bundle(folder)


def test_a_path_that_is_not_a_bundle_is_refused_with_the_reason(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty.vdg").mkdir()
    for name, message in (
        ("file", "is a file: a bundle is a folder"),
        ("gone.vdg", "there is no such bundle"),
        ("empty.vdg", "is not a bundle: it has no manifest.json"),
    ):
        with pytest.raises(BundleError, match=re.escape(f"{tmp_path / name}: {message}")):
            open_bundle(tmp_path / name)
    too_long = tmp_path / ("n" * 300)
    assert not is_bundle(too_long) and not is_scene(too_long)
    with pytest.raises(BundleError, match=r"cannot be opened .*File name too long"):
        open_bundle(too_long)


@pytest.mark.parametrize("part", ["decoder", "latents"])
@pytest.mark.parametrize("value", [np.nan, 1e6], ids=["no number", "beyond half floats"])
def test_numbers_that_no_bundle_can_hold_are_not_written(part, value, tmp_path):
    parameters = lively_parameters()
    getattr(parameters, part).flat[3] = value
    with pytest.raises(BundleError, match=r"half float|not finite"):
        write_bundle(
            tmp_path / "a.vdg", export_numbers(parameters, format_name=RGBA16F), Contents()
        )
    assert list(tmp_path.iterdir()) == []
