# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The operators. Each shows its errors in Blender's reports."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError, VerdigrisError, reason
from verdigris.core.base.files import make_folders
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.hosts.ladder_looks import read_look
from verdigris.core.hosts.painted_meshes import find_painted
from verdigris.core.hosts.result_folders import RESULT_FOLDER, find_result_folder
from verdigris.core.worker.protocol.commands import Start

from . import programs
from .adapter import BlenderHost
from .bake_job import CANCELLED, FAILED, RUNNING, BakeJob
from .changes import baked_version, compare, redraw
from .live_link import GAME
from .scene.dropped_nodes import bake_to_images
from .scene.live_inputs import toggle
from .scene.materials import folder_for_images, live_offers, nodes_for_images, require_material
from .scene.meshes import require_object
from .scene.results import swap_look
from .scene.rungs import attach_rungs
from .worker_place import naming_the_button, use_own_worker

# The default folder of bundles, in Blender's way of writing.
BESIDE_SCENE = f"//{RESULT_FOLDER}/"
_INTERVAL = 0.2
# Characters on a line of the sidebar.
_LINE = 42
_PAUSE = 0.05


class _Running:
    """The running bake; there is one at most."""

    job: BakeJob | None = None
    failure = ""
    """What the last operator of the artist reported, if it failed."""


def running_job() -> BakeJob | None:
    """The bake that is running, or the last one."""
    return _Running.job


def last_failure() -> str:
    """What went wrong last: in the bake, or in an operator."""
    job = _Running.job
    return job.error if job is not None and job.state == FAILED else _Running.failure


class Reporting:
    """The base class of operators, which reports their errors."""

    def guarded(self, action: Callable[[], None]) -> set[str]:
        _Running.failure = ""
        try:
            action()
        except VerdigrisError as failure:
            _Running.failure = str(failure)
            self.report({"ERROR"}, str(failure))
            return {"CANCELLED"}
        except RuntimeError as failure:
            # of Blender's own operators
            self.report({"ERROR"}, f"Blender reports: {' '.join(str(failure).split())}")
            return {"CANCELLED"}
        return {"FINISHED"}


def shown_material(context: bpy.types.Context) -> bpy.types.Material | None:
    """The material of the Properties editor, or that of the active object."""
    shown = getattr(context, "material", None)
    item = getattr(context, "object", None)
    return shown or (item.active_material if item is not None else None)


