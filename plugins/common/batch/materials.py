"""Chooses the materials of a scene and bakes them, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import Host, HostMaterial
from verdigris.core.hosts.painted_meshes import find_painted
from verdigris.core.worker.client.set_up import require_fit_python
from verdigris.plugins.common.batch.arguments import BatchOptions
from verdigris.plugins.common.batch.bake_material import Run, bake_material, hand_over
from verdigris.plugins.common.batch.bake_process import Ended, run_bake
from verdigris.plugins.common.batch.interruption import Interruption
from verdigris.plugins.common.batch.progress import Progress
from verdigris.plugins.common.batch.summary import (
    BAKED,
    CANCELLED,
    FAILED,
    LISTED,
    WAITING,
    Outcome,
    describe_unexpected,
)

Save = Callable[[Sequence[Outcome]], None]


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
    outcomes = [Outcome(each.name, each.key, each.source, first_status) for each, _ in chosen]
    # also tries that the summary can be written, before the work
    save(outcomes)
    if options.only_list:
        return outcomes
    python = "" if options.hand_over else require_fit_python()

    def run_shown(command: list[str]) -> Ended:
        return run_bake(command, progress.happened, interruption)

    batch = _Batch(host, options, python, run or run_shown, interruption)
    for number, ((material, name), outcome) in enumerate(zip(chosen, outcomes, strict=True), 1):
        if interruption.is_requested:
            outcome.status = CANCELLED
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
        python: str,
        run: Run,
        interruption: Interruption,
    ) -> None:
        self._host, self._options, self._python = host, options, python
        self._run, self._interruption = run, interruption

    def bake(self, material: HostMaterial, name: str, outcome: Outcome) -> None:
        options = self._options
        document = self._host.document(material)
        weight_set = options.weight_set
        painted = find_painted(self._host, material, weight_set) if weight_set else None
        outcome.notes = (*document.notes, *(painted.notes if painted else ()))
        if options.hand_over:
            hand_over(document, painted, name, options, outcome)
            return
        result = bake_material(
            document,
            painted,
            name,
            options,
            self._python,
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
    """The materials with these names or keys, or all, and the names of their bundles. A material
    has the same bundle whichever materials are chosen."""
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
