"""The shaders that go into a bundle's runtime/: specialised for one network, in four languages."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from verdigris.core.base.device import MOST_CONSTANT_BYTES, cache_folder
from verdigris.core.bundle.files.arithmetic import COOPERATIVE, PORTABLE, way_of
from verdigris.core.bundle.files.checked_files import digest
from verdigris.core.bundle.files.decoder_words import FRAMES, bias_name, weights_name
from verdigris.core.bundle.files.manifest_parts import RUNTIME_FOLDER, FileRecord
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.precision.halves import CAREFUL_UNITS
from verdigris.core.bundle.runtime.runtime_text import WHOLE_SHADER, as_include
from verdigris.core.bundle.runtime.slang_compiler import compile_entry_point, compiler_version
from verdigris.core.network.spec import (
    ACTIVATIONS,
    COSINE_OFFSET,
    FRAME_INPUTS,
    HALF_Z_MINIMUM,
    LEAKY_SLOPE,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    SMELU_WIDTH,
    STRETCH_LIMIT,
    NetworkSpec,
)
from verdigris.shaders import SHADER_FOLDER

RUNTIME_SHADERS = SHADER_FOLDER / "bundle" / "runtime"
NETWORK_MODULE = "neural_network"
ENTRY_FILE = "evaluate_queries.slang"
ENTRY_POINT = "evaluateQueries"
# Compiled to text, which other shaders include.
TEXTS = (".hlsl", ".glsl")
_HALVES = 2
# NEURAL_ROLLED for compilers that unroll what they are told to: a third of the text.
_LEFT_ROLLED = 2
# Of SPIR-V: words before the first instruction; the instruction that names the source's language.
_SPIRV_HEADER, _OP_SOURCE, _UNKNOWN_LANGUAGE = 5, 3, 0
# Changes with what is made of the compiler's output, so that nothing old is taken from the cache.
_KEPT_FORM = b"2"
# Up to here a plain first layer before cooperative vectors is faster from a constant buffer.
_WIDEST_OF_CONSTANTS = 32


@dataclass(frozen=True)
class Target:
    """How one of the compiled files is made."""

    arguments: tuple[str, ...]
    """The compiler's target and profile."""
    is_cooperative: bool = False
    """Its decoder uses cooperative vectors."""
    is_sampled: bool = False
    """The texture unit filters, in the place of exact code."""
    is_constant: bool = False
    """Plain layers come from a constant buffer, which holds one decoder."""
    way: int = COOPERATIVE
    """What plain code does of the hidden layers beside cooperative vectors, of WAYS."""

    @property
    def defines(self) -> tuple[str, ...]:
        return (
            f"-DNEURAL_COOPERATIVE={int(self.is_cooperative)}",
            f"-DNEURAL_FILTER={int(self.is_sampled)}",
            f"-DNEURAL_CONSTANTS={int(self.is_constant)}",
            f"-DNEURAL_CAREFUL={self.way}",
            f"-DNEURAL_ROLLED={_LEFT_ROLLED if 'hlsl' in self.arguments else 0}",
        )


_HLSL = ("-target", "hlsl", "-profile", "sm_6_0")
_GLSL = ("-target", "glsl")
_SPIRV = ("-target", "spirv", "-O2", "-capability", "sm_6_0")
# Slang has no cooperative vectors in GLSL, only loops that stand for them; HLSL needs SM 6.9 for
# them, and their SPIR-V extension SPIR-V 1.6.
TARGETS: dict[str, Target] = {
    "portable.hlsl": Target(_HLSL),
    "portable.glsl": Target(_GLSL),
    "portable.spv": Target((*_SPIRV, "-profile", "spirv_1_5")),
    # Slang holds SampleLevel to be of SM 6.6; the text is the same, and compiles for 6.0
    "portable_sampled.hlsl": Target((*_HLSL, "-capability", "sm_6_6"), is_sampled=True),
    "portable_sampled.glsl": Target(_GLSL, is_sampled=True),
    "portable_constants.hlsl": Target(
        (*_HLSL, "-capability", "sm_6_6"), is_sampled=True, is_constant=True
    ),
    "portable_constants.glsl": Target(_GLSL, is_sampled=True, is_constant=True),
    "cooperative.hlsl": Target(
        ("-target", "hlsl", "-profile", "sm_6_9"), is_cooperative=True, is_constant=True
    ),
    "cooperative.spv": Target(
        (*_SPIRV, "-profile", "spirv_1_6"), is_cooperative=True, is_constant=True
    ),
}


