"""The buttons of the LOP, and the menus of materials: they bake in the background.

Without a window they wait until the bakes are finished, and fail with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import hou

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.text import counted
from verdigris.plugins.common.bake_queue import BakeQueue
from verdigris.plugins.houdini.nodes.scene_bakes import (
    NodeBake,
    jobs_of_lop,
    jobs_of_materials,
    show_state,
)

queue = BakeQueue()
# Jobs since the queue was last empty.
_jobs: list[NodeBake] = []


def bake(node: hou.LopNode) -> None:
    """Bakes the materials of a LOP."""
    try:
        if queue.has(node.sessionId()):
            raise HostError(f"{node.path()} bakes already: wait, or press Cancel")
        jobs = jobs_of_lop(node)
    except VerdigrisError as failure:
        show_state(node, str(failure))
        _refuse(str(failure))
        return
    _run(jobs)


def cancel(node: hou.LopNode) -> None:
    """Ends the bakes of a LOP, also waiting ones."""
    if queue.has(node.sessionId()):
        queue.cancel(node.sessionId())
    else:
        show_state(node, "nothing to cancel")


def bake_materials(nodes: Sequence[hou.Node]) -> None:
    """Bakes material nodes."""
    try:
        waiting = [node for node in nodes if not queue.has(node.sessionId())]
        jobs = jobs_of_materials(waiting)
    except VerdigrisError as failure:
        _refuse(str(failure))
        return
    _run(jobs)


def cancel_all() -> None:
    """Ends all bakes of nodes."""
    for owner in {job.owner for job in _jobs}:
        queue.cancel(owner)


def _run(jobs: Sequence[NodeBake]) -> None:
    # jobs are still watched after all of them were cancelled
    is_watched = bool(_jobs)
    for job in jobs:
        _jobs.append(job)
        queue.add(job)
    if not hou.isUIAvailable():
        queue.run()
        _end()
    elif not is_watched:
        hou.ui.addEventLoopCallback(_tick)


def _tick() -> None:
    queue.tick()
    if queue.is_idle:
        hou.ui.removeEventLoopCallback(_tick)
        _end()


def _end() -> None:
    """Reports failures once all jobs have ended."""
    done, problems = list(_jobs), [job.problem for job in _jobs if job.problem]
    _jobs.clear()
    _sum_up(done)
    if problems and not hou.isUIAvailable():
        raise HostError("; ".join(problems))
    if hou.isUIAvailable():
        baked = counted(len(done) - len(problems), "material")
        text = f"Verdigris: {baked} baked"
        hou.ui.setStatusMessage("; ".join((text, *problems)))


def _sum_up(jobs: Sequence[NodeBake]) -> None:
    """Shows on each LOP with several materials how their bakes ended."""
    for owner in dict.fromkeys(job.owner for job in jobs):
        ours = [job for job in jobs if job.owner == owner]
        problems = [job.problem for job in ours if job.problem]
        if len(ours) > 1:
            text = f"{len(ours) - len(problems)} of {counted(len(ours), 'material')} baked"
            ours[-1].show("; ".join((text, *problems)))


def _refuse(text: str) -> None:
    if not hou.isUIAvailable():
        raise HostError(text)
    hou.ui.displayMessage(text, title="Verdigris")
