"""The end of a bake: rounds the numbers as bundles hold them, measures the result, writes it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.finish.fit_sampler import effort_on, fit_sampler
from verdigris.core.baking.finish.fit_split import (
    SplitEffort,
    draw_split_examples,
    fit_split,
    join_split,
    split_effort_on,
)
from verdigris.core.baking.finish.hints import hint_of
from verdigris.core.baking.finish.notices import coarse_halves, cut_glow, lost_light
from verdigris.core.baking.finish.outputs import bundle_paths
from verdigris.core.baking.finish.record import report_of, source_of
from verdigris.core.baking.finish.sampler_examples import Effort
from verdigris.core.baking.measure.measure import (
    draw_held_out,
    measure_pictures,
    measure_student,
    picture_of,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.baking.measure.once import once
from verdigris.core.baking.measure.sky import SkyPlan, measure_sky, plan_for, prepare_sky
from verdigris.core.baking.state.options import make_folder
from verdigris.core.baking.state.rounding import rounded_decoder, rounding_by_material
from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.arithmetic import Arithmetic
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference, make_reference
from verdigris.core.bundle.files.stored_textures import TEXEL_FORMATS
from verdigris.core.bundle.files.write import (
    Contents,
    Exported,
    export_numbers,
    export_with,
    write_bundle,
)
from verdigris.core.bundle.history.history import keeper
from verdigris.core.bundle.precision.half_errors import judge, order_units
from verdigris.core.bundle.proxies.device_sums import sums_on
from verdigris.core.bundle.proxies.make_proxies import (
    FEWEST_LIGHTS_ON_GPU,
    check_albedo,
    errors_of,
    make_proxies,
)
from verdigris.core.bundle.runtime.runtime_files import compiling_ahead, runtime_files
from verdigris.core.bundle.verify.verify import log_mae
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.comparison import Drawn, compare_materials, draw_reference
from verdigris.core.pictures.compare.metrics import load_flip
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.pictures.render import Lighting
from verdigris.core.progress.events import Closing, Event, Finished, Kept, Warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.bundle.proxies.quadrature import Respond
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import FloatArray, Parameters
    from verdigris.core.network.spec import NetworkSpec
    from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics, SkyMetrics
    from verdigris.core.pictures.views import View
    from verdigris.core.settings.bake_settings import BakeSettings

    Floats = NDArray[np.float32]
    # The numbers of every material, one after the other on the device.
    _Materials = Callable[[], Iterator[tuple[Parameters, Student]]]

# Pixels a side, sub-pixels a side of each, and directions of the studio at each of these. A small
# bake on a processor gets a picture that takes no longer than the bake.
_PREVIEW, _SOFTWARE_PREVIEW, _SMALL_PREVIEW = (256, 3, 16), (192, 2, 12), (128, 2, 4)
_SMALL_RESOLUTION = 128
# Of a bundle that is written at once; its sphere has so many pixels a side.
_FIRST_PREVIEW, _FIRST_SPHERE = (96, 2, 4), 96
# Parts of the end, as Closing counts them.
_PARTS = 5
# Another device, or another driver, may be off by this much more than this one.
_MARGIN, _LEAST_MARGIN = 1.1, 1e-4
_ALBEDO_MARGIN = 2e-3
# Trained samples for each evaluation of the proxies, which then take some hundredths of a bake, and
# evaluations at least and at most.
_TRAINED_A_PROXY, _PROXY_EVALUATIONS = 40, (1 << 14, 1 << 26)


@contextlib.contextmanager
def preparing_finish(teachers: Sequence[Teacher], settings: BakeSettings) -> Iterator[None]:
    """Does in a thread, beside the training inside of the context, what the end of a bake needs and
    a graphics card has time for. A trainer on the processor needs that time itself."""
    jobs: list[Callable[[], object]] = []
    if len(teachers) == 1 and not teachers[0].device.is_software:
        teacher = teachers[0]
        jobs += (
            load_flip,
            lambda: picture_of(teacher, sphere_to_compare()),
            lambda: prepare_sky(teacher, settings.resolution),
            lambda: _reference_picture(teacher, _preview_plan(teacher.device, settings)),
        )
    pool = ThreadPoolExecutor(1, "finish")
    begun = [pool.submit(copy_context().run, profiled("prepare the finish")(job)) for job in jobs]
    try:
        yield
    finally:
        pool.shutdown(cancel_futures=True)
        # a failure appears where the result is needed
        del begun


@dataclass(frozen=True)
class _Effort:
    """How much the end of a bake takes."""

    sampler: Effort
    split: SplitEffort
    samples: int
    """Held-out samples."""
    sphere: View
    sky: SkyPlan
    preview: tuple[int, int, int]
    proxies: int
    """Evaluations."""


def _effort_of(run: Run) -> _Effort:
    """That of a result, which may take as long as a short bake."""
    device, trained = run.teachers[0].device, run.settings.iterations * run.settings.batch
    texels = run.settings.resolution**2
    return _Effort(
        effort_on(device, trained, texels),
        split_effort_on(device, trained, texels),
        final_samples(device),
        sphere_to_compare(),
        plan_for(device),
        _preview_plan(device, run.settings),
        int(np.clip(trained // _TRAINED_A_PROXY, *_PROXY_EVALUATIONS)),
    )


def _first_effort() -> _Effort:
    """That of a bundle which is written at once, and again when it is refined."""
    return _Effort(
        Effort(surfaces=192, directions=64, steps=80),
        SplitEffort(surfaces=512, steps=160),
        1 << 12,
        sphere_to_compare(_FIRST_SPHERE),
        SkyPlan(places=48, directions=512, texel_places=4),
        _FIRST_PREVIEW,
        _PROXY_EVALUATIONS[0],
    )


@contextlib.contextmanager
def fitting_heads(run: Run) -> Iterator[Callable[[], FloatArray] | None]:
    """Fits the heads in a thread, beside all else inside of the context; what waits for them, or
    None where `finish` fits them: on a processor both would take turns. The latents are those that
    were trained, near what blocks hold: fitting blocks takes half as long as fitting heads."""
    if not _fits_heads_beside(run):
        yield None
        return
    teacher, effort = run.teachers[0], _effort_of(run)
    trained = replace(run.learner.filled_parameters().of_material(0), live=teacher.live)

    def fit() -> FloatArray:
        student = Student(trained, teacher.device)
        return _fit_heads(trained.spec, lambda: iter([(trained, student)]), effort)

    with ThreadPoolExecutor(1, "heads") as thread:
        yield thread.submit(copy_context().run, fit).result


def _fits_heads_beside(run: Run) -> bool:
    return len(run.teachers) == 1 and not run.teachers[0].device.is_software


def finish(
    run: Run, decoder: FloatArray, heads: Callable[[], FloatArray] | None = None
) -> Iterator[Event]:
    """Measures and writes every material with this rounded decoder; the last event is Finished.
    `heads` waits for those that a thread fits."""
    written: list[_Written] = []
    paths = bundle_paths(run.options, run.teachers)
    effort = _effort_of(run)
    students = _Students(run, decoder)
    # known before all that takes time, as it decides on the shaders
    _, _, arithmetic = _judged(students.of(0)[0], run.teachers[0])
    with compiling_ahead(students.trained.spec, arithmetic.advised):
        if heads is None:
            students.head = _fit_heads(students.trained.spec, students.each, effort)
        yield from _closing(run, 1)
        for number, path in enumerate(paths):
            written.append((yield from _write(students, number, path, effort, heads=heads)))
    _remove_checkpoint(run)
    yield Finished(
        tuple(map(str, paths)),
        run.step - run.steps_saved,
        run.clock.seconds,
        run.clock.stopped_by,
        tuple(each.samples for each in written),
        tuple(each.picture for each in written),
        tuple(each.textures for each in written if each.textures is not None),
        tuple(hint_of(teacher, run.kind, run.settings) for teacher in run.teachers),
        tuple(each.sky for each in written),
    )


def keep_first(run: Run) -> Iterator[Event]:
    """Writes every material of a bake that is stopped in a few seconds, from the texture that is
    trained at the moment; the last event is Kept. The bake goes on to `finish`, which replaces
    these bundles."""
    run.clock.stopped_by = "request"
    paths, effort = bundle_paths(run.options, run.teachers), _first_effort()
    blocks, run.blocks = run.blocks, None
    students = _Students(run, rounded_decoder(run))
    students.head = _fit_heads(students.trained.spec, students.each, effort)
    yield from _closing(run, 1)
    for number, path in enumerate(paths):
        # warnings come with the result
        events = _write(students, number, path, effort, is_first=True)
        yield from (event for event in events if not isinstance(event, Warning))
        run.kept[path] = (path / MANIFEST_FILE).read_bytes()
    run.blocks = blocks
    yield Kept(tuple(map(str, paths)), run.step, run.clock.seconds)


@dataclass(frozen=True)
class _Written:
    """What is told of a material whose bundle is written."""

    samples: SampleMetrics
    picture: PictureMetrics
    sky: SkyMetrics
    textures: Mapping[str, str] | None
    """None where none are asked for."""


def _write(
    students: _Students,
    material: int,
    path: Path,
    effort: _Effort,
    is_first: bool = False,
    heads: Callable[[], FloatArray] | None = None,
) -> Generator[Event, None, _Written]:
    """Measures a material and writes its bundle. `heads` waits for those that a thread fits."""
    run, (exported, student) = students.run, students.of(material)
    teacher, name = run.teachers[material], run.names[material]
    stage = run.learner.stage
    resolution = (run if stage.is_last else stage).settings.resolution
    yield from lost_light(teacher, student, name)
    with ThreadPoolExecutor(1, "proxies") as thread:
        if heads is not None:
            # a graphics card needs no head for them
            own = Student(exported.parameters, teacher.device)
            fit = partial(_proxies, exported.parameters, own, effort.proxies)
            proxies_of = thread.submit(copy_context().run, fit).result
        else:
            proxies_of = partial(_proxies, exported.parameters, student, effort.proxies)
        samples, picture = _measure(teacher, student, resolution, effort)
        yield from _closing(run, 2)
        sky = measure_sky(teacher, student, resolution, effort.sky)
        preview = _preview(teacher, student, effort.preview)
        yield from _closing(run, 3)
        proxies, lit_errors = proxies_of()
    if heads is not None:
        exported = replace(exported, parameters=replace(exported.parameters, head=heads()))
    reference, bounds, arithmetic = _judged(exported, teacher)
    bounds = replace(bounds, albedo=_MARGIN * lit_errors["albedo"]["median"] + _ALBEDO_MARGIN)
    yield from coarse_halves(arithmetic, bounds, name)
    maps = run.maps[material]
    yield from cut_glow(maps.unlit.emission, name)
    yield from _closing(run, 4)
    contents = Contents(
        name=name,
        source=source_of(run, material, is_first),
        report=report_of(teacher),
        errors={
            "samples": asdict(samples),
            "sphere": asdict(picture),
            "sky": asdict(sky),
            **lit_errors,
            **({"quantisation": rounding_by_material(run)[material]} if run.rounding else {}),
        },
        bounds=bounds,
        arithmetic=arithmetic,
        live=teacher.live_inputs,
        tiles=teacher.tiles,
        reference=reference,
        preview=preview,
        emission=maps.emission,
        emission_format=maps.emission_format,
        opacity=maps.opacity,
        proxies=proxies,
        runtime=runtime_files(exported.parameters.spec, arithmetic.advised),
    )
    yield from _put(run, path, exported, contents)
    yield from _closing(run, 5)
    textures: Mapping[str, str] | None = None
    if run.options.viewport_textures and not is_first:
        from verdigris.core.flatten.viewport import viewport_textures

        textures = yield from viewport_textures(teacher, run.settings, path, maps.unlit)
    return _Written(samples, picture, sky, textures)


def _put(run: Run, path: Path, exported: Exported, contents: Contents) -> Iterator[Event]:
    """Writes a bundle. It takes the place of one that was kept first, and of no other that somebody
    has put there meanwhile."""
    # what was trained for so long is not lost with a folder that somebody took away meanwhile
    make_folder(run.options.folder)
    first = run.kept.get(path)
    if first is not None and not _holds(path / MANIFEST_FILE, first):
        yield Warning(
            f"{path}: was changed after the bake was stopped: it stays as it is, without the "
            "refined result"
        )
        return
    keeps = run.options.keeps_versions and first is None
    try:
        write_bundle(path, exported, contents, keeper(path) if keeps else None)
    except BundleError as failure:
        raise BundleError(f"{failure}; {_kept(run)}") from None


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file has these bytes."""
    with contextlib.suppress(OSError):
        return path.read_bytes() == data
    return False


