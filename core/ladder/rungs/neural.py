"""The neural rung: a bundle on the mesh, drawn as an engine does. A bake makes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.rungs.rung import Rung, RungFits
from verdigris.core.ladder.views.reference import draws_with

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.material.evaluator import DeviceMaterial

# Files that an engine loads.
_LOADED = (".bin", ".ktx2")


@dataclass(frozen=True)
class Neural:
    """A bundle for a ladder."""

    material: DeviceMaterial
    folder: Path
    byte_size: int
    seconds: float = 0.0
    """Seconds of its bake; 0 for a given bundle."""
    uv_set: str | None = None
    """The uv set in which it was baked on the mesh; None for the mesh's first."""

    @classmethod
    def of(
        cls, bundle: Bundle, material: DeviceMaterial, seconds: float = 0.0,
        uv_set: str | None = None,
    ) -> Neural:  # fmt: skip
        """The bundle of a ladder with its material on a device."""
        files = (each for each in bundle.folder.iterdir() if each.suffix in _LOADED)
        return cls(
            material, bundle.folder, sum(each.stat().st_size for each in files), seconds, uv_set
        )


@dataclass
class NeuralRung(Rung):
    """A neural material, which is not fitted here."""

    name = "neural"
    title = "Neural material"
    use = "Console and PC"
    stores = "a bundle"
    cost = "the neural texture and its small network"
    snippet: ClassVar[
        str
    ] = """// the bundle's folder `runtime` has this shader, in Slang and other languages
float3 reflected = evaluate(material, uv, lod, wi, wo); // response times cosine, for one light
"""
    is_lit = True
    is_baked = True
    opacity_place = None
    borrows_look = True

    neural: Neural

    @classmethod
    def fit(cls, fits: RungFits) -> Self:
        if fits.find_bundle is None:
            raise SettingsError("the rung 'neural' needs a bundle: bake one with `verdigris bake`")
        return cls.of(fits.views.scene, fits.find_bundle())

    @classmethod
    def of(cls, scene: Scene, neural: Neural) -> Self:
        """The rung of a bundle in a scene."""
        material = neural.material
        uv_set = neural.uv_set or scene.surface.first_set
        read = uv_set
        if material.tiles:
            read = f"{uv_set} (bundle)"
            scene.geometry.add_set(read, material.tiles.to_atlas(scene.surface.sets[uv_set]))
        return cls(
            replace(neural, uv_set=uv_set), byte_size=neural.byte_size, seconds=neural.seconds,
            draw=draws_with(material, scene, read, is_flat=True), material=material,
        )  # fmt: skip

    def bundle_beside(self, folder: Path) -> str:
        name, folder = self.neural.folder.resolve(), folder.resolve()
        return (name.relative_to(folder) if name.is_relative_to(folder) else name).as_posix()

    def with_bundle_in(self, folder: Path, baked: Path | None) -> Rung:
        if self.neural.folder.parent != baked:
            return self
        return replace(self, neural=replace(self.neural, folder=folder / self.neural.folder.name))

    def facts(self, folder: Path) -> dict[str, Any]:
        return {"bundle": self.bundle_beside(folder), "uv_set": self.neural.uv_set or ""}
