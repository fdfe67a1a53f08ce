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

from verdigris.core.baking.finish.effort import (
    FinishEffort,
    effort_of,
    first_effort,
    preview_plan,
)
from verdigris.core.baking.finish.heads import fit_heads
from verdigris.core.baking.finish.hints import hint_of
from verdigris.core.baking.finish.notices import coarse_halves, cut_glow, lost_light
from verdigris.core.baking.finish.outputs import bundle_paths
from verdigris.core.baking.finish.preview import draw_preview, reference_picture
from verdigris.core.baking.finish.record import report_of, source_of
from verdigris.core.baking.finish.stored_students import StoredStudents
from verdigris.core.baking.measure.measure import (
    draw_held_out,
    measure_pictures,
    measure_student,
    picture_of,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.baking.measure.sky import measure_sky, prepare_sky
from verdigris.core.baking.state.options import make_folder
from verdigris.core.baking.state.rounding import rounded_decoder, rounding_by_material
from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.files.arithmetic import Arithmetic
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference, make_reference
from verdigris.core.bundle.files.write import (
    Contents,
    Exported,
    write_bundle,
)
from verdigris.core.bundle.history.history import keeper
from verdigris.core.bundle.precision.half_errors import judge
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
from verdigris.core.pictures.compare.metrics import load_flip
from verdigris.core.progress import Closing, Event, Finished, Kept, Warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.bundle.proxies.quadrature import Respond
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import FloatArray, Parameters
    from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics, SkyMetrics
    from verdigris.core.settings.bake_settings import BakeSettings

    Floats = NDArray[np.float32]

# Parts of the end, as Closing counts them.
_PARTS = 5
# Another device, or another driver, may be off by this much more than this one.
_MARGIN, _LEAST_MARGIN = 1.1, 1e-4
_ALBEDO_MARGIN = 2e-3


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
            lambda: reference_picture(teacher, preview_plan(teacher.device, settings)),
        )
    pool = ThreadPoolExecutor(1, "finish")
    begun = [pool.submit(copy_context().run, profiled("prepare the finish")(job)) for job in jobs]
    try:
        yield
    finally:
        pool.shutdown(cancel_futures=True)
        # a failure appears where the result is needed
        del begun


def finish(
    run: Run, decoder: FloatArray, heads: Callable[[], FloatArray] | None = None
) -> Iterator[Event]:
    """Measures and writes every material with this rounded decoder; the last event is Finished.
    `heads` waits for those that a thread fits."""
    written: list[_Written] = []
    paths = bundle_paths(run.options, run.teachers)
    effort = effort_of(run)
    students = StoredStudents(run, decoder)
    # known before all that takes time, as it decides on the shaders
    _, _, arithmetic = _judged(students.of(0)[0], run.teachers[0])
    with compiling_ahead(students.trained.spec, arithmetic.advised):
        if heads is None:
            students.head = fit_heads(students.trained.spec, students.each, effort)
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
    paths, effort = bundle_paths(run.options, run.teachers), first_effort()
    blocks, run.blocks = run.blocks, None
    students = StoredStudents(run, rounded_decoder(run))
    students.head = fit_heads(students.trained.spec, students.each, effort)
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
    """The figures of a material whose bundle is written."""

    samples: SampleMetrics
    picture: PictureMetrics
    sky: SkyMetrics
    textures: Mapping[str, str] | None
    """None if none are requested."""


def _write(
    students: StoredStudents,
    material: int,
    path: Path,
    effort: FinishEffort,
    is_first: bool = False,
    heads: Callable[[], FloatArray] | None = None,
) -> Generator[Event, None, _Written]:
    """Measures a material and writes its bundle. `heads` waits for those that a thread fits."""
    run, (exported, student) = students.run, students.of(material)
    teacher, name = run.teachers[material], run.names[material]
    stage = run.learner.stage
    resolution = (run if stage.is_last else stage).settings.resolution
    yield from lost_light(teacher, student, name)
    # beside heads that a thread fits, another makes the proxies, by a student of its own
    beside = Student(exported.parameters, teacher.device) if heads is not None else student
    fit = partial(_proxies, exported.parameters, beside, effort.proxies)
    with ThreadPoolExecutor(1, "proxies") as thread:
        proxies_of = fit if heads is None else thread.submit(copy_context().run, fit).result
        samples, picture = _measure(teacher, student, resolution, effort)
        yield from _closing(run, 2)
        sky = measure_sky(teacher, student, resolution, effort.sky)
        preview = draw_preview(teacher, student, effort.preview)
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
    errors = {
        "samples": asdict(samples),
        "sphere": asdict(picture),
        "sky": asdict(sky),
        **lit_errors,
        **({"quantisation": rounding_by_material(run)[material]} if run.rounding else {}),
    }
    contents = Contents(
        name=name,
        source=source_of(run, material, is_first),
        report=report_of(teacher),
        errors=errors,
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


def _measure(
    teacher: Teacher, student: Student, resolution: int, effort: FinishEffort
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
