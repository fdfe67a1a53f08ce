"""examples/learn/texture_network: gradients, training, and files of networks."""

import ctypes
import itertools

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.compress.mlp import network_defines


@pytest.fixture(scope="module")
def example(learn):
    return learn("texture_network")


@pytest.fixture(scope="module")
def picture():
    random = np.random.default_rng(3)
    return np.kron(random.random((4, 4, 3)), np.ones((4, 4, 1))).astype("f4")


def small(example, device, picture, samples=256):
    layers = example.first_layers([24, 16, 16, 3])
    return example.TextureNetwork(device, picture, layers, "copy", samples), layers


def forward(layers, uv):
    """In double precision."""
    angle = 2 * np.pi * uv[..., None] * 2.0 ** np.arange(6)
    x = np.stack(
        [np.sin(angle[:, 0]), np.cos(angle[:, 0]), np.sin(angle[:, 1]), np.cos(angle[:, 1])], -1
    )
    x = x.reshape(len(uv), -1)
    for layer in layers[:-1]:
        x = x @ layer.matrix.T.astype(float) + layer.bias
        x = np.maximum(x, 0.01 * x)
    return x @ layers[-1].matrix.T.astype(float) + layers[-1].bias


def test_the_picture_of_a_network_is_that_of_numpy(example, device, picture):
    texture, layers = small(example, device, picture)
    drawn, original = texture.draw(16)
    rows, columns = np.mgrid[:16, :16]
    uv = (np.stack([columns, rows], -1).reshape(-1, 2) + 0.5) / 16
    np.testing.assert_allclose(drawn.reshape(-1, 3), forward(layers, uv), atol=2e-2)
    np.testing.assert_array_equal(original, picture)


def test_gradients_are_the_change_of_the_error(example, device, picture):
    # of all samples of a picture of one colour, in expectation
    texture, layers = small(example, device, np.full((4, 4, 3), 0.25, "f4"), samples=1024)
    texture.train(1, 100, rate=0.0)
    gradients = texture.network.gradients()
    uv = np.random.default_rng(0).random((16384, 2))

    def loss():
        return np.mean((forward(layers, uv) - 0.25) ** 2)

    for index in (0, 1, 2):
        found = gradients[index].matrix
        row, column = np.unravel_index(np.abs(found).argmax(), found.shape)
        place, step = layers[index].matrix, 1e-3
        ends = []
        for sign in (1, -2):
            place[row, column] += sign * step
            ends.append(loss())
        place[row, column] += step
        assert found[row, column] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=0.25)


def test_transposed_rows_are_whole_for_matrix_hardware(example, device, picture):
    texture, layers = small(example, device, picture)
    stored = texture.network.buffers["transposed"].to_numpy().view(np.float16)
    before = sum(part.size for layer in layers[:-1] for part in layer)
    rows = stored[before : before + 16 * 8].reshape(16, 8)
    np.testing.assert_array_equal(rows[:, :3], layers[-1].matrix.T.astype(np.float16))
    assert not rows[:, 3:].any()
    with pytest.raises(VerdigrisError, match="multiples of 8"):
        network_defines(device, example.first_layers([20, 16, 3]))


@pytest.mark.gpu
def test_matrix_hardware_learns_by_the_gradients_of_loops(learn, example, picture, monkeypatch):
    card, defines = open_device("auto"), example.network_defines
    layers = example.first_layers([24, 64, 64, 3])
    if not defines(card, layers)["COOPERATIVE"]:
        pytest.skip(f"{card} has no cooperative vectors")
    found = []
    for changes in ({}, {"COOPERATIVE": 0}):
        monkeypatch.setattr(
            example, "network_defines", lambda *given, to=changes: {**defines(*given), **to}
        )
        texture = example.TextureNetwork(card, picture, layers, "copy", 1024)
        texture.train(1, 100, rate=0.0)
        found.append([layer.matrix for layer in texture.network.gradients()])
    for hardware, loop in zip(*found, strict=True):
        assert np.linalg.norm(hardware - loop) < 0.05 * np.linalg.norm(loop)


