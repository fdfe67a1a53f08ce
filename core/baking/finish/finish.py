"""The end of a bake: rounds the numbers as bundles hold them, measures the result, writes it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from verdigris.core.baking.finish.fit_sampler import (
    draw_examples,
    effort_on,
    fit_head,
    join,
)
from verdigris.core.baking.finish.fit_split import (
    draw_split_examples,
    fit_split,
    join_split,
    split_effort_on,
)
from verdigris.core.baking.finish.hints import hint_of
from verdigris.core.baking.finish.notices import coarse_halves, cut_glow, lost_light
from verdigris.core.baking.finish.outputs import bundle_paths
from verdigris.core.baking.measure.measure import (
    draw_held_out,
    measure_pictures,
    measure_student,
    picture_of,
    sphere_to_compare,
    texel_footprint,
)
from verdigris.core.baking.measure.once import once
from verdigris.core.baking.measure.sky import measure_sky, prepare_sky
from verdigris.core.baking.state.options import make_folder
from verdigris.core.baking.state.rounding import rounding_by_material
from verdigris.core.base.errors import BundleError
from verdigris.core.base.profile import profiled
from verdigris.core.bundle.cost.source_bytes import SourceBytes, source_bytes
from verdigris.core.bundle.files.arithmetic import Arithmetic
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import Reference, make_reference
from verdigris.core.bundle.files.stored_textures import TEXEL_FORMATS
from verdigris.core.bundle.files.write import (
    Contents,
    Exported,
    export_numbers,
    export_with,
    version,
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
from verdigris.core.material.report.report import describe_teacher
from verdigris.core.network.student import Student
from verdigris.core.pictures.comparison import Drawn, compare_materials, draw_reference
from verdigris.core.pictures.metrics import load_flip
from verdigris.core.pictures.picture_files import encode_png
from verdigris.core.pictures.render import Lighting
from verdigris.core.progress.events import Event, Finished

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.proxies.proxy_texture import Proxies
    from verdigris.core.bundle.proxies.quadrature import Respond
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.parameters import FloatArray, Parameters
    from verdigris.core.pictures.metrics import PictureMetrics, SampleMetrics, SkyMetrics
    from verdigris.core.pictures.views import View
    from verdigris.core.settings.bake_settings import BakeSettings

    Floats = NDArray[np.float32]

E = TypeVar("E")
X = TypeVar("X")
# Pixels a side, sub-pixels a side of each, and directions of the studio at each of these. A small
# bake on a processor gets a picture that takes no longer than the bake.
_PREVIEW, _SOFTWARE_PREVIEW, _SMALL_PREVIEW = (256, 3, 16), (192, 2, 12), (128, 2, 4)
_SMALL_RESOLUTION = 128
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
            lambda: _reference_picture(teacher, settings),
        )
    pool = ThreadPoolExecutor(1, "finish")
    begun = [pool.submit(copy_context().run, profiled("prepare the finish")(job)) for job in jobs]
    try:
        yield
    finally:
        pool.shutdown(cancel_futures=True)
        # a failure appears where the result is needed
        del begun


def finish(run: Run, decoder: FloatArray) -> Iterator[Event]:
    """Measures and writes every material with this rounded decoder; the last event is Finished."""
    trained = run.learner.filled_parameters()
    trained = order_units(replace(trained, decoder=decoder))
    written: list[_Written] = []
    paths = bundle_paths(run.options, run.teachers)
    view = sphere_to_compare()
    students = _Students(run, trained)
    # known before all that takes time, as it decides on the shaders
    _, _, arithmetic = _judged(students.of(0)[0], run.teachers[0])
    with (
        compiling_ahead(trained.spec, arithmetic.advised),
        ThreadPoolExecutor(1, "heads") as thread,
    ):
        if len(paths) == 1 and not run.teachers[0].device.is_software:
            # beside measurements; on a processor both would take turns
            own = _Students(run, trained)
            heads = thread.submit(copy_context().run, _fit_heads, own).result
        else:
            fitted = _fit_heads(students)
            heads = partial(np.copy, fitted)
        for number, path in enumerate(paths):
            exported, student = students.of(number)
            written.append((yield from _write(run, number, path, exported, student, view, heads)))
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


@dataclass(frozen=True)
class _Written:
    """What is told of a material whose bundle is written."""

    samples: SampleMetrics
    picture: PictureMetrics
    sky: SkyMetrics
    textures: Mapping[str, str] | None
    """None where none are asked for."""


def _write(
    run: Run,
    material: int,
    path: Path,
    exported: Exported,
    student: Student,
    view: View,
    heads: Callable[[], FloatArray],
) -> Generator[Event, None, _Written]:
    """Measures a material and writes its bundle; the student has its exported numbers. The heads
    are not measured here, and are asked for late."""
    teacher, name, resolution = run.teachers[material], run.names[material], run.settings.resolution
    yield from lost_light(teacher, student, name)
    samples, picture = _measure(teacher, student, resolution, view)
    sky = measure_sky(teacher, student, resolution)
    preview = _preview(teacher, student, run.settings)
    exported = replace(exported, parameters=replace(exported.parameters, head=heads()))
    proxies, lit_errors = _proxies(exported.parameters, student, run.settings)
    reference, bounds, arithmetic = _judged(exported, teacher)
    bounds = replace(bounds, albedo=_MARGIN * lit_errors["albedo"]["median"] + _ALBEDO_MARGIN)
    yield from coarse_halves(arithmetic, bounds, name)
    maps = run.maps[material]
    yield from cut_glow(maps.unlit.emission, name)
    contents = Contents(
        name=name,
        source=_source(run, material),
        report=_report(teacher),
        errors={
            "samples": asdict(samples),
            "sphere": asdict(picture),
            "sky": asdict(sky),
            **lit_errors,
            **({"quantisation": rounding_by_material(run)[material]} if run.rounding else {}),
        },
        bounds=bounds,
        arithmetic=arithmetic,
        reference=reference,
        preview=preview,
        emission=maps.emission,
        emission_format=maps.emission_format,
        opacity=maps.opacity,
        proxies=proxies,
        runtime=runtime_files(exported.parameters.spec, arithmetic.advised),
    )
    # what was trained for so long is not lost with a folder that somebody took away meanwhile
    make_folder(run.options.folder)
    try:
        dispose = keeper(path) if run.options.keeps_versions else None
        write_bundle(path, exported, contents, dispose)
    except BundleError as failure:
        raise BundleError(f"{failure}; {_kept(run)}") from None
    textures: Mapping[str, str] | None = None
    if run.options.viewport_textures:
        from verdigris.core.flatten.viewport import viewport_textures

        textures = yield from viewport_textures(teacher, run.settings, path, maps.unlit)
    return _Written(samples, picture, sky, textures)


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

    def __init__(self, run: Run, trained: Parameters) -> None:
        self.run = run
        self.trained = trained
        self.head: FloatArray | None = None
        """Of the sampler, for the fit of the other."""
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
        assert self._student is not None
        exported = self._last[1]
        stored = replace(exported.parameters, head=self.head)
        return replace(exported, parameters=stored), self._student

    def draw(self, draw: Callable[[Parameters, Student, E], X], effort: E) -> list[X]:
        """Examples of every material, to fit a head to."""
        found = map(self.of, range(len(self.run.teachers)))
        return [draw(exported.parameters, student, effort) for exported, student in found]


@profiled("fit heads")
def _fit_heads(students: _Students) -> FloatArray:
    """The heads of all materials, which share the decoder."""
    students.head = _fit_head(students)
    return _fit_split(students, students.head)


def _fit_head(students: _Students) -> FloatArray:
    """The head of the sampler, one for all materials that share the decoder."""
    run = students.run
    effort = effort_on(run.teachers[0].device, _trained(run.settings))
    examples = join(students.draw(draw_examples, effort))
    return fit_head(students.trained.spec, examples, effort)


def _fit_split(students: _Students, head: FloatArray) -> FloatArray:
    """The same with the head of split-sum lighting, one for all materials, too."""
    run = students.run
    effort = split_effort_on(run.teachers[0].device, _trained(run.settings))
    examples = join_split(students.draw(draw_split_examples, effort))
    return fit_split(students.trained.spec, head, examples, effort)


def _trained(settings: BakeSettings) -> int:
    """Samples that a whole bake trains on."""
    return settings.iterations * settings.batch


@profiled("store latents: export")
def _export(run: Run, trained: Parameters, material: int) -> Exported:
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
    teacher: Teacher, student: Student, resolution: int, view: View
) -> tuple[SampleMetrics, PictureMetrics]:
    footprint = texel_footprint(resolution)
    held_out = draw_held_out(teacher, final_samples(teacher.device), footprint=footprint)
    return measure_student(student, held_out), measure_pictures(teacher, student, view)


def _source(run: Run, material: int) -> Mapping[str, Any]:
    return {
        "material": run.teachers[material].material.name,
        **run.documents[material],
        "images": asdict(_images(run.teachers[material])),
        "digest": run.saved.digest,
        "verdigris": version(),
        "kind": run.kind.value,
        "settings": run.settings.to_json(),
        "seed": run.settings.seed,
        "trainer": run.trainer_kind,
        "device": str(run.teachers[material].device),
        "step": run.step - run.steps_saved,
        "seconds": run.clock.seconds,
        "stopped_by": run.clock.stopped_by,
        "decoder_shared_by": list(run.names),
        **({"size": run.size_choice.facts()} if run.size_choice else {}),
        **_request(run, material),
    }


def _images(teacher: Teacher) -> SourceBytes:
    return source_bytes(teacher.document, teacher.material)


def _request(run: Run, material: int) -> Mapping[str, Any]:
    """What was requested beside settings, so that a later request can be compared with it."""
    options = run.options
    found: dict[str, Any] = {"preset": options.preset} if options.preset else {}
    if options.importance is not None:
        weights = np.ascontiguousarray(options.importance, np.float32)
        found["importance_sha256"] = hashlib.sha256(weights.tobytes()).hexdigest()
    if options.time_limit is not None:
        found["time_limit"] = options.time_limit
    if options.target_error is not None:
        found["target_error"] = options.target_error
    if options.target:
        found["target"] = options.target
    if options.provenance:
        found["asked"] = dict(options.provenance[material])
    return found


def _report(teacher: Teacher) -> Mapping[str, Any]:
    """What `inspect` says, without the folders of this machine."""
    found = once(teacher, describe_teacher, lambda: describe_teacher(teacher))
    parts = [asdict(part) for part in found.parts]
    return {
        "surface": found.surface_model,
        "nodes": found.nodes,
        **{
            fate: [
                {"name": part["name"], "how": part["how"]} for part in parts if part["fate"] == fate
            ]
            for fate in ("kept", "approximated", "dropped")
        },
        "textures": [{**asdict(facts), "file": Path(facts.file).name} for facts in found.textures],
    }


@profiled("compare half precision: all")
def _judged(exported: Exported, teacher: Teacher) -> tuple[Reference, Bounds, Arithmetic]:
    """Values to check decoders against, how far from these they may be, and which is advised."""
    exact = exported.exact
    reference = make_reference(exact, teacher)
    bounds = _bounds(reference)
    return reference, bounds, judge(exact, reference, bounds)


def _proxies(
    parameters: Parameters, student: Student, settings: BakeSettings
) -> tuple[Proxies, dict[str, Any]]:
    """Albedo and the like as textures, and errors of them; the student has these parameters."""
    last = parameters.layout.levels - 1

    def respond_at(lod: float) -> Respond:
        def respond(uv: Floats, wi: Floats, wo: Floats) -> Floats:
            student.level = float(np.clip(max(lod / 2, lod - 1), 0, last))
            return student.response(uv, wi, wo)

        return respond

    before = student.level
    evaluations = int(np.clip(_trained(settings) // _TRAINED_A_PROXY, *_PROXY_EVALUATIONS))
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


def _preview(teacher: Teacher, student: Student, settings: BakeSettings) -> bytes:
    size, subpixels, lighting = _preview_plan(teacher, settings)
    drawn = _reference_picture(teacher, settings)
    compared = compare_materials(
        teacher, student, "sphere", size, lighting, subpixels, takes_coverage=True, drawn=drawn
    )
    return encode_png(np.asarray(compared.picture, np.float32))


def _reference_picture(teacher: Teacher, settings: BakeSettings) -> Drawn:
    size, subpixels, lighting = plan = _preview_plan(teacher, settings)
    return once(
        teacher,
        ("preview", *plan),
        lambda: draw_reference(teacher, "sphere", size, lighting, subpixels),
    )


def _preview_plan(teacher: Teacher, settings: BakeSettings) -> tuple[int, int, Lighting]:
    """Pixels a side, sub-pixels a side of each, and light."""
    size, subpixels, directions = _PREVIEW
    if teacher.device.is_software:
        is_small = settings.resolution < _SMALL_RESOLUTION
        size, subpixels, directions = _SMALL_PREVIEW if is_small else _SOFTWARE_PREVIEW
    return size, subpixels, Lighting(samples=directions, emission=0.0)
