# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What helps when something does not work: the features that are off, a report to send, and a check
of the sidebar, the brush and undo in the open window."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.hosts.host import BakedResult, HostMaterial, log_beside
from verdigris.core.hosts.probe import Probe, probe
from verdigris.core.hosts.trouble_report import (
    LOG,
    MESSAGES,
    PROBE,
    SELFTEST,
    read_tail,
    write_trouble_report,
)
from verdigris.core.hosts.troubles import PAGE, explain, find_trouble
from verdigris.plugins.common.programs import default_report
from verdigris.plugins.common.selftest.window_check import CHECK, DISCARD, SAVE, Window, WindowCheck

from .adapter import BlenderHost
from .bake_job import RUNNING
from .operators import (
    Reporting,
    find_host_material,
    last_failure,
    running_job,
    shown_material,
    wrapped,
)
from .scene.undo import push_undo
from .selftest import make_scene
from .worker_place import use_own_worker

_BETWEEN_STEPS = 0.2
_SECONDS = 10.0
_WIDTH = 80
_MODE_OF_BRUSH = "WEIGHT_PAINT"


def known_probe() -> Probe:
    """What is here, at most some seconds ago: a panel is drawn often."""
    return _probe(int(time.monotonic() / _SECONDS))


@lru_cache(maxsize=1)
def _probe(_: int) -> Probe:
    use_own_worker()
    return probe(BlenderHost())


class VERDIGRIS_OT_why(bpy.types.Operator):
    """Show the entry of the page Troubleshooting that explains the last error"""

    bl_idname = "verdigris.why"
    bl_label = "Why?"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return bool(find_trouble(last_failure()))

    def execute(self, context: bpy.types.Context) -> set[str]:
        title = find_trouble(last_failure())
        lines = wrapped(explain(title, BlenderHost().manual.with_name(PAGE)), _WIDTH)

        def draw(menu: bpy.types.UIPopupMenu, _: bpy.types.Context) -> None:
            for line in lines:
                menu.layout.label(text=line)

        if not bpy.app.background:
            context.window_manager.popup_menu(draw, title=title, icon="QUESTION")
        self.report({"INFO"}, f"{title}: {' '.join(lines)}")
        return {"FINISHED"}


class VERDIGRIS_OT_report(Reporting, bpy.types.Operator):
    """Save what is here, the last self-test and the material in one file. Nothing is sent"""

    bl_idname = "verdigris.report"
    bl_label = "Save a Report"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH", default="verdigris_report.zip")
    filter_glob: bpy.props.StringProperty(default="*.zip;*.json", options={"HIDDEN"})
    redact: bpy.props.BoolProperty(
        name="Leave names out",
        description="Replace names of people, of machines and of folders",
        default=True,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        material = shown_material(context)

        def save() -> None:
            file = write_report(Path(self.filepath), material, self.redact)
            self.report({"INFO"}, f"The report is {file}. Nothing was sent.")

        return self.guarded(save)


def write_report(file: Path, material: bpy.types.Material | None, is_redacted: bool) -> Path:
    """Writes a report of all that is known into a file."""
    host, job, tested = BlenderHost(), running_job(), default_report("blender")
    _probe.cache_clear()
    messages = [job.text, job.error] if job is not None else []
    documents, folders = {}, []
    if material is not None:
        try:
            found = host.document(find_host_material(host, material))
        except HostError as failure:
            messages.append(str(failure))
        else:
            documents, folders = {found.material: found.text}, list(found.search)
    scene = host.scene_file()
    parts = {
        PROBE: known_probe(),
        SELFTEST: find_json_file(tested) if tested.is_file() else None,
        LOG: read_tail(log_beside(tested)),
        MESSAGES: [each for each in messages if each],
    }
    projects = [*([scene.parent] if scene else []), *folders] if is_redacted else None
    return write_trouble_report(file, parts, documents, projects)


class VERDIGRIS_OT_check_window(Reporting, bpy.types.Operator):
    """Show and hide the sidebar, paint and undo in a scene of its own, then open this one again"""

    bl_idname = "verdigris.check_window"
    bl_label = "Check in This Window"

    changes: bpy.props.EnumProperty(
        name="Changes that are not saved",
        items=[(SAVE, "Save them", ""), (DISCARD, "Lose them", "")],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        job = running_job()
        return not bpy.app.background and (job is None or job.state != RUNNING)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context: bpy.types.Context) -> set[str]:
        report = default_report("blender_window")
        return self.guarded(lambda: begin_check(self.changes, report))


def begin_check(changes: str, report: Path) -> WindowCheck:
    """Begins the check. `changes` is what the artist chose for changes that are not saved."""

    def ask(_: str, buttons: tuple[str, ...]) -> str:
        # a scene that was never saved is lost, if the artist has not cancelled
        return next((each for each in (CHECK, changes, DISCARD) if each in buttons), buttons[-1])

    check = WindowCheck(
        Window(
            host=_PaintingHost(),
            make_scene=make_scene,
            clear_scene=lambda: bpy.ops.wm.read_homefile(load_ui=False),
            has_changes=lambda: bool(bpy.data.is_dirty),
            ask=ask,
            tell=print,
            later=_later,
            show_panel=lambda: _show_sidebars(True),
            close_panel=lambda: _show_sidebars(False),
            is_panel_shown=lambda: any(each.show_region_ui for each in _views()),
            is_painting=lambda: bpy.context.object.mode == _MODE_OF_BRUSH,
            undo=bpy.ops.ed.undo,
        ),
        report,
    )
    check.begin()
    return check


class _PaintingHost(BlenderHost):
    """A host with the end of painting, for which artists leave the mode."""

    def stop_painting(self) -> None:
        bpy.ops.object.mode_set(mode="OBJECT")

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        # else undo would remove the scratch scene
        push_undo("Verdigris check")
        super().attach(material, result)


def _later(step: Callable[[], None]) -> None:
    def run() -> None:
        windows = bpy.context.window_manager.windows
        if not windows:
            step()
            return
        # a timer has no window of its own
        with bpy.context.temp_override(window=windows[0]):
            step()

    # others end when a file is loaded
    bpy.app.timers.register(run, first_interval=_BETWEEN_STEPS, persistent=True)


def _views() -> list[bpy.types.SpaceView3D]:
    return [
        area.spaces.active
        for window in bpy.context.window_manager.windows
        for area in window.screen.areas
        if area.type == "VIEW_3D"
    ]


def _show_sidebars(is_shown: bool) -> None:
    for view in _views():
        view.show_region_ui = is_shown


def draw_help(layout: bpy.types.UILayout) -> None:
    """The features that are off, and what helps."""
    for name, why in known_probe().off.items():
        row = layout.row()
        row.enabled = False
        row.label(text=f"{name}: {why}", icon="INFO")
    layout.operator("verdigris.check_window")
    layout.operator("verdigris.report")
