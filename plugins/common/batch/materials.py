"""Chooses the materials of a scene and bakes them, one after another."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.lock import clear_locks
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import BakedResult, Host, HostDocument, HostMaterial
from verdigris.core.hosts.painted_meshes import Painted, find_painted
from verdigris.core.importance.maps import ARRAY_SUFFIX
from verdigris.core.worker.client.set_up import require_fit_command
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.bake_process import Ended, Event, Interruption, run_bake
from verdigris.plugins.common.batch.progress import Progress
from verdigris.plugins.common.batch.summary import (
    BAKED,
    CANCELLED,
    FAILED,
    HANDED_OVER,
    LEFT_OUT,
    LISTED,
    UP_TO_DATE,
    WAITING,
    Outcome,
    describe_unexpected,
    write,
)

Run = Callable[[list[str]], Ended]
Save = Callable[[Sequence[Outcome]], None]
_BUNDLE_SUFFIX = ".vdg"


def bake_scene(
    host: Host,
    options: BatchOptions,
    run: Run | None = None,
    progress: Progress | None = None,
    interruption: Interruption | None = None,
    save: Save = lambda _: None,
) -> list[Outcome]:
    """Bakes each material and returns the outcomes. A failure does not stop the others. The
    outcomes are saved before the first bake and after each."""
    progress, interruption = progress or Progress(), interruption or Interruption()
    chosen = choose(host, options)
    first_status = LISTED if options.only_list else WAITING
    outcomes = [
        Outcome(each.name, each.key, each.source, first_status, error=each.problem)
        for each, _ in chosen
    ]
    # before the work: the summary may not be writable
    save(outcomes)
    if options.only_list:
        return outcomes
    baker = [] if options.hand_over else require_fit_command()

    def run_shown(command: list[str]) -> Ended:
        return run_bake(command, progress.happened, interruption)

    batch = _Batch(host, options, baker, run or run_shown, interruption)
    for number, ((material, name), outcome) in enumerate(zip(chosen, outcomes, strict=True), 1):
        if interruption.is_requested:
            outcome.status = CANCELLED
            continue
        if material.problem and not options.materials:
            outcome.status = LEFT_OUT
            progress.note(f"{material.name}: left out: {material.problem}")
            continue
        progress.begin(number, len(chosen), material.name)
        began = time.monotonic()
        try:
            batch.bake(material, name, outcome)
        except VerdigrisError as failure:
            outcome.status, outcome.error = FAILED, str(failure)
        except Exception as failure:  # noqa: BLE001 - applications raise what they like
            outcome.status, outcome.error = FAILED, describe_unexpected(failure)
        except KeyboardInterrupt:
            for each in outcomes:
                each.status = CANCELLED if each.status == WAITING else each.status
            save(outcomes)
            raise
        outcome.seconds = round(time.monotonic() - began, 3)
        progress.end(outcome)
        save(outcomes)
    return outcomes


class _Batch:
    """Bakes materials of a host, all with the same options."""

    def __init__(
        self,
        host: Host,
        options: BatchOptions,
        baker: list[str],
        run: Run,
        interruption: Interruption,
    ) -> None:
        self._host, self._options, self._baker = host, options, baker
        self._run, self._interruption = run, interruption

    def bake(self, material: HostMaterial, name: str, outcome: Outcome) -> None:
        options = self._options
        if material.problem:
            raise HostError(f"{material.name}: {material.problem}")
        document = self._host.document(material)
        weight_set = options.weight_set
        painted = find_painted(self._host, material, weight_set) if weight_set else None
        outcome.notes = (*document.notes, *(painted.notes if painted else ()))
        if options.hand_over:
            _hand_over(document, painted, name, options, outcome)
            return
        result = _bake_material(
            document,
            painted,
            name,
            options,
            self._baker,
            outcome,
            self._run,
            lambda: self._interruption.is_requested,
        )
        if result is None or not options.attach:
            return
        # a bundle that is up to date may come from a batch that did not attach it
        if outcome.status == BAKED or self._host.attached(material) != result.bundle:
            try:
                self._host.attach(material, result)
            except VerdigrisError as failure:
                raise HostError(
                    f"{result.bundle} is written, but it is not noted in the scene: {failure}"
                ) from None


def choose(host: Host, options: BatchOptions) -> list[tuple[HostMaterial, str]]:
    """The materials with these names or keys, or all materials, with the names of their bundles.
    The name of a bundle does not depend on the choice."""
    found = host.materials()
    warnings = "".join(f"; {warning}" for warning in host.scene_warnings())
    if not found:
        raise HostError(
            "the scene has no MaterialX material: add one (with LookdevX in Maya, with a Material "
            f"Library in Houdini), or bake a .mtlx file with `verdigris bake`{warnings}"
        )
    names = options.materials
    known = {key for each in found for key in (each.name, each.key)}
    missing = [name for name in names if name not in known]
    if missing:
        listed = ", ".join(each.name for each in found)
        raise HostError(f"the scene has no material {missing[0]!r}; it has: {listed}{warnings}")
    bundles = unused_names([each.name for each in found])
    pairs = zip(found, bundles, strict=True)
    chosen = [each for each in pairs if not names or {each[0].name, each[0].key} & set(names)]
    number, count = options.part
    return chosen[number - 1 :: count]


def _hand_over(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    outcome: Outcome,
) -> None:
    """Writes a material as a document, with its painted weights."""
    file = options.out / f"{name}.mtlx"
    write(file, document.text.encode())
    if painted is not None:
        weights = options.out / f"{name}.weights{ARRAY_SUFFIX}"
        write(weights, _array(painted))
        outcome.importance = str(weights)
    outcome.status, outcome.document = HANDED_OVER, str(file)
    outcome.search = tuple(str(folder) for folder in document.search)
    outcome.live, outcome.confined = document.live, document.confined


def _bake_material(
    document: HostDocument,
    painted: Painted | None,
    name: str,
    options: BatchOptions,
    baker: list[str],
    outcome: Outcome,
    run: Run,
    is_cancelled: Callable[[], bool],
) -> BakedResult | None:
    """Bakes a material. Returns None if there is no result; the outcome gives the reason."""
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / f"{name}.mtlx"
        file.write_text(document.text, encoding="utf-8")
        weights = None
        if painted is not None:
            weights = file.with_suffix(f".weights{ARRAY_SUFFIX}")
            weights.write_bytes(_array(painted))
        try:
            ended = run(_command(file, weights, document, name, options, baker))
        finally:
            # a killed bake leaves its locks behind
            clear_locks(options.out, {name, f"{name}{_BUNDLE_SUFFIX}"})
    outcome.notes = (*outcome.notes, *ended.warnings)
    if ended.result is None and is_cancelled():
        outcome.status, outcome.error = CANCELLED, ended.error
        return None
    if ended.result is None or ended.code != 0:
        why = f"failed (exit code {ended.code}): {ended.error or 'no error message'}"
        if ended.code == 0:
            why = "ended without a result"
        outcome.status, outcome.error = FAILED, f"{document.name}: the bake {why}"
        return None
    result = _result_of(ended.result, document.name)
    is_baked = ended.result["event"] == "finished"
    outcome.status = BAKED if is_baked else UP_TO_DATE
    outcome.stopped_by = str(ended.result.get("stopped_by") or "")
    outcome.bundle = str(result.bundle)
    return result


def _command(
    file: Path,
    weights: Path | None,
    document: HostDocument,
    name: str,
    options: BatchOptions,
    baker: list[str],
) -> list[str]:
    command = [*baker, "-m", "verdigris.core", "bake", str(file), "--json"]
    command += ["--material", document.material, "--name", name, "--out", str(options.out)]
    request = options.request if weights is None else replace(options.request, importance=weights)
    command += request.as_words()
    command += ["--device", options.device] if options.device else []
    command += ["--confined"] if document.confined else []
    for search in document.search:
        command += ["--search", str(search)]
    for live in document.live:
        command += ["--live", live]
    command += [] if options.force else ["--if-changed"]
    return command + list(options.options)


def _result_of(event: Event, name: str) -> BakedResult:
    results = event.get("results") or ()
    if not results:
        raise HostError(f"{name}: the bake ended without a result")
    textures = next(iter(event.get("textures") or ()), {})
    return BakedResult(Path(results[0]), {kind: Path(path) for kind, path in textures.items()})


def _array(painted: Painted) -> bytes:
    """The weights in the format of numpy, because hosts have no image library."""
    held = io.BytesIO()
    np.save(held, painted.weights, allow_pickle=False)
    return held.getvalue()
