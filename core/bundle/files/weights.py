"""weights.bin: the decoder in little-endian half floats, aligned for cooperative vectors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.manifest_network import FRAMES, bias_name, head_names, weights_name
from verdigris.core.bundle.files.manifest_parts import HALF, Tensor
from verdigris.core.network.light.sampler import all_head_views
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LARGEST_HALF, NetworkSpec

MATRIX_ALIGNMENT = 128
BIAS_ALIGNMENT = 64
STRIDE_ALIGNMENT = 16
FILE_ALIGNMENT = 128


def align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


class StoredNumbers(NamedTuple):
    """The numbers of weights.bin, in single floats."""

    decoder: NDArray[np.float32]
    head: NDArray[np.float32] | None
    """Numbers of the heads of sampler and split, if the file has them."""


def plan_tensors(spec: NetworkSpec, has_head: bool = True) -> tuple[tuple[Tensor, ...], int]:
    """The tensors' places, and the length of the file. Without heads their place stays free, so
    that one shader reads both kinds of files."""
    tensors: list[Tensor] = []
    end = 0

    def add(name: str, *shape: int) -> None:
        nonlocal end
        stride = HALF.itemsize * shape[-1]
        if len(shape) == 2:
            stride = align(stride, STRIDE_ALIGNMENT)
        start = align(end, MATRIX_ALIGNMENT if len(shape) == 2 else BIAS_ALIGNMENT)
        tensors.append(Tensor(name, shape, start, stride))
        end = tensors[-1].end

    add(FRAMES, spec.frame_rows, spec.place_inputs)
    for index, layer in enumerate(spec.layers):
        add(weights_name(index), layer.outputs, layer.inputs)
        add(bias_name(index), layer.outputs)
    decoder = len(tensors)
    for name, layer in zip(head_names()[::2], spec.head_layers, strict=True):
        add(name, layer.outputs, layer.inputs)
        add(name.replace("weights", "bias"), layer.outputs)
    return tuple(tensors if has_head else tensors[:decoder]), align(end, FILE_ALIGNMENT)


def round_decoder(decoder: FloatArray) -> NDArray[np.float32]:
    """The decoder rounded to half floats, as single floats."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = decoder.astype(np.float16)
    if not np.isfinite(rounded).all():
        largest = float(np.abs(decoder).max())
        raise BundleError(
            f"the decoder's largest number is {largest:.4g}: half floats end at "
            f"{LARGEST_HALF:.0f}: bake again with another seed or a lower learning rate"
        )
    return rounded.astype(np.float32)


def pack_weights(parameters: Parameters) -> tuple[bytes, tuple[Tensor, ...]]:
    """The bytes of the file, and the tensors' places in it."""
    head = parameters.head
    tensors, size = plan_tensors(parameters.spec, head is not None)
    rounded = round_decoder(parameters.decoder).astype(HALF)
    values = _views(parameters.spec, rounded, None if head is None else head.astype(HALF))
    data = np.zeros(size, np.uint8)
    for tensor in tensors:
        tensor_rows(data, tensor)[:] = values[tensor.name].reshape(-1, tensor.shape[-1])
    return data.tobytes(), tensors


def constant_floats(spec: NetworkSpec, tensors: tuple[Tensor, ...], data: bytes) -> bytes:
    """constants.bin: every half as a single float, as shaders read them from constants. The
    matrices between hidden layers 0 and 1, 2 and 3, … are transposed."""
    floats = np.frombuffer(data, HALF).astype("<f4")
    between = {weights_name(index) for index in range(1, spec.hidden_layers, 2)}
    for tensor in tensors:
        if tensor.name in between:
            step = tensor.row_stride // HALF.itemsize
            start = tensor.offset // HALF.itemsize
            # square, because all hidden layers have one width
            square = floats[start : start + step * tensor.shape[0]].reshape(tensor.shape[0], step)
            rows = square[:, : tensor.shape[1]]
            rows[:] = rows.T.copy()
    return floats.tobytes()