def _closing(run: Run, done: int) -> Iterator[Event]:
    """Reports parts of the end, for a caller that does other work between them."""
    if run.options.writes_first:
        yield Closing(done, _PARTS)


def _kept(run: Run) -> str:
    """What there is of a bake whose bundle could not be written."""
    path = run.saved.find_file()
    if path is None:
        return "there is no checkpoint of this bake"
    return f"{path} is its checkpoint of step {run.saved.step}: continue from it with --resume"


def _remove_checkpoint(run: Run) -> None:
    """Removes the checkpoint of a complete bake."""
    if run.clock.stopped_by != "request" and run.saved.path.exists():
        with contextlib.suppress(OSError):
            run.saved.path.unlink()


class _Students:
    """Each material's stored numbers, one at a time on the device."""

    def __init__(self, run: Run, decoder: FloatArray) -> None:
        """With this rounded decoder."""
        self.run = run
        trained = run.learner.filled_parameters()
        self.trained = order_units(replace(trained, decoder=decoder))
        self.head: FloatArray | None = None
        self._student: Student | None = None
        self._last: tuple[int, Exported] | None = None

    def of(self, material: int) -> tuple[Exported, Student]:
        """The numbers of this material's bundle, and the student that has them."""
        if self._last is None or self._last[0] != material:
            # freed first: the texels of two materials may not fit into memory
            self._last = None
            self._last = material, _export(self.run, self.trained, material)
            parameters = self._last[1].parameters
            if self._student is None:
                self._student = Student(parameters, self.run.teachers[material].device)
            else:
                self._student.update(parameters)
                self._student.live = parameters.live
        assert self._student is not None
        exported = self._last[1]
        stored = replace(exported.parameters, head=self.head)
        return replace(exported, parameters=stored), self._student

    def each(self) -> Iterator[tuple[Parameters, Student]]:
        """The numbers of every material, one after the other on the device."""
        for material in range(len(self.run.teachers)):
            exported, student = self.of(material)
            yield exported.parameters, student


