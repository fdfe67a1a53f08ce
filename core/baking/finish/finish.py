"""The end of a bake: measures the stored numbers of every material, and writes its bundle."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.baking.finish.contents import make_contents
from verdigris.core.baking.finish.figures import (
    CHECKS,
    Figures,
    comparing_pictures,
    figures_of,
    measure_result,
)
from verdigris.core.baking.finish.heads import FinishEffort, effort_of, first_effort, fit_all_heads
from verdigris.core.baking.finish.notices import (
    coarse_halves,
    cut_glow,
    hint_of,
    lost_light,
    notices_of_relief,
)
from verdigris.core.baking.finish.store import StoredStudents, judged, rounded_decoders
from verdigris.core.baking.measure.sky import measure_sky
from verdigris.core.baking.state.outputs import bundle_paths, make_folder
from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import MANIFEST_FILE, noting_links
from verdigris.core.bundle.files.replace_folder import remove_bundle
from verdigris.core.bundle.files.stored_textures import Exported
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.history import keeper
from verdigris.core.bundle.proxies.checked_proxies import proxies_of_student
from verdigris.core.bundle.runtime.runtime_files import compiling_ahead
from verdigris.core.progress import Closing, Event, Finished, Kept, Warning

if TYPE_CHECKING:
    from verdigris.core.baking.finish.heads import WaitForHeads
    from verdigris.core.baking.finish.store import Decoders
    from verdigris.core.baking.state.run import Run

# Parts of the end, as Closing counts them.
_PARTS = 5


def finish(run: Run, decoders: Decoders, heads: WaitForHeads | None = None) -> Iterator[Event]:
    """Measures and writes every material with these rounded decoders. The last event is Finished.
    `heads` waits for heads that a thread fits."""
    written: list[tuple[Figures, Mapping[str, str] | None]] = []
    paths = bundle_paths(run.options, run.teachers)
    effort = effort_of(run)
    students = StoredStudents(run, decoders)
    # known before the work that takes time, because it decides on the shaders
    _, _, arithmetic = judged(students.of(0)[0], run.teachers[0])
    transmits = any(teacher.index_below for teacher in run.teachers)
    with compiling_ahead(students.trained.spec, arithmetic.advised, transmits):
        if heads is None:
            students.heads = fit_all_heads(students, effort)
        yield from _closing(run, 1)
        for number, path in enumerate(paths):
            written.append((yield from _write(students, number, path, effort, heads=heads)))
    if run.clock.stopped_by != "request":
        run.saved.remove_file()
    figures = [each for each, _ in written]
    yield Finished(
        tuple(map(str, paths)),
        run.step - run.steps_saved,
        run.clock.seconds,
        run.clock.stopped_by,
        tuple(each.samples for each in figures),
        tuple(each.picture for each in figures),
        tuple(textures for _, textures in written if textures is not None),
        tuple(hint_of(teacher, run.kind, run.settings) for teacher in run.teachers),
        tuple(each.sky for each in figures),
    )


def keep_first(run: Run) -> Iterator[Event]:
    """Writes every material of a stopped bake within seconds, from the texture that is trained at
    the moment. The last event is Kept. The bake continues to `finish`, which replaces these
    bundles."""
    run.clock.stopped_by = "request"
    paths, effort = bundle_paths(run.options, run.teachers), first_effort()
    blocks, run.blocks = run.blocks, None
    students = StoredStudents(run, rounded_decoders(run))
    students.heads = fit_all_heads(students, effort)
    yield from _closing(run, 1)
    for number, path in enumerate(paths):
        # warnings come with the result
        events = _write(students, number, path, effort, is_first=True)
        yield from (event for event in events if not isinstance(event, Warning))
        run.kept[path] = (path / MANIFEST_FILE).read_bytes()
    run.blocks = blocks
    yield Kept(tuple(map(str, paths)), run.step, run.clock.seconds)


def _write(
    students: StoredStudents,
    material: int,
    path: Path,
    effort: FinishEffort,
    is_first: bool = False,
    heads: WaitForHeads | None = None,
) -> Generator[Event, None, tuple[Figures, Mapping[str, str] | None]]:
    """Measures a material and writes its bundle. `heads` waits for heads that a thread fits.
    Returns the figures, and the viewport textures if they are requested."""
    run, (exported, student) = students.run, students.of(material)
    teacher, name = run.teachers[material], run.names[material]
    stage = run.learner.stage
    resolution = (run if stage.is_last else stage).settings.resolution
    yield from lost_light(teacher, student, name)
    # beside heads that a thread fits, others measure the sky, and make the proxies with a student
    # of their own
    beside = student if heads is None else students.copy_of(exported)
    fit = partial(proxies_of_student, exported.parameters, beside, effort.proxies)
    if heads is not None:
        fit = partial(fit, call=CHECKS.call)
    sky = partial(measure_sky, teacher, student, resolution, effort.sky)
    with ThreadPoolExecutor(2, "finish") as pool, comparing_pictures(heads is not None) as later:
        proxies_of = fit if heads is None else pool.submit(copy_context().run, fit).result
        sky_of = sky if heads is None else pool.submit(copy_context().run, sky).result
        measured = measure_result(teacher, student, resolution, effort, later)
        yield from _closing(run, 2)
        figures = figures_of(teacher, student, effort, measured, sky_of, later)
        yield from _closing(run, 3)
        proxies = proxies_of()
    if heads is not None:
        exported = replace(exported, parameters=exported.parameters.with_heads(*heads()))
    contents = make_contents(run, material, exported, figures, proxies, is_first)
    yield from coarse_halves(contents, name)
    unlit, relief = run.maps[material].unlit, run.maps[material].relief
    yield from notices_of_relief(teacher, relief.notes, name)
    yield from cut_glow(unlit.emission, name)
    yield from _closing(run, 4)
    yield from _put(run, path, exported, contents)
    yield from _closing(run, 5)
    textures: Mapping[str, str] | None = None
    if run.options.viewport_textures and not is_first:
        from verdigris.core.flatten.viewport import viewport_textures

        textures = yield from viewport_textures(teacher, run.settings, path, unlit)
    return figures, textures


def _put(run: Run, path: Path, exported: Exported, contents: Contents) -> Iterator[Event]:
    """Writes a bundle. It replaces a bundle that was kept first, but no other that somebody put
    there meanwhile."""
    # a long training is not lost if somebody removed the folder meanwhile
    make_folder(run.options.folder)
    first = run.kept.get(path)
    if first is not None and not _holds(path / MANIFEST_FILE, first):
        yield Warning(
            f"{path}: was changed after the bake was stopped, and stays as it is, without the "
            "refined result"
        )
        return
    keep = keeper(path) if run.options.keeps_versions else remove_bundle

    def dispose(folder: Path) -> None:
        # what another run left is kept, too
        is_first = first is not None and _holds(folder / MANIFEST_FILE, first)
        (remove_bundle if is_first else keep)(folder)

    try:
        with noting_links() as notes:
            write_bundle(path, exported, contents, dispose)
    except BundleError as failure:
        raise BundleError(f"{failure}; {_kept(run)}") from None
    yield from map(Warning, notes)


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file contains these bytes."""
    with contextlib.suppress(OSError):
        return path.read_bytes() == data
    return False


def _closing(run: Run, done: int) -> Iterator[Event]:
    """Reports parts of the end, for a caller that does other work between them."""
    if run.options.writes_first:
        yield Closing(done, _PARTS)


def _kept(run: Run) -> str:
    """What remains of a bake whose bundle could not be written."""
    path = run.saved.find_file()
    if path is None:
        return "there is no checkpoint of this bake"
    return f"{path} is its checkpoint of step {run.saved.step}: resume the bake to continue from it"
