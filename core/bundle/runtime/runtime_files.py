"""The shaders in a bundle's runtime/: compiled for one architecture, in every language."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from verdigris.core.base.device import cache_folder
from verdigris.core.base.files import make_folders, replace_file
from verdigris.core.base.process.profile import profiled, span
from verdigris.core.bundle.files.arithmetic import COOPERATIVE, PORTABLE, careful_level
from verdigris.core.bundle.files.manifest_parts import RUNTIME_FOLDER, FileRecord
from verdigris.core.bundle.files.read import digest
from verdigris.core.bundle.runtime import readable_text, spirv, text_forms
from verdigris.core.bundle.runtime.network_module import (
    NETWORK_MODULE,
    fits_in_constants,
    network_source,
)
from verdigris.core.bundle.runtime.slang_compiler import (
    compile_entry_point,
    compiler_version,
    result_ahead,
    working_ahead,
)
from verdigris.core.bundle.runtime.spirv import mended
from verdigris.core.bundle.runtime.text_forms import (
    ES_SUFFIX,
    TEXTS,
    WHOLE_SHADER,
    as_relief_text,
    as_text,
    suffix_of,
)
from verdigris.core.network.spec import NetworkSpec
from verdigris.shaders import SHADER_FOLDER

RUNTIME_SHADERS = SHADER_FOLDER / "bundle" / "runtime"
# Programs in C on the header, with a shader.
EXAMPLES = SHADER_FOLDER / "bundle" / "examples"
ENTRY_FILE = "evaluate_queries.slang"
# The modules of surfaces that transmit, which only their bundles have.
SIDES_FILES = ("neural_sides.slang", "neural_environment_sides.slang")
RELIEF_SHADER = "neural_relief.slang"
RELIEF_ENTRY = "evaluate_relief.slang"
# Reads bundles in C.
HEADER = "verdigris.h"
ENTRY_POINT = "evaluateQueries"
# One material, for languages without arrays of textures.
ENTRY_FILE_OF_ONE = "evaluate_one.slang"
# NEURAL_ROLLED for HLSL, whose compiler unrolls loops itself: a third of the text.
_LEFT_ROLLED = 2
# NEURAL_ROLLED for browsers, which compile in view of the user.
_ROLLED = 1
# Up to this width, a plain first layer before cooperative vectors is faster from constants.
_WIDEST_OF_CONSTANTS = 32


@dataclass(frozen=True)
class Target:
    """How a compiled file is made."""

    arguments: tuple[str, ...]
    """The compiler's target and profile."""
    is_cooperative: bool = False
    """Its decoder uses cooperative vectors."""
    is_sampled: bool = False
    """The texture unit filters, instead of exact code."""
    is_constant: bool = False
    """Plain layers come from a constant buffer, which holds one decoder."""
    way: int = COOPERATIVE
    """Value of WAYS: the hidden layers' parts in plain code."""
    rolled: int = 0
    """NEURAL_ROLLED of neural_loops.slang."""
    textures: int = 1
    """Length of the array of textures."""
    entry: str = ENTRY_FILE
    """The file with the entry point."""
    stage: str = "compute"
    is_float_texture: bool = False
    """The constants are in a texture."""
    is_together: bool = False
    """The points of a group of threads are evaluated together, with cooperative matrices."""
    has_live: bool = False
    """Its functions take live values."""
    sides: int = 0
    """NEURAL_SIDES of neural_sides.slang."""
    heights: int = 0
    """Length of the array of height maps; 0 for the one of a material."""

    @property
    def is_of_one(self) -> bool:
        return self.entry == ENTRY_FILE_OF_ONE

    @property
    def defines(self) -> tuple[str, ...]:
        if self.entry == RELIEF_ENTRY:
            return (f"-DNEURAL_HEIGHTS={self.heights}",)
        values = {
            "COOPERATIVE": self.is_cooperative,
            "CONSTANTS": 2 if self.is_float_texture else self.is_constant,
            "CAREFUL": self.way,
            "ROLLED": self.rolled,
        }
        if self.is_of_one:
            values["PIXELS"] = self.stage == "fragment"
        else:
            values |= {
                "FILTER": self.is_sampled,
                "TEXTURES": self.textures,
                "MATRICES": self.is_together,
            }
        if self.has_live:
            values["LIVE"] = True
        if self.sides:
            values["SIDES"] = self.sides
        return tuple(f"-DNEURAL_{name}={int(value)}" for name, value in values.items())