@profiled("fit heads")
def _fit_heads(spec: NetworkSpec, materials: _Materials, effort: _Effort) -> FloatArray:
    """The heads of the sampler and of split-sum lighting, of all materials that share the
    decoder."""
    head = fit_sampler(spec, materials, effort.sampler)
    return _fit_split(spec, materials, head, effort.split)


def _fit_split(
    spec: NetworkSpec, materials: _Materials, head: FloatArray, effort: SplitEffort
) -> FloatArray:
    """The sampler's head with that of split-sum lighting."""
    examples = [
        draw_split_examples(replace(numbers, head=head), student, effort)
        for numbers, student in materials()
    ]
    return fit_split(spec, head, join_split(examples), effort)


@profiled("store latents: export")
def _export(run: Run, trained: Parameters, material: int) -> Exported:
    trained = replace(trained, live=run.teachers[material].live)
    if run.blocks:
        return export_with(trained, run.blocks[material], material)
    trainer, texel_format = run.learner.trainer, TEXEL_FORMATS[run.settings.latent_format]
    ranges = trainer.latent_ranges()
    known = ranges[material] if ranges else None
    return export_numbers(trained, material, texel_format, known, trainer.latent_squares())


def final_samples(device: Device) -> int:
    """Held-out samples that a result is measured on: fewer where they take seconds."""
    return 1 << 15 if device.is_software else 1 << 18