def fits_in_constants(spec: NetworkSpec) -> bool:
    """Whether NeuralFloats of this network may be a constant buffer."""
    floats = plan_tensors(spec)[1] // _HALVES
    return 4 * floats <= MOST_CONSTANT_BYTES


def gains_by_constants(spec: NetworkSpec, advised: str | None = None) -> bool:
    """Whether cooperative code is faster with what it does plainly in a constant buffer."""
    is_narrow = spec.hidden_width <= _WIDEST_OF_CONSTANTS
    return fits_in_constants(spec) and (is_narrow or way_of(advised) == COOPERATIVE)


def targets_of(
    spec: NetworkSpec, advised: str | None = None, decoders: int = 1
) -> dict[str, Target]:
    """Without those that a network is too large for, or that the advice of its numbers forbids.
    Of several decoders a constant buffer holds one: cooperative code serves all of them without."""
    plain = {name: target for name, target in TARGETS.items() if not target.is_cooperative}
    if not fits_in_constants(spec):
        plain = {name: target for name, target in plain.items() if not target.is_constant}
    if advised == PORTABLE:
        # what is not there cannot be taken by mistake
        return plain
    constants = decoders == 1 and gains_by_constants(spec, advised)
    way = way_of(advised)
    return plain | {
        name: replace(target, is_constant=constants, way=way)
        for name, target in TARGETS.items()
        if target.is_cooperative
    }


def network_source(spec: NetworkSpec) -> str:
    """The one module that differs from network to network: its shape and where its weights lie."""
    tensors, size = plan_tensors(spec)
    places = {tensor.name: tensor for tensor in tensors}
    layers = range(len(spec.layers))
    matrices = [places[weights_name(layer)] for layer in layers]
    numbers: dict[str, int | float] = {
        "kLatentChannels": spec.latent_channels,
        "kPaddedLatents": places[FRAMES].row_stride // _HALVES,
        "kFrameCount": spec.frame_count,
        "kFrameInputs": FRAME_INPUTS,
        "kInputs": spec.inputs,
        "kPaddedInputs": matrices[0].row_stride // _HALVES,
        "kHiddenWidth": spec.hidden_width,
        "kPaddedHidden": matrices[1].row_stride // _HALVES,
        "kHiddenLayers": spec.hidden_layers,
        "kCarefulUnits": min(CAREFUL_UNITS, spec.hidden_width),
        "kOutputs": spec.outputs,
        "kWeightBytes": size,
        "kFrames": places[FRAMES].offset,
        "kOutputShift": float(spec.output_shift),
        "kOutputLimit": float(spec.output_limit),
        "kLeakySlope": LEAKY_SLOPE,
        "kSmeluWidth": SMELU_WIDTH,
        "kLengthEpsilon": LENGTH_EPSILON,
        "kHalfZMinimum": HALF_Z_MINIMUM,
        "kStretchLimit": STRETCH_LIMIT,
        "kCosineOffset": COSINE_OFFSET,
        "kLogarithmShare": LOGARITHM_SHARE,
    }
    lines = [
        "// Generated: one decoder's shape, and where its numbers lie in weights.bin, in bytes.",
        "// kPadded... are lengths of rows with their padding.",
        "",
        *(
            f"public static const int k{name} = {number};"
            for number, name in enumerate(ACTIVATIONS.values())
        ),
        f"public static const int kActivation = k{ACTIVATIONS[spec.activation]};",
    ]
    for name, value in numbers.items():
        kind = "int" if isinstance(value, int) else "float"
        lines.append(f"public static const {kind} {name} = {value!r};")
    biases = [places[bias_name(layer)] for layer in layers]
    for name, chosen in (("kMatrices", matrices), ("kBiases", biases)):
        offsets = ", ".join(str(tensor.offset) for tensor in chosen)
        lines.append(f"public static const uint {name}[{len(chosen)}] = {{ {offsets} }};")
    return "\n".join(lines) + "\n"


