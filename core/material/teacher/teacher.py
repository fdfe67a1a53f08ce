"""The teacher: a material as a function of place and two directions, on the device."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.errors import DocumentError, MissingTextureError
from verdigris.core.base.kernels import Source
from verdigris.core.base.process.profile import span
from verdigris.core.material.analyse.parts import is_dark_and_opaque
from verdigris.core.material.codegen.generate_teacher import GeneratedMaterial, generate
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.live_inputs.find_inputs import find_live_inputs
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.shader.compiler_errors import compile_error
from verdigris.core.material.shader.tables import read_table
from verdigris.core.material.shader.trial_result import ShaderTrial, try_shader
from verdigris.core.material.teacher.probe import live_knots
from verdigris.core.material.teacher.textures import TexturePool

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.material.domain import MeshPoints, Tiles
    from verdigris.core.material.evaluator import Frames
    from verdigris.core.material.live_inputs.live_input import WantedInput
    from verdigris.core.material.load.mtlx_document import Document, Material

_DARK_AND_OPAQUE = np.array([0, 0, 0, 1], np.float32)


class Teacher(DeviceMaterial):
    """One material of a document, compiled, with its textures on a device."""

    def __init__(
        self,
        document: Document,
        material: Material | None = None,
        device: Device | None = None,
        mesh: MeshPoints | None = None,
        live: Sequence[WantedInput] = (),
        has_atlas: bool = True,
        tiles: Tiles | None = None,
    ) -> None:
        """With a mesh, points of the unit square lie on its surface. With `has_atlas`, uv are those
        of the atlas of `tiles`, or else of all UDIM tiles; without, those of a mesh with UDIM
        tiles."""
        self.document = document
        self.material = material or document.require_material()
        self.device = device or open_device()
        self.live_inputs = find_live_inputs(document, self.material, live)
        self.live_steps = tuple(each.density for each in self.live_inputs)
        self.live = tuple(each.default for each in self.live_inputs)
        self.generated: GeneratedMaterial = generate(
            document, self.material, mesh, self.live_inputs, has_atlas, tiles=tiles
        )
        self.tiles = self.generated.tiles
        if self.generated.transmission:
            self.index_below = self.generated.transmission.index
        self.lanes_per_sample = self.generated.lanes_per_sample
        self.is_dark_and_opaque = is_dark_and_opaque(document.nodes_of(self.material))
        self.kernels = self.device.material_kernels(self.generated.digest)
        self.source = Source(f"material_{self.generated.digest}", self.generated.source)
        self.trial = self._tried()
        # imported modules are loaded before those that import them
        studio = tuple(Source(*each) for each in self.generated.modules)
        self._sources = (*studio, self.source)
        self.mesh = mesh
        self._mesh = None if mesh is None else self.device.new_buffer(mesh.texels, 16)
        self._pool = TexturePool(self.device, document.search)
        self._tables = {
            variable: self.device.new_buffer(find_table(file, variable, document))
            for variable, file in self.generated.tables
        }
        try:
            with span("load textures"):
                self._bound = self._pool.bind(self.generated.textures)
        except MissingTextureError as first:
            raise _error_of_all(document, self.material, first) from None

    def _tried(self) -> ShaderTrial:
        """The trial of code in files, once for the same code and values."""
        if not self.generated.is_shader_file and not self.generated.has_code:
            return ShaderTrial()
        key = ShaderTrial, self.generated.digest, self.generated.uniforms
        if key not in self.device.memo:
            document = self.document
            question = {
                "text": document.text,
                "material": self.material.path,
                "live": [str(each.wanted) for each in self.live_inputs],
                "inputs": dict(document.changes.inputs),
            }
            self.device.memo[key] = try_shader(
                question, document.name, document.search, self.device
            )
        found: ShaderTrial = self.device.memo[key]
        return found

    @property
    def non_finite_texels(self) -> Mapping[Path, int]:
        """By file, the number of texels that are NaN or infinite. They read as 0."""
        return self._pool.non_finite

    def changed_files(self) -> list[Path]:
        """Images that changed after they were read."""
        return self._pool.changed_files()

    @cached_property
    def texture_digest(self) -> str:
        """A digest of all images."""
        return self._pool.digest()

    @cached_property
    def live_knots(self) -> Floats:
        return live_knots(self)

    def unlit(
        self, uv: Floats, wo: Floats, frames: Frames | None = None, live: Floats | None = None
    ) -> Floats:
        if self.is_dark_and_opaque:
            return np.tile(_DARK_AND_OPAQUE, (len(uv), 1))
        return super().unlit(uv, wo, frames, live)

    def bindings(self) -> dict[str, Any]:
        block = dict(self.generated.uniforms)
        bound: dict[str, Any]
        if self.generated.is_shader_file:
            block |= {name: image.texture for name, image in self._bound.items()}
            block |= self._tables
            block |= dict.fromkeys(self.generated.samplers, self.device.sampler)
            bound = _nested(block)
        else:
            block |= {name: image.uniform() for name, image in self._bound.items()}
            bound = {"pixelCB": block} if block else {}
        if self._mesh is not None:
            bound["gMeshPoints"] = self._mesh
        if self.live_inputs:
            bound["gLiveValues"] = self.live_uniform
        return bound

    def has_kernel(self, source: Source, entry: str) -> bool:
        return self.kernels.has((source, *self._sources), entry)

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel:
        import slangpy

        try:
            return self.kernels.get((source, *self._sources), entry)
        except (RuntimeError, slangpy.SlangCompileError) as failure:
            if self.generated.has_code or self.generated.is_shader_file:
                raise compile_error(self.document.name, str(failure)) from None
            raise DocumentError(
                f"{self.document.name}: material {self.material.name!r} does not compile for "
                f"{self.device}: {_first_error(str(failure))}"
            ) from None


def find_table(file: str, variable: str, document: Document) -> Floats:
    """The numbers of a file that a shader reads."""
    asker = f"{document.name}: parameter {variable!r}"
    return read_table(document.search.require(file, None, asker, DocumentError), asker)


def _nested(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Variables by name; those of a block, as BLOCK.NAME, in a dictionary of their own."""
    found: dict[str, Any] = {}
    for name, value in variables.items():
        block, _, inner = name.rpartition(".")
        (found.setdefault(block, {}) if block else found)[inner] = value
    return found


def _error_of_all(
    document: Document, material: Material, first: MissingTextureError
) -> MissingTextureError:
    """One error for all missing images of a material, or the first if it is the only one."""
    try:
        texture_files(document, material)
    except MissingTextureError as failure:
        return failure if failure.is_of_several else first
    return first


def _first_error(text: str) -> str:
    """The first error in the compiler's output, with the line of code to which it points."""
    lines = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    first = lines[0] if lines else text.strip().splitlines()[0]
    # warnings come first, and also point to code
    behind = text[text.find(first) :]
    pointed = re.search(r"^\s*\d+ \| (.*)\n\s*\|\s*\^+ (.*)$", behind, re.MULTILINE)
    return f"{first}: {pointed[2].rstrip('.')}, in {pointed[1].strip()!r}" if pointed else first