def check_tensors(spec: NetworkSpec, tensors: tuple[Tensor, ...], size: int, file: str) -> None:
    """Requires each tensor of the network once, aligned, inside the file, without overlap."""
    has_head = any(tensor.name in head_names() for tensor in tensors)
    wanted = {tensor.name: tensor for tensor in plan_tensors(spec, has_head)[0]}
    names = [tensor.name for tensor in tensors]
    for name in wanted:
        if names.count(name) != 1:
            raise BundleError(
                f"{file}: weights.tensors names {name!r} {names.count(name)} times: "
                "it must name it once"
            )
    for tensor in tensors:
        _check_tensor(tensor, _own_shape(spec, tensor, wanted[tensor.name].shape), size, file)
    ordered = sorted(tensors, key=lambda tensor: tensor.offset)
    for before, after in pairwise(ordered):
        if before.end > after.offset:
            raise BundleError(
                f"{file}: weights.tensors: {after.name!r} begins at {after.offset}, inside "
                f"{before.name!r}, which ends at {before.end}"
            )


def _own_shape(spec: NetworkSpec, tensor: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that a tensor needs. Older bundles have no rows for leaning, or for tilts."""
    older = {spec.untilted_outputs, spec.tilted_outputs}
    is_older = tensor.name in head_names()[2:4] and not older.isdisjoint(tensor.shape[:1])
    return (tensor.shape[0], *shape[1:]) if is_older else shape


def _check_tensor(tensor: Tensor, shape: tuple[int, ...], size: int, file: str) -> None:
    """Requires this shape, alignment, and a place within the `size` bytes of the file."""
    is_matrix, width = tensor.is_matrix, HALF.itemsize * shape[-1]

    def require(holds: bool, name: str, value: object, remedy: str) -> None:
        if not holds:
            raise BundleError(f"{file}: {tensor.place}.{name} is {value}: {remedy}")

    require(tensor.type == "float16", "type", repr(tensor.type), "it must be float16")
    require(tensor.shape == shape, "shape", tensor.shape, f"needs {shape}")
    step = STRIDE_ALIGNMENT if is_matrix else 1
    multiple = f"a multiple of {step} from {width} up" if is_matrix else f"{width} or more"
    fits = tensor.row_stride >= width and tensor.row_stride % step == 0
    require(fits, "row_stride", tensor.row_stride, f"it must be {multiple}")
    alignment = MATRIX_ALIGNMENT if is_matrix else BIAS_ALIGNMENT
    is_aligned = tensor.offset % alignment == 0
    require(is_aligned, "offset", tensor.offset, f"it must be a multiple of {alignment}")
    remedy = f"the tensor must end within the {size} bytes of the file"
    require(tensor.end <= size, "offset", tensor.offset, remedy)


def unpack_weights(
    spec: NetworkSpec, tensors: tuple[Tensor, ...], data: bytes, file: str
) -> StoredNumbers:
    """The flat vectors of a file with checked tensors."""
    decoder = np.zeros(spec.parameter_count, np.float32)
    head = None
    if any(tensor.name in head_names() for tensor in tensors):
        head = np.zeros(spec.head_layers[-1].end, np.float32)
    views = _views(spec, decoder, head)
    raw = np.frombuffer(data, np.uint8)
    for tensor in tensors:
        values = tensor_rows(raw, tensor)
        if not np.isfinite(values).all():
            raise BundleError(f"{file}: {tensor.name} contains values that are not finite")
        # rows that older files lack are zero
        views[tensor.name][: tensor.shape[0]] = values.reshape(tensor.shape)
    return StoredNumbers(decoder, head)


def _views(
    spec: NetworkSpec, decoder: NDArray[Any], head: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Views of the flat vectors, by the names of tensors."""
    start, size = spec.frame_offset, spec.frame_size
    views = {FRAMES: decoder[start : start + size].reshape(spec.frame_rows, -1)}
    for index, layer in enumerate(spec.layers):
        weights = decoder[layer.weight_offset : layer.bias_offset]
        views[weights_name(index)] = weights.reshape(layer.outputs, -1)
        views[bias_name(index)] = decoder[layer.bias_offset : layer.end]
    if head is not None:
        views |= zip(head_names(), all_head_views(spec, head), strict=True)
    return views


def tensor_rows(data: NDArray[np.uint8], tensor: Tensor) -> NDArray[np.float16]:
    """View of a tensor's rows in the file, without padding."""
    count = tensor.shape[0] if tensor.is_matrix else 1
    rows = data[tensor.offset : tensor.end].view(HALF).reshape(count, -1)
    return rows[:, : tensor.shape[-1]]