def slang_files(spec: NetworkSpec) -> dict[str, bytes]:
    """The Slang modules by file name."""
    files = {path.name: path.read_bytes() for path in sorted(RUNTIME_SHADERS.glob("*.slang"))}
    return {**files, f"{NETWORK_MODULE}.slang": network_source(spec).encode()}


def other_modules(spec: NetworkSpec, records: Iterable[FileRecord]) -> list[str]:
    """Of the Slang modules in a folder's runtime/, the files that are not what is written for this
    network here and now."""
    written = {f"{RUNTIME_FOLDER}{name}": digest(data) for name, data in slang_files(spec).items()}
    return [each.file for each in records if written.get(each.file, each.sha256) != each.sha256]


def runtime_files(
    spec: NetworkSpec, advised: str | None = None, decoders: int = 1
) -> dict[str, bytes]:
    """Everything that goes into runtime/, by the advice of the numbers that it will decode.
    Compiled once for a network, then kept."""
    sources = slang_files(spec)
    result = dict(sources)
    for name, target in targets_of(spec, advised, decoders).items():
        kept = _kept_folder(sources, name, target)
        data = _read_kept(kept, name)
        if data is None:
            data = _compile(sources, name, target)
            _keep(kept, name, data)
        result[name] = data
        if name.endswith(".glsl"):
            result[f"{Path(name).stem}.comp"] = WHOLE_SHADER.format(name=name).encode()
    return result


def _without_language(code: bytes) -> bytes:
    """A SPIR-V module that does not say that its source is in Slang: validation layers of early
    2023, which distributions still ship, call a module invalid whose language they do not know."""
    result = bytearray(code)
    at = 4 * _SPIRV_HEADER
    while at < len(code):
        operation, words = struct.unpack_from("<2H", code, at)
        if operation == _OP_SOURCE:
            struct.pack_into("<I", result, at + 4, _UNKNOWN_LANGUAGE)
        at += 4 * words
    return bytes(result)


def _compile(sources: dict[str, bytes], name: str, target: Target) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        for file, data in sources.items():
            (Path(folder) / file).write_bytes(data)
        code = compile_entry_point(
            [
                Path(folder) / ENTRY_FILE,
                *("-entry", ENTRY_POINT, "-stage", "compute", *target.arguments),
                *target.defines,
                *("-no-mangle", "-line-directive-mode", "none"),
            ]
        )
    suffix = Path(name).suffix
    if suffix in TEXTS:
        return as_include(code, suffix, compiler_version())
    return _without_language(code)


def _kept_folder(sources: dict[str, bytes], name: str, target: Target) -> Path | None:
    """One for each way to compile a file, so that bundles of other advice share most of them."""
    folder = cache_folder()
    if folder is None:
        return None
    found = hashlib.sha256()
    how = [
        (name, repr(target).encode()),
        ("compiler", compiler_version().encode()),
        ("form", _KEPT_FORM),
    ]
    for each, data in (*sources.items(), *how):
        found.update(f"{each} {len(data)} ".encode() + data)
    return folder / "runtime" / found.hexdigest()[:32]


def _read_kept(folder: Path | None, name: str) -> bytes | None:
    if folder is None:
        return None
    try:
        return (folder / name).read_bytes() or None
    except OSError:
        return None


def _keep(folder: Path | None, name: str, data: bytes) -> None:
    """A cache that cannot be written costs time alone."""
    if folder is None:
        return
    temporary = folder / f".{name}.{os.getpid()}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(folder / name)
    except OSError:
        temporary.unlink(missing_ok=True)