class VERDIGRIS_OT_bake(Reporting, bpy.types.Operator):
    """Bake the active material to a neural material, in a process of its own"""

    bl_idname = "verdigris.bake"
    bl_label = "Bake"

    is_again: bpy.props.BoolProperty(
        name="Again", description="With the preset of the bake before", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        job = _Running.job
        if job is not None and job.state == RUNNING:
            cls.poll_message_set("A bake is running: wait for it, or cancel it")
            return False
        return shown_material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        self._timer = None
        if self.guarded(lambda: self._start(context)) == {"CANCELLED"}:
            return {"CANCELLED"}
        if bpy.app.background:
            while self._job.state == RUNNING:
                self._job.tick()
                time.sleep(_PAUSE)
            return self._end()
        manager = context.window_manager
        self._timer = manager.event_timer_add(_INTERVAL, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # all other events go to Blender: the artist works on
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        self._job.tick()
        redraw()
        if self._job.state == RUNNING:
            return {"PASS_THROUGH"}
        self._remove_timer(context)
        return self._end()

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender opens another file or closes. The last checkpoint remains."""
        self._job.cancel()
        self._remove_timer(context)

    def _start(self, context: bpy.types.Context) -> None:
        host, settings = BlenderHost(), context.scene.verdigris
        self._material = find_host_material(host, shown_material(context))
        self._identity = host.identity(self._material)
        (name,) = unused_names([self._material.name])
        folder = bake_folder(settings.folder, host.scene_file(), name)
        try:
            document = host.document(self._material)
        except HostError as failure:
            steps = " ".join(host.export_steps)
            raise HostError(f"{failure}. You can also export it by hand. {steps}") from None
        painted = find_painted(host, self._material) if settings.use_weights else None
        for note in (*document.notes, *(painted.notes if painted else ())):
            self.report({"INFO"}, note)
        use_own_worker()
        request, version = settings.request, baked_version(shown_material(context))
        if self.is_again and version is not None and version.preset:
            request = replace(request, preset=version.preset)
        start = Start(str(folder), name, request)
        if _Running.job is not None:
            _Running.job.release()
        with naming_the_button():
            self._job = _Running.job = BakeJob(document, painted, start)
        self._job.follow(GAME)

    def _end(self) -> set[str]:
        job = self._job
        if job.state == FAILED:
            self.report({"ERROR"}, job.error)
        if job.state == CANCELLED:
            self.report({"INFO"}, "The bake was cancelled; its last checkpoint remains")
        result = job.log.result
        if job.state in (FAILED, CANCELLED) or result is None:
            return {"CANCELLED"}
        for warning in (*job.log.warnings, *job.hints):
            self.report({"WARNING"}, warning)
        try:
            host = BlenderHost()
            # it may have been renamed meanwhile
            baked = _with_identity(host, self._identity, self._material)
            host.attach(baked, result)
            compare(require_material(baked.key))
        except VerdigrisError as failure:
            self.report(
                {"WARNING"},
                f"{result.bundle} is written, but it is not noted in the file: {failure}",
            )
        else:
            self.report({"INFO"}, f"Written: {result.bundle}")
        return {"FINISHED"}

    def _remove_timer(self, context: bpy.types.Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None


class VERDIGRIS_OT_cancel(bpy.types.Operator):
    """End the bake without a result. Its last checkpoint remains"""

    bl_idname = "verdigris.cancel"
    bl_label = "Cancel"

    def execute(self, context: bpy.types.Context) -> set[str]:
        job = _Running.job
        if job is not None:
            job.cancel()
        return {"FINISHED"}


class VERDIGRIS_OT_compare(Reporting, bpy.types.Operator):
    """Compare the material with its bake"""

    bl_idname = "verdigris.compare"
    bl_label = "Compare with the Bake"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(lambda: self._compare(shown_material(context)))

    def _compare(self, material: bpy.types.Material) -> None:
        changed = compare(material)
        why = f"Changed since the bake: {', '.join(changed)}" if changed else "Not changed"
        self.report({"WARNING" if changed else "INFO"}, why)
        redraw()


class VERDIGRIS_OT_finish(bpy.types.Operator):
    """End the training now and keep its result"""

    bl_idname = "verdigris.finish"
    bl_label = "Finish Now"

    def execute(self, context: bpy.types.Context) -> set[str]:
        job = _Running.job
        if job is not None and job.state == RUNNING:
            job.finish()
        return {"FINISHED"}


class VERDIGRIS_OT_paint(Reporting, bpy.types.Operator):
    """Paint where the bake matters: starts Weight Paint on the vertex group verdigris_weights"""

    bl_idname = "verdigris.paint"
    bl_label = "Paint Weights"

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(lambda: self._paint(context))

    def _paint(self, context: bpy.types.Context) -> None:
        item = context.view_layer.objects.active
        if item is None:
            raise HostError("no object is active: select the mesh to paint on")
        BlenderHost().start_painting(require_object(item.name_full).name_full)


class VERDIGRIS_OT_live_input(Reporting, bpy.types.Operator):
    """Keep this input open in the neural material from the next bake on, or no longer"""

    bl_idname = "verdigris.live_input"
    bl_label = "Live Input"

    name: bpy.props.StringProperty(name="Name", description="The name of the input in the document")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(lambda: self._toggle(shown_material(context)))

    def _toggle(self, material: bpy.types.Material) -> None:
        known = live_offers(material)
        offer = next((each for each in known if each.name == self.name), None)
        if offer is None:
            listed = f"it has {', '.join(each.name for each in known)}" if known else "it has none"
            raise HostError(f"{material.name_full} has no input {self.name!r}: {listed}")
        toggle(material, offer)


class VERDIGRIS_OT_bake_nodes(Reporting, bpy.types.Operator):
    """Bake the nodes that Blender's MaterialX export leaves out to images with Cycles, and put the
    images into their place"""

    bl_idname = "verdigris.bake_nodes"
    bl_label = "Left-Out Nodes to Images"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(lambda: self._bake(shown_material(context)))

    def _bake(self, material: bpy.types.Material) -> None:
        folder, notes = folder_for_images(material, BlenderHost().scene_file())
        written = bake_to_images(material, nodes_for_images(material), folder)
        text = f"{len(written)} images are in {folder}"
        self.report({"WARNING" if notes else "INFO"}, "; ".join((text, *notes)))


class VERDIGRIS_OT_swap(Reporting, bpy.types.Operator):
    """Show the baked look, which is made of plain textures, or the material again"""

    bl_idname = "verdigris.swap_look"
    bl_label = "Show Baked Look"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_material(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(lambda: swap_look(shown_material(context)))


class VERDIGRIS_OT_attach_ladder(Reporting, bpy.types.Operator):
    """Show the rungs of a ladder (ladder.json) as levels of detail of the material's meshes: a
    collection and a material for each"""

    bl_idname = "verdigris.attach_ladder"
    bl_label = "Attach a Ladder"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")
    filter_glob: bpy.props.StringProperty(default="ladder.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_material(context) is not None

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        material = shown_material(context)

        def attach() -> None:
            self.report({"INFO"}, attach_rungs(material, read_look(Path(self.filepath))))

        return self.guarded(attach)


class VERDIGRIS_OT_batch(Reporting, bpy.types.Operator):
    """Bake all materials of the saved file in another Blender, into the folder verdigris"""

    bl_idname = "verdigris.batch"
    bl_label = "Bake All in the Background"

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(self._start)

    def _start(self) -> None:
        use_own_worker()
        summary = programs.start_batch(BlenderHost().scene_file())
        self.report({"INFO"}, f"Verdigris bakes the saved file. Summary: {summary}")


class VERDIGRIS_OT_selftest(Reporting, bpy.types.Operator):
    """Call every function of the add-on in another Blender and write a report"""

    bl_idname = "verdigris.selftest"
    bl_label = "Self-Test"

    def execute(self, context: bpy.types.Context) -> set[str]:
        return self.guarded(self._start)

    def _start(self) -> None:
        report = Path.home() / "verdigris_selftest_blender.json"
        BlenderHost().start_selftest(report)
        self.report({"INFO"}, f"The self-test is running. Report: {report}")


def find_host_material(host: BlenderHost, material: bpy.types.Material | None) -> HostMaterial:
    """The material as the host lists it."""
    if material is None:
        raise HostError("no material is active: select an object with a material")
    found = next((each for each in host.materials() if each.key == material.name_full), None)
    if found is None:
        raise HostError(
            f"{material.name_full} cannot be baked: connect a shader to the surface of its output "
            "(materials that Verdigris made are not baked)"
        )
    return found


def bake_folder(text: str, scene: Path | None, name: str = "") -> Path:
    """The folder in the settings, or that of an earlier result. It is made if it does not
    exist."""
    if text.startswith("//") and scene is None:
        raise HostError("the scene is not saved: save it first, or choose another folder")
    folder = Path(bpy.path.abspath(text))
    if text == BESIDE_SCENE:
        folder = find_result_folder(scene, name)
    try:
        make_folders(folder)
    except OSError as failure:
        raise HostError(f"{folder} cannot be made ({reason(failure)}): choose another") from None
    return folder


def _with_identity(host: BlenderHost, identity: str, before: HostMaterial) -> HostMaterial:
    return next((each for each in host.materials() if host.identity(each) == identity), before)


def wrapped(text: str, width: int = _LINE) -> list[str]:
    """Lines of a text, as labels of Blender have one line."""
    return textwrap.wrap(text, width) or [""]
