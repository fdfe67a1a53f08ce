"""Draws a view in parts: a reference, a neural material beside it, and their difference.

A new view is drawn coarsely at once. Both pictures are then drawn in full size, tile by tile: by
few lights first, then pass by pass under the whole environment. Only what is in sight is drawn.
The panel's worker and the window of `verdigris view` draw with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.backdrop import LaidGround, ground_mesh
from verdigris.core.pictures.canvas import Canvas, PlacedGround, PlacedShape, Raster, heat_of
from verdigris.core.pictures.compare.heat import NOT_COMPARED
from verdigris.core.pictures.progressive import Progressive, shift_of
from verdigris.core.pictures.quick_light import mean_of
from verdigris.core.pictures.relief import find_heights
from verdigris.core.pictures.seen_places import PLACES_SIDE, SeenPlaces
from verdigris.core.pictures.view import ALL, NEURAL, REFERENCE, WIPE, View, needs_redraw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.pictures.canvas import Tile
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.illumination import Illumination
    from verdigris.core.pictures.quick_light import Lit
    from verdigris.core.pictures.tone import Tone


HEAT, GROUND = "heat", "ground"
# Sides of tiles: a command, or a key, waits for at most one tile.
_TILE_ON_CPU, _TILE_ON_GPU = 48, 512
# uv by pixel is not needed any finer.
_PLACES_SIDE = 320
# The least shorter side of a picture of the ground.
_LEAST_GROUND = 64
# Passes of the first picture: highlights are smaller than its pixels.
_COARSE_PASSES = 2
# Half the side of the square over which a difference is smoothed until both sides are fine.
_HEAT_RADIUS = 3
# Share of the width that is drawn beyond the wipe: it can be moved before the next picture comes.
_BESIDE_WIPE = 0.02


class Shown(NamedTuple):
    """A picture that has changed."""

    part: str
    """`reference`, `neural` or `heat`."""
    pixels: NDArray[Any]
    sharp: float
    """The share that is drawn in full size."""
    refined: float
    """The share of the passes that are drawn."""


@dataclass
class _Side:
    """One of the compared pictures, and what it shows."""

    name: str
    material: object
    picture: Progressive


class Renderer:
    """The pictures of a view. A material is any that `light` can draw."""

    def __init__(
        self,
        illumination: Illumination,
        reference: object,
        view: View,
        mesh: Mesh | None,
        coarse: int,
        resolution: int = 0,
        light_in_place: Callable[[Any, GBuffer, View], Lit] | None = None,
        has_ground: bool = False,
    ) -> None:
        """`coarse` is the shorter side of the first picture, and `resolution` that of the texture
        whose texels are drawn as squares from near; 0 for none. `light_in_place` draws materials
        that are not on a device. With a ground, a picture of it is kept beside the others in every
        view; without it, it lies behind them in views that ask for it."""
        self._illumination = illumination
        self._reference = reference
        self.resolution = resolution
        self._coarse, self._light_in_place = coarse, light_in_place
        self._has_ground = has_ground
        self._ground_material: LaidGround | None = None
        self._compiled: WeakValueDictionary[int, object] = WeakValueDictionary()
        self._has_neural = False
        # that of the first reference: others that it is compared with have the same shape
        self._relief = find_heights(reference)
        self.show(view, mesh)

    def show(self, view: View, mesh: Mesh | None) -> None:
        """Shows a view, with a coarse picture of the reference at once."""
        # a view that cannot be lit changes nothing
        self._illumination.check(view)
        self.view, self._mesh = view, mesh
        self._shape = PlacedShape(view, mesh)
        self.raster = self.raster_of(view.size)
        self._behind: dict[tuple[int, int], Floats | None] = {}
        self._find_places()
        self.reference, self.neural = (self._new_picture(self.raster) for _ in range(2))
        self._changed: set[str] = set()
        self.ground: Progressive | None = None
        self._laid: Floats | None = None
        self._begin_ground()
        self._look_at_sides()
        self._draw_coarse(self._reference_side)

    def look(self, view: View, mesh: Mesh | None, is_new: bool = False) -> bool:
        """Shows another view. Returns whether it is drawn again: not if only the parts in sight and
        the exposure differ, unless the mesh `is_new`."""
        if is_new or needs_redraw(self.view, view):
            self.show(view, mesh)
            return True
        self.view = view
        for picture in (self.reference, self.neural):
            picture.expose(self.tone)
        self._look_at_sides()
        self._changed |= {REFERENCE, NEURAL} if self.neural.has_content else {REFERENCE}
        return False

    def _begin_ground(self) -> None:
        view = self.view
        caster = ground_mesh(view.shape, self._mesh) if view.ground else None
        self._caster = self._mesh if self._has_ground else caster
        if self._caster is None or not view.lit_by:
            return
        self._ground_material = self._ground_material or LaidGround(self._illumination.device)
        # shadows are soft, and many rays go through the mesh for each pixel
        short = view.size if self._has_ground else max(_LEAST_GROUND, view.size // 2)
        raster = Raster.of(PlacedGround(view, self._caster), short, view.aspect)
        self.ground = self._new_picture(raster)
        self._draw_coarse(self._ground_side)
        self._lay_ground()

    def _lay_ground(self) -> None:
        """Shows the ground behind both sides as it is now."""
        if self._has_ground or self.ground is None:
            return
        canvas = self.ground.canvas(self.ground.is_fine)
        self._laid = canvas.light.reshape(canvas.raster.height, canvas.raster.width, 4)
        for picture in (self.reference, self.neural):
            picture.lay_ground(self._laid)

    def _new_picture(self, raster: Raster) -> Progressive:
        tile = _TILE_ON_CPU if self._illumination.device.is_software else _TILE_ON_GPU
        passes = self._illumination.passes(self.view)
        return Progressive(raster, tile, passes, lambda: self.new_canvas(raster))

    def _look_at_sides(self) -> None:
        shows, wipe = self.view.shows, self.view.wipe
        if not self._has_neural:
            self.reference.columns = (0.0, 1.0)
        elif shows == WIPE:
            self.reference.columns = (0.0, min(1.0, wipe + _BESIDE_WIPE))
            self.neural.columns = (max(0.0, wipe - _BESIDE_WIPE), 1.0)
        else:
            # nothing is between equal ends
            self.reference.columns = (0.0, 0.0) if shows == NEURAL else (0.0, 1.0)
            self.neural.columns = (0.0, 0.0) if shows == REFERENCE else (0.0, 1.0)

    def expect(self, has_neural: bool) -> None:
        """Without a neural material, the reference is all that is in sight."""
        if has_neural != self._has_neural:
            self._has_neural = has_neural
            self._look_at_sides()

    def compare_with(self, reference: object, resolution: int) -> bool:
        """Shows this material as the reference, beside a texture with this resolution. Returns
        whether anything is drawn again."""
        if reference is self._reference and resolution == self.resolution:
            return False
        is_other = reference is not self._reference
        self._reference, self.resolution = reference, resolution
        if is_other:
            self.show(self.view, self._mesh)
        else:
            self._find_places()
            self.reference.forget()
        return True

    # what pictures of this view are drawn with, here and during training

    @property
    def tone(self) -> Tone:
        return self._illumination.tone(self.view)

    def raster_of(self, short: int) -> Raster:
        """A raster with `short` pixels on its shorter side."""
        return Raster.of(self._shape, short, self.view.aspect)

    def new_canvas(self, raster: Raster) -> Canvas:
        size = (raster.width, raster.height)
        if size not in self._behind:
            self._behind[size] = self._illumination.behind(self.view, raster)
        canvas = Canvas(raster, self.tone, self._behind[size])
        if self._laid is not None:
            canvas.lay_ground(self._laid)
        return canvas

    def gbuffer_of(
        self, raster: Raster, tile: Tile, shift: tuple[float, float] = (0.0, 0.0)
    ) -> GBuffer:
        """A tile with the places that are seen, each at the centre of its texel if texels are drawn
        as squares."""
        gbuffer = raster.gbuffer(tile, shift)
        gbuffer = self._relief.seen(gbuffer) if self._relief else gbuffer
        if not self.texels:
            return gbuffer
        uv = (np.floor(gbuffer.uv * self.texels) + 0.5) / self.texels
        return replace(gbuffer, uv=uv.astype(np.float32))

    def light(self, material: object, gbuffer: GBuffer, places: int = 4, number: int = 0) -> Lit:
        """Light and coverage at the pixels of a G-buffer, by few directions. Each pass, by its
        number, has others."""
        if isinstance(material, DeviceMaterial):
            return self._illumination.quick(
                material, gbuffer, self.view, self._mesh_of(material), places, number
            )
        assert self._light_in_place is not None
        return self._light_in_place(material, gbuffer, self.view)

    def _mesh_of(self, material: object) -> Mesh | None:
        """What throws shadows on a material."""
        return self._caster if material is self._ground_material else self._mesh

    def heat(
        self, reference: Canvas, neural: Canvas, radius: int = _HEAT_RADIUS
    ) -> NDArray[np.uint16]:
        """The picture of the difference, smoothed because both have grain."""
        return heat_of(reference, neural, self._illumination.exposure(self.view), radius)

    def _heat(self, is_fine: bool, is_even: bool) -> NDArray[np.uint16]:
        """The difference where both sides are equally sharp. `is_even`: they have no grain."""
        reference, neural = (each.canvas(is_fine) for each in (self.reference, self.neural))
        covered = reference.covered > 0
        if reference.raster == neural.raster:
            covered |= neural.covered > 0
            heat = self.heat(reference, neural, 0 if is_even else _HEAT_RADIUS)
            if reference.raster.count == self.raster.count:
                covered &= self.reference.unlike(self.neural)
            else:
                covered[:] = False
        else:
            heat = np.zeros((reference.raster.height, reference.raster.width, 1), np.uint16)
        heat.reshape(-1)[covered] = NOT_COMPARED
        return heat

    @property
    def material(self) -> object:
        """What the reference shows."""
        return self._reference

    # places

    def _find_places(self) -> None:
        raster = self.raster_of(min(PLACES_SIDE, self.view.size))
        self._seen = SeenPlaces(raster, self.raster.count, self.view, self.resolution)

    @property
    def texels(self) -> int:
        """Texels per side if each is drawn as a square; otherwise 0."""
        return self._seen.texels

    @property
    def seen_uv(self) -> Floats:
        """The places in sight."""
        return self._seen.gbuffer.uv

    def places(self) -> Floats:
        """The uv of the pixels of a picture that may be smaller, (height, width, 2)."""
        return self._seen.places()

    # drawing

    @property
    def _reference_side(self) -> _Side:
        return _Side(REFERENCE, self._reference, self.reference)

    def _sides(self, neural: object) -> list[_Side]:
        sides = [self._reference_side]
        if neural is not None:
            sides.append(_Side(NEURAL, neural, self.neural))
        if self.ground is not None:
            sides.append(self._ground_side)
        return sides

    @property
    def _ground_side(self) -> _Side:
        assert self.ground is not None
        return _Side(GROUND, self._ground_material, self.ground)

    @property
    def is_reference_whole(self) -> bool:
        return self.reference.has_content and self.reference.next_quick() is None

    def _is_whole(self, neural: object) -> bool:
        return all(
            side.picture.has_content and side.picture.next_quick() is None
            for side in self._sides(neural)
        )

    def is_complete(self, neural: object) -> bool:
        """Whether nothing is left to draw while nothing trains."""
        if not self._is_whole(neural):
            return False
        sides = self._sides(neural)
        return not self._converges(neural) or all(x.picture.next_fine() is None for x in sides)

    def passes(self, neural: object) -> int:
        """The number of passes of the fine picture; 0 before there is one that is better than the
        quick one, and -1 before that is whole."""
        if not self._is_whole(neural):
            return -1
        pictures = [side.picture for side in self._sides(neural)]
        is_fine = all(picture.is_fine for picture in pictures)
        return min(picture.passes for picture in pictures) if is_fine else 0

    def canvases(self, neural: object) -> dict[str, Canvas]:
        """The best canvases, all of equal size and in the same light, by the part they show."""
        sides = self._sides(neural)
        is_fine = self.passes(neural) > 0
        is_coarse = any(side.picture.is_coarse for side in sides)
        return {side.name: side.picture.canvas(is_fine, is_coarse) for side in sides}

    def _converges(self, neural: object) -> bool:
        """Whether passes make the pictures better, and all sides can be lit by them."""
        has_passes = self._illumination.passes(self.view) > 0
        return has_passes and all(
            isinstance(side.material, DeviceMaterial) for side in self._sides(neural)
        )

    def draw_reference(self) -> None:
        """Draws a part of the reference by few lights."""
        self._draw_quick(self._reference_side)

    def is_coarser_than(self, raster: Raster) -> bool:
        """Whether the reference is drawn with fewer pixels than these."""
        first = self.reference.coarse
        is_smaller = first is None or first.raster.count < raster.count
        return is_smaller and not self.is_reference_whole

    def begin_with(self, reference: Canvas) -> None:
        """Shows this picture of the reference where no better one is drawn."""
        if self.is_coarser_than(reference.raster):
            self.reference.begin_with(reference)
            self._changed.add(REFERENCE)

    def draw_neural(self, material: object) -> None:
        """Draws a part of the neural material by few lights; first a coarse picture of all of
        it."""
        self._draw_quick(_Side(NEURAL, material, self.neural))

    def complete(self, neural: object) -> None:
        """Draws the next part of the pictures."""
        for side in self._sides(neural):
            if not side.picture.has_content or side.picture.next_quick() is not None:
                self._draw_quick(side)
                return
        if self._converges(neural):
            self._draw_fine(self._sides(neural))

    def _draw_quick(self, side: _Side) -> None:
        if not side.picture.has_content:
            self._draw_coarse(side)
            return
        tile = side.picture.next_quick()
        if tile is not None:
            gbuffer = self.gbuffer_of(side.picture.raster, tile)
            side.picture.draw_quick(tile, gbuffer, self.light(side.material, gbuffer))
            self._changed.add(side.name)

    def _draw_coarse(self, side: _Side) -> None:
        whole = side.picture.raster
        coarse = Raster.of(whole.shape, min(self._coarse, whole.short), self.view.aspect)
        canvas = self.new_canvas(coarse)
        passes = range(_COARSE_PASSES if self.view.lit_by else 1)
        canvas.put(*mean_of([self._light_coarsely(side, coarse, number) for number in passes]))
        side.picture.coarse = canvas
        self._changed.add(side.name)

    def _light_coarsely(self, side: _Side, coarse: Raster, number: int) -> tuple[Ints, Lit]:
        gbuffer = self.gbuffer_of(coarse, coarse.whole(), shift_of(number))
        return gbuffer.pixel, self.light(side.material, gbuffer, places=1, number=number)

    def _draw_fine(self, sides: list[_Side]) -> None:
        waiting = [(side, part) for side in sides if (part := side.picture.next_fine())]
        side, (tile, number) = min(waiting, key=lambda each: each[1][1])
        gbuffer = self.gbuffer_of(side.picture.raster, tile, shift_of(number))
        assert isinstance(side.material, DeviceMaterial)
        self._compiled[id(side.material)] = side.material
        mesh = self._mesh_of(side.material)
        lit = self._illumination.fine(side.material, gbuffer, self.view, number, mesh)
        side.picture.draw_fine(tile, number, gbuffer, lit)
        self._changed.add(side.name)

    def must_compile(self, neural: object) -> bool:
        """Whether the next part is the first one under an environment of its material."""
        sides = self._sides(neural)
        if all(self._compiled.get(id(side.material)) is side.material for side in sides):
            return False
        return self._is_whole(neural) and self._converges(neural)

    def forget_neural(self) -> None:
        """Forgets the neural material's picture."""
        self.neural.forget()
        self._changed.discard(NEURAL)

    def news(self, neural: object = None) -> list[Shown]:
        """Pictures in full size that have changed since the last call."""
        has_neural = self.neural.has_content
        is_fine = self.reference.is_fine and self._converges(neural)
        if has_neural:
            is_fine = is_fine and self.neural.is_fine
        changed, self._changed = self._changed, set()
        if GROUND in changed and not self._has_ground:
            self._lay_ground()
            changed |= {REFERENCE, NEURAL} if has_neural else {REFERENCE}
        if self.reference.is_fine and not has_neural and NEURAL in changed:
            changed.add(REFERENCE)
        refined = self._refined(neural)
        shown = []
        # both, as they must have the same light
        if self.reference.has_content and (REFERENCE in changed or (NEURAL in changed and is_fine)):
            pixels = self.reference.canvas(is_fine).pixels()
            shown.append(Shown(REFERENCE, pixels, self.reference.sharp, refined))
        if has_neural and changed:
            sharp = self.neural.sharp
            shown.append(Shown(NEURAL, self.neural.canvas(is_fine).pixels(), sharp, refined))
            if self.view.shows == ALL and self.reference.has_content:
                shown.append(
                    Shown(
                        HEAT,
                        self._heat(is_fine, is_fine or not self._converges(neural)),
                        sharp,
                        refined,
                    )
                )
        return shown

    def _refined(self, neural: object) -> float:
        if not self._converges(neural):
            return 1.0
        sides = [self.reference] + ([self.neural] if neural is not None else [])
        return sum(side.refined for side in sides) / len(sides)
