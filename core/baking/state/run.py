"""A bake in progress: what it works with, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verdigris.core.baking.measure.bundle_size import StoredMaps, bundle_bytes, make_maps
from verdigris.core.baking.measure.measure import HeldOut, draw_held_out, texel_footprint
from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.choices import Stage, StartChoice
from verdigris.core.baking.state.clock import Clock, start_clock
from verdigris.core.baking.state.learner import Learner
from verdigris.core.baking.state.loss_guard import LossGuard
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.sizes import Size, SizeChoice
from verdigris.core.bundle.files.stored_textures import LatentTexture
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.progress import Event, Metrics, Preview
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Kind
from verdigris.core.training.trainer import Trainer

# Held-out samples that a running bake is measured on; software devices are slower.
_QUICK_SAMPLES, _QUICK_SAMPLES_ON_SOFTWARE = 1 << 15, 1 << 13


@dataclass
class SavedProgress:
    """The checkpoint of a bake, and the digests that identify its sources."""

    path: Path
    digest: str = ""
    """Digest of everything that is learnt from."""
    map_digest: str = ""
    """Digest of the importance map alone."""
    step: int | None = None
    """Step of the last checkpoint, as events count steps."""
    trainer_step: int | None = None
    """The same step as the trainer counts; None while starts are compared."""
    has_failed: bool = False
    """The last checkpoint could not be written."""
    packed_map: checkpoint.PackedMap | None = None
    """The importance map, once a checkpoint was written with it."""

    def find_file(self) -> Path | None:
        """The file that this bake has written, if it still exists."""
        return self.path if self.step is not None and self.path.is_file() else None

    def remove_file(self) -> None:
        checkpoint.remove(self.path)


@dataclass
class Run:
    """What a bake works with, and how far it is."""

    teachers: Sequence[Teacher]
    kind: Kind
    settings: BakeSettings
    options: BakeOptions
    control: BakeControl
    trainer_kind: str
    names: tuple[str, ...]
    learner: Learner
    requested_steps: int
    """Steps before a time limit reduced them."""
    documents: list[dict[str, Any]]
    """Facts on the sources of each material."""
    clock: Clock = field(init=False)
    saved: SavedProgress = field(init=False)
    guard: LossGuard = field(init=False)
    held_out: list[HeldOut] = field(default_factory=list)
    start_choice: StartChoice | None = None
    """The comparison of starts, as long as it lasts."""
    found_maps: list[StoredMaps] | None = None
    """Maps of emission and opacity, once they are needed."""
    size_choice: SizeChoice | None = None
    """The size of the texture, once it is chosen."""
    has_untried_starts: bool = False
    """The bake was stopped before all starts were compared."""
    checked_step: int = 0
    """Step of the last stage at which quality was last checked."""
    good_checks: int = 0
    """Checks in a row in which the quality was reached."""
    steps_saved: int = 0
    """Steps that early stopping left out."""
    stopped_early_by: str = ""
    """`quality` or `target error`; set while latents are rounded after that."""
    rounding: dict[str, Any] = field(default_factory=dict)
    """Errors before and after latents were rounded; lists are by material."""
    blocks: list[LatentTexture] | None = None
    """The latents of each material as blocks, once training has ended."""
    kept: dict[Path, bytes] = field(default_factory=dict)
    """Bundles that were written as soon as the bake was stopped, and their manifests."""

    def __post_init__(self) -> None:
        self.clock = start_clock(self.learner.stage.settings.iterations, self.options)
        self.guard = LossGuard(self.trainer_kind, self.learner.stage, len(self.teachers))
        self.saved = SavedProgress(checkpoint.state_path(self.options.folder, self.options.name))
        self.update_digests()

    @property
    def must_keep_first(self) -> bool:
        """Whether the bake was stopped and has not written its first bundles yet."""
        is_stopped = self.control.stop_requested and self.step > 0
        return self.options.writes_first and is_stopped and not self.kept

    @property
    def maps(self) -> list[StoredMaps]:
        """Maps of emission and opacity of each material."""
        if self.found_maps is None:
            self.found_maps = [make_maps(teacher, self.settings) for teacher in self.teachers]
        return self.found_maps

    def bundle_bytes(self, size: Size) -> int:
        """Bytes on a GPU of the largest bundle with latents of this size."""
        sides = 2 if self.teachers[0].index_below else 1
        return bundle_bytes(self.settings, *size, sides) + max(each.bytes for each in self.maps)

    @property
    def may_choose_size(self) -> bool:
        """Whether the size of the texture is still to be chosen."""
        return self.settings.size.is_open and self.size_choice is None

    @property
    def is_limited(self) -> bool:
        """Whether a time limit has reduced the steps."""
        return self.settings.iterations < self.requested_steps

    @property
    def step(self) -> int:
        """Steps of all stages."""
        return self.learner.step

    @property
    def reported_step(self) -> int:
        """Steps as events count them: while starts are compared, the steps of all starts."""
        choice = self.start_choice
        before = choice.number * self.learner.stage.settings.start_steps if choice else 0
        return before + self.step

    def begin_stage(self, stage: Stage, trainer: Trainer, source: DrawnSamples) -> None:
        self.learner.begin_stage(stage, trainer, source)
        self.guard.begin_stage(stage, len(self.teachers))
        self._restart_watch()

    def take_importance(self) -> None:
        """Continues with another importance map, if one was set since the last call."""
        new = self.control.take_importance()
        if new is not None:
            self.options = replace(self.options, importance=new[0])
            self.learner.set_importance(new[0])
            self.update_digests()
            # other places have another loss
            self.guard.forget()
            self._restart_watch()

    def update_digests(self) -> None:
        """Identifies the sources for checkpoints; a map may be large."""
        self.saved.digest = checkpoint.source_digest(self.teachers, self.options.importance)
        self.saved.map_digest = checkpoint.source_digest((), self.options.importance)
        self.saved.packed_map = None

    def pack_map(self) -> checkpoint.PackedMap | None:
        """The importance map as checkpoints store it."""
        if self.saved.packed_map is None and self.options.importance is not None:
            self.saved.packed_map = checkpoint.PackedMap.of(self.options.importance)
        return self.saved.packed_map

    def _restart_watch(self) -> None:
        self.clock.watch.begin_again(self.learner.stage.settings.iterations)

    def draw_held_out(self) -> None:
        """Draws the samples that the running bake is measured on."""
        is_software = self.teachers[0].device.is_software
        samples = _QUICK_SAMPLES_ON_SOFTWARE if is_software else _QUICK_SAMPLES
        footprint = texel_footprint(self.settings.resolution)
        self.held_out = [
            draw_held_out(teacher, samples, 0, footprint, self.learner.source.index_below)
            for teacher in self.teachers
        ]

    def measure(self, parameters: Parameters | None = None) -> Metrics:
        """Errors of the given parameters, or of the trainer's, on the held-out samples."""
        return Metrics(self.step, self.learner.measure(self.held_out, parameters))

    def preview(self) -> Iterator[Event]:
        """A picture of the first material, if pictures are requested."""
        if self.options.preview_seconds is not None:
            picture = self.learner.picture(self.options.preview_size)
            yield Preview(self.step, self.names[0], picture)