def test_training_learns_the_picture_and_goes_on_from_a_file(example, device, picture, tmp_path):
    texture, _ = small(example, device, picture)
    before = example.psnr(*texture.draw(16))
    texture.train(150, 150, rate=4e-3)
    learned = example.psnr(*texture.draw(16))
    assert learned > before + 8
    path = tmp_path / "network.bin"
    example.write_network(path, texture.network.layers())
    again = example.TextureNetwork(device, picture, example.read_network(path), "copy", 256)
    assert example.psnr(*again.draw(16)) == pytest.approx(learned, abs=0.3)


class Architecture(ctypes.Structure):
    """As RTXNS declares it; the compiler's rules for padding are ctypes' own."""

    _fields_ = [
        (name, ctypes.c_uint32)
        for name in ("hidden", "inputs", "width", "outputs", "weight_type", "bias_type")
    ]


class LayerRecord(ctypes.Structure):
    _fields_ = [
        ("inputs", ctypes.c_uint32),
        ("outputs", ctypes.c_uint32),
        ("weight_size", ctypes.c_uint64),
        ("bias_size", ctypes.c_uint64),
        ("weight_offset", ctypes.c_uint32),
        ("bias_offset", ctypes.c_uint32),
    ]


class Header(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32),
        ("architecture", Architecture),
        ("layers", LayerRecord * 8),
        ("layout", ctypes.c_uint32),
        ("size", ctypes.c_uint64),
    ]


def test_rtxns_reads_what_is_written(example, tmp_path):
    random = np.random.default_rng(6)
    widths = (24, 16, 16, 3)
    layers = [
        example.Layer(random.normal(size=(rows, columns)), random.normal(size=rows))
        for columns, rows in itertools.pairwise(widths)
    ]
    example.write_network(tmp_path / "ours.bin", layers)
    data = (tmp_path / "ours.bin").read_bytes()
    header = Header.from_buffer_copy(data)
    assert header.version == 0xA1C0DE01
    architecture = [getattr(header.architecture, name) for name, _ in Architecture._fields_]
    assert architecture == [2, 24, 16, 3, 0, 0]
    numbers = data[ctypes.sizeof(Header) :]
    assert (header.layout, header.size) == (0, len(numbers))
    for layer, record in zip(layers, header.layers, strict=False):
        rows, columns = layer.matrix.shape
        assert (record.inputs, record.outputs) == (columns, rows)
        assert (record.weight_size, record.bias_size) == (2 * rows * columns, 2 * rows)
        assert (record.weight_offset % 64, record.bias_offset % 16) == (0, 0)
        for at, wanted in ((record.weight_offset, layer.matrix), (record.bias_offset, layer.bias)):
            found = np.frombuffer(numbers, "<f2", wanted.size, at)
            np.testing.assert_array_equal(found, wanted.ravel().astype("<f2"))


def test_a_file_that_rtxns_wrote_is_read(example, tmp_path):
    # biases stand at multiples of 16
    first, second = np.arange(6, dtype="<f2"), np.arange(9, 12, dtype="<f2")
    data = bytearray(128)
    for at, part in ((0, first), (16, np.array([1, 2, 3], "<f2")), (64, second), (80, second[:1])):
        data[at : at + part.nbytes] = part.tobytes()
    header = Header(version=0xA1C0DE01, architecture=(1, 2, 3, 1, 0, 0), layout=0, size=len(data))
    header.layers[0] = LayerRecord(2, 3, 12, 6, 0, 16)
    header.layers[1] = LayerRecord(3, 1, 6, 2, 64, 80)
    path = tmp_path / "theirs.bin"
    path.write_bytes(bytes(header) + data)
    one, two = example.read_network(path)
    np.testing.assert_array_equal(one.matrix, [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(one.bias, [1, 2, 3])
    np.testing.assert_array_equal(two.matrix, [[9, 10, 11]])
    np.testing.assert_array_equal(two.bias, [9])
    with pytest.raises(VerdigrisError, match="2 inputs and 1 outputs"):
        example.check_network([one, two], path)
    for damage, message in ((b"no", "no RTXNS network"), (path.read_bytes()[:-9], "whole files")):
        path.write_bytes(damage)
        with pytest.raises(VerdigrisError, match=message):
            example.read_network(path)