# Slang requires SM 6.6 for SampleLevel, which the text may contain; it compiles for SM 6.0.
_HLSL = Target(
    ("-target", "hlsl", "-profile", "sm_6_0", "-capability", "sm_6_6"),
    rolled=_LEFT_ROLLED,
    # as_text() makes a define of the array
    textures=2,
)
_COOPERATIVE_HLSL = replace(
    _HLSL,
    arguments=("-target", "hlsl", "-profile", "sm_6_9"),
    is_cooperative=True,
    is_constant=True,
)
_GLSL = Target(("-target", "glsl"), textures=2)
_SPIRV = ("-target", "spirv", "-O2", "-capability", "sm_6_0")
# Constants, because these languages have no byte-address buffers or read them slowly.
_ONE = Target((), is_constant=True, entry=ENTRY_FILE_OF_ONE)
# No cooperative GLSL: Slang replaces cooperative vectors by loops there. HLSL needs SM 6.9 for
# them, and their SPIR-V extension SPIR-V 1.6. Plain SPIR-V is 1.3, which copies structures member
# by member: wgpu does not know OpCopyLogical.
TARGETS: dict[str, Target] = {
    "portable.hlsl": _HLSL,
    "portable.glsl": _GLSL,
    "portable.spv": Target((*_SPIRV, "-profile", "spirv_1_3")),
    "portable_sampled.hlsl": replace(_HLSL, is_sampled=True),
    "portable_sampled.glsl": replace(_GLSL, is_sampled=True),
    "portable_constants.hlsl": replace(_HLSL, is_sampled=True, is_constant=True),
    "portable_constants.glsl": replace(_GLSL, is_sampled=True, is_constant=True),
    "portable.wgsl": replace(_ONE, arguments=("-target", "wgsl"), rolled=_ROLLED),
    f"portable{ES_SUFFIX}": replace(
        _ONE, arguments=("-target", "glsl"), rolled=_ROLLED, stage="fragment", is_float_texture=True
    ),
    "portable.metal": replace(_ONE, arguments=("-target", "metal")),
    "cooperative.hlsl": _COOPERATIVE_HLSL,
    # dx::linalg as in the preview of SM 6.10
    "cooperative_6_10.hlsl": replace(
        _COOPERATIVE_HLSL, arguments=("-target", "hlsl", "-profile", "sm_6_10")
    ),
    "cooperative.spv": Target(
        (*_SPIRV, "-profile", "spirv_1_6", "-capability", "spvCooperativeVectorNV"),
        is_cooperative=True,
        is_constant=True,
    ),
    # Slang asks for the second capability, but does not write it.
    "cooperative_matrix.spv": Target(
        (
            *_SPIRV,
            *("-profile", "spirv_1_6", "-capability", "spvCooperativeMatrixKHR"),
            *("-capability", "spvCooperativeMatrixConversionsNV"),
        ),
        is_together=True,
    ),
}


# Relief of one material, which no architecture changes.
RELIEF_TARGETS = {
    f"relief{suffix}": Target(arguments, entry=RELIEF_ENTRY)
    for suffix, arguments in (
        (".hlsl", ("-target", "hlsl", "-profile", "sm_6_0")),
        (".glsl", ("-target", "glsl")),
        (".wgsl", ("-target", "wgsl")),
        (".metal", ("-target", "metal")),
        (ES_SUFFIX, ("-target", "glsl")),
    )
}
# In the others a scene pack has a draw for each material.
_OF_SEVERAL = (".hlsl", ".glsl")


def gains_by_constants(spec: NetworkSpec, advised: str | None = None) -> bool:
    """Whether cooperative code is faster with its plain layers in a constant buffer."""
    is_narrow = spec.hidden_width <= _WIDEST_OF_CONSTANTS
    return fits_in_constants(spec) and (is_narrow or careful_level(advised) == COOPERATIVE)


def targets_of(
    spec: NetworkSpec,
    advised: str | None = None,
    decoders: int = 1,
    transmits: bool = False,
    is_pack: bool = False,
) -> dict[str, Target]:
    """The targets that a decoder fits and that its advice allows. A constant buffer holds one
    decoder, so cooperative code for several does without. In a pack that transmits, some materials
    can be opaque."""
    known = TARGETS
    if spec.live_inputs:
        known = {name: replace(target, has_live=True) for name, target in TARGETS.items()}
    if transmits:
        decoders = 2
        # a group of threads keeps one decoder in its shared memory: in packs for reflection
        known = {
            name: target if target.is_together else replace(target, sides=2 if is_pack else 1)
            for name, target in known.items()
            if is_pack or not target.is_together
        }
    plain = {name: target for name, target in known.items() if not target.is_cooperative}
    if not fits_in_constants(spec, decoders if transmits else 1):
        plain = {
            name: replace(target, is_float_texture=True) if target.is_of_one else target
            for name, target in plain.items()
            if target.is_of_one or not target.is_constant
        }
    if advised == PORTABLE:
        # a missing file cannot be used by mistake
        return plain
    constants = decoders == 1 and gains_by_constants(spec, advised)
    way = careful_level(advised)
    return plain | {
        name: replace(target, is_constant=constants, way=way)
        for name, target in known.items()
        if target.is_cooperative
    }