def _measure(
    teacher: Teacher, student: Student, resolution: int, effort: _Effort
) -> tuple[SampleMetrics, PictureMetrics]:
    footprint = texel_footprint(resolution)
    held_out = draw_held_out(teacher, effort.samples, footprint=footprint)
    return measure_student(student, held_out), measure_pictures(teacher, student, effort.sphere)


@profiled("compare half precision: all")
def _judged(exported: Exported, teacher: Teacher) -> tuple[Reference, Bounds, Arithmetic]:
    """Values to check decoders against, how far from these they may be, and which is advised."""
    exact = exported.exact
    reference = make_reference(exact, teacher)
    bounds = _bounds(reference)
    return reference, bounds, judge(exact, reference, bounds)


def _proxies(
    parameters: Parameters, student: Student, evaluations: int
) -> tuple[Proxies, dict[str, Any]]:
    """Albedo and the like as textures, and errors of them; the student has these parameters."""
    last = parameters.layout.levels - 1

    def respond_at(lod: float) -> Respond:
        def respond(uv: Floats, wi: Floats, wo: Floats) -> Floats:
            student.level = float(np.clip(max(lod / 2, lod - 1), 0, last))
            return student.response(uv, wi, wo)

        return respond

    before = student.level
    if student.device.is_software:
        made = make_proxies(parameters, respond_at, evaluations)
    else:
        over = sums_on(student)
        made = make_proxies(parameters, respond_at, evaluations, over, FEWEST_LIGHTS_ON_GPU)
    student.level = before
    return made.proxies, errors_of(made, check_albedo(parameters, made.proxies))


def _bounds(reference: Reference) -> Bounds:
    assert reference.teacher is not None
    found = log_mae(reference.exported, reference.teacher)
    return Bounds(teacher_log_mae=_MARGIN * found + _LEAST_MARGIN)


def _preview(teacher: Teacher, student: Student, plan: tuple[int, int, int]) -> bytes:
    drawn, (size, subpixels, directions) = _reference_picture(teacher, plan), plan
    lighting = Lighting(samples=directions, emission=0.0)
    compared = compare_materials(
        teacher, student, "sphere", size, lighting, subpixels, takes_coverage=True, drawn=drawn
    )
    return encode_png(np.asarray(compared.picture, np.float32))


def _reference_picture(teacher: Teacher, plan: tuple[int, int, int]) -> Drawn:
    size, subpixels, directions = plan
    lighting = Lighting(samples=directions, emission=0.0)
    return once(
        teacher,
        ("preview", plan),
        lambda: draw_reference(teacher, "sphere", size, lighting, subpixels),
    )


def _preview_plan(device: Device, settings: BakeSettings) -> tuple[int, int, int]:
    """Pixels a side, sub-pixels a side of each, and directions of the studio."""
    if not device.is_software:
        return _PREVIEW
    return _SMALL_PREVIEW if settings.resolution < _SMALL_RESOLUTION else _SOFTWARE_PREVIEW