def slang_files(spec: NetworkSpec) -> dict[str, bytes]:
    """The Slang modules by file name."""
    files = {path.name: path.read_bytes() for path in sorted(RUNTIME_SHADERS.glob("*.slang"))}
    return {**files, f"{NETWORK_MODULE}.slang": network_source(spec).encode()}


def other_modules(spec: NetworkSpec, records: Iterable[FileRecord]) -> list[str]:
    """Slang modules of a folder's runtime/ that differ from those of this Verdigris."""
    written = {f"{RUNTIME_FOLDER}{name}": digest(data) for name, data in slang_files(spec).items()}
    return [each.file for each in records if written.get(each.file, each.sha256) != each.sha256]


@profiled("write shaders")
def runtime_files(
    spec: NetworkSpec,
    advised: str | None = None,
    decoders: int = 1,
    transmits: bool = False,
    has_relief: bool = False,
    is_pack: bool = False,
) -> dict[str, bytes]:
    """Every file of runtime/ for this advice. Compiled files are cached by architecture. In a
    pack, materials can differ in what they have."""
    sources = slang_files(spec)
    others = RUNTIME_SHADERS / HEADER, *sorted(filter(Path.is_file, EXAMPLES.iterdir()))
    result = sources | {path.name: path.read_bytes() for path in others}
    if not transmits:
        for name in SIDES_FILES:
            del result[name]
    targets = targets_of(spec, advised, decoders, transmits, is_pack)
    if has_relief:
        targets = targets | {
            # as_relief_text() makes a define of the array
            name: replace(target, heights=2 if is_pack and suffix_of(name) in _OF_SEVERAL else 0)
            for name, target in RELIEF_TARGETS.items()
        }
    else:
        del result[RELIEF_SHADER], result[RELIEF_ENTRY]
    for name, target in targets.items():
        key = _key(sources, name, target)
        result[name] = result_ahead(key) or _make(sources, name, target, key)
        if suffix_of(name) == ".glsl":
            result[f"{Path(name).stem}.comp"] = WHOLE_SHADER.format(name=name).encode()
    return result


def compiling_ahead(
    spec: NetworkSpec, advised: str | None = None, transmits: bool = False
) -> AbstractContextManager[None]:
    """Compiles inside the context, beside the caller, what runtime_files() will need for one
    decoder with this advice. Most files are the same with another."""
    sources = slang_files(spec)
    jobs = {}
    for name, target in targets_of(spec, advised, transmits=transmits).items():
        key = _key(sources, name, target)
        jobs[key] = partial(_make, sources, name, target, key)
    return working_ahead(jobs)


def _make(sources: dict[str, bytes], name: str, target: Target, key: str) -> bytes:
    folder = cache_folder()
    kept = folder / "runtime" / key if folder else None
    data = _read_kept(kept, name)
    if data is None:
        data = _compile(sources, name, target)
        _keep(kept, name, data)
    return data


def _compile(sources: dict[str, bytes], name: str, target: Target) -> bytes:
    with span(f"compile {name}"), tempfile.TemporaryDirectory() as folder:
        for file, data in sources.items():
            (Path(folder) / file).write_bytes(data)
        code = compile_entry_point(
            [
                Path(folder) / target.entry,
                *("-entry", ENTRY_POINT, "-stage", target.stage, *target.arguments),
                *target.defines,
                *("-no-mangle", "-line-directive-mode", "none"),
            ]
        )
    suffix = suffix_of(name)
    if target.entry == RELIEF_ENTRY:
        return as_relief_text(code, suffix, compiler_version())
    if suffix in TEXTS:
        return as_text(code, suffix, compiler_version())
    return mended(code)


@cache
def _form() -> bytes:
    """A digest of the code that processes the compiler's output: other code makes other files."""
    files = (__file__, text_forms.__file__, readable_text.__file__, spirv.__file__)
    return hashlib.sha256(b"".join(Path(each).read_bytes() for each in files)).digest()


def _key(sources: dict[str, bytes], name: str, target: Target) -> str:
    """Of one file and its options: bundles of other advice share most files."""
    found = hashlib.sha256()
    how = [
        (name, repr(target).encode()),
        ("compiler", compiler_version().encode()),
        ("form", _form()),
    ]
    for each, data in (*sources.items(), *how):
        found.update(f"{each} {len(data)} ".encode() + data)
    return found.hexdigest()[:32]


def _read_kept(folder: Path | None, name: str) -> bytes | None:
    if folder is None:
        return None
    try:
        return (folder / name).read_bytes() or None
    except OSError:
        return None


def _keep(folder: Path | None, name: str, data: bytes) -> None:
    """Writes to the cache. An error there only costs time later."""
    if folder is None:
        return
    with contextlib.suppress(OSError):
        make_folders(folder)
        replace_file(folder / name, data)
