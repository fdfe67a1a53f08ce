"""The panel in each of its states, with a fake worker and drawn pictures: for the sheet of all
states (docs/make_state_sheets.py), and for tests that go through all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSettings

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.history import Version
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.material.analyse.displacement import AS_RELIEF
from verdigris.core.worker.client.client import GONE, Health
from verdigris.ui.memory import Memory
from verdigris.ui.model.parts.bake_history import Interrupted
from verdigris.ui.model.parts.live_values import RANGE_PICTURES
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.signals import INFO
from verdigris.ui.viewport.viewport import SIDE_BY_SIDE, WIPE
from verdigris.ui.window import Window

from .fake_session import FakeClient

EXAMPLES = Path(__file__).parents[2] / "examples"
REPORT = {
    "name": "copper_tray",
    "verdict": "can be baked: reflects 43% of the light",
    "parts": [
        {"name": "oren_nayar_diffuse_bsdf", "fate": "kept"},
        {"name": "conductor_bsdf", "fate": "kept"},
        {"name": "dielectric_bsdf", "fate": "approximated", "how": "roughness is at least 0.07"},
        {"name": "displacement", "fate": "kept", "how": AS_RELIEF},
    ],
    "textures": [
        {"file": f"/art/maps/copper_tray_{name}.png", "width": 1024, "height": 1024, "tiles": 1}
        | {"problem": "", "tiles_left_out": 0, "channels": 3, "kind": "uint8"}
        for name in ("color", "normal", "roughness", "height", "patina", "edges")
    ],
    "live": [
        {
            "name": name,
            "inputs": ["base", "coat"],
            "input": {"kind": "float", "value": [0.3], "low": [0.0], "high": [1.0]},
        }
        for name in ("wetness", "age", "dirt")
    ],
}
PLAN = [
    {"name": "starts", "first": 0, "last": 200},
    {"name": "small texture", "first": 200, "last": 1200},
    {"name": "encoding", "first": 1200, "last": 1200},
    {"name": "training", "first": 1200, "last": 3600},
    {"name": "rounding", "first": 3600, "last": 4000},
]
GOOD = {"sphere": (0.0071, 47.2), "samples": 0.0009, "sky": (0.012, 0.041, -0.006)}
POOR = {"sphere": (0.0412, 31.5), "samples": 0.0047, "sky": (0.052, 0.21, -0.07)}


@dataclass(frozen=True)
class State:
    """How a state is reached, and what is shown of it."""

    reach: Callable[[Scene], None]
    pages: tuple[str, ...] = ("Bake", "Material")
    mode: str = WIPE


class Scene:
    """A window with a fake worker, whose view can be drawn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = FakeClient()
        self.window = Window(
            FilesHost(), Memory(QSettings(f"{folder}/m.ini", QSettings.Format.IniFormat))
        )
        self.panel = self.window.panel
        self.model = self.panel.model
        self.model.link._make_client = self._make_client
        self.parts: tuple[str, ...] = ()
        """The pictures that are there."""
        self.sharp, self.gap = 1.0, 0.06

    def _make_client(self) -> FakeClient:
        return self.client

    def receive(self, event: str, **fields: object) -> None:
        self.client.emit(event, **fields)
        self.model.tick()

    def open(self, **changes: object) -> None:
        document = EXAMPLES / "copper_tray.mtlx"
        self.model.set_choices(folder=str(self.folder / "neural"))
        self.window.open(document)
        self.receive(
            "opened", chosen="copper_tray", materials=[{**REPORT, **changes}], trainer="numpy",
            device="llvmpipe (software)",
        )  # fmt: skip
        self.receive("state", state="idle", doing="")

    def draw(self) -> None:
        """Gives the viewport the pictures of its present view."""
        for part in self.parts:
            pixels = picture(part, self.model.state.view, self.gap)
            head = {"event": "picture", "part": part, "view": self.model.state.view.number}
            self.model.state.pictures.handle({**head, "sharp": self.sharp}, pixels)

    def train(self, share: float, preset: str = "draft") -> None:
        """A bake, up to a share of its steps."""
        self.model.set_choices(preset=preset)
        self.model.start()
        self.receive("state", state="preparing")
        self.receive("started", step=0, steps=4000, resolution=256)
        self.receive("plan", parts=PLAN)
        self.receive("state", state="training")
        for step in range(0, round(4000 * share) + 1, 40):
            part = next(each for each in PLAN if step <= each["last"])
            if self.model.state.bake.progress.phase != part["name"]:
                self.receive("phase", name=part["name"])
            error = 0.05 * (1 + step / 40) ** -0.62 * (1.25 if step > 3600 else 1)
            self.receive("step", step=step, steps=4000, loss=3 * error, seconds=step / 50)
            if step and step % 400 == 0:
                view = replace(self.model.state.view, size=96, aspect=1.0)
                self.model.state.film.take(step, picture("neural", view, 0.8 * (1 - step / 4400)))
            if step and step % 200 == 0:
                self.receive("metrics", step=step, samples=[{"log_mae": error}])
        self.parts = ("reference", "neural", "heat")

    def finish(self, errors: dict, preset: str = "draft") -> None:
        self.train(1.0, preset)
        self.receive("state", state="finishing")
        flip, psnr = errors["sphere"]
        median, p90, bias = errors["sky"]
        bundle = self.folder / "neural" / "copper_tray.vdg"
        self.model.state.times.took = 101
        self.receive(
            "finished", step=4000, stopped_by="steps", results=[str(bundle)], hints=[],
            samples=[{"log_mae": errors["samples"], "relative_l1": 0.03}],
            pictures=[{"ldr_flip": flip, "psnr": psnr}],
            skies=[{"median": median, "p90": p90, "bias": bias}],
        )  # fmt: skip
        self.receive("state", state="done")
        self.gap = 0.3 if errors is POOR else 0.06
        self.model.state.times.took = 101

    def keep_versions(self, count: int) -> None:
        history, now = self.model.state.history, datetime.now(UTC)
        made = []
        for number in range(count):
            flip, psnr = (POOR if number % 2 else GOOD)["sphere"]
            made.append(
                Version(
                    self.folder / f"copper_tray_{number}.vdg", str(number),
                    now - timedelta(hours=5 * number), number == 0,
                    ("standard", "draft")[number % 2], 512, (512, 512), "2x32", 4000, "", 101.0,
                    240_000, {"sphere": {"ldr_flip": flip, "psnr": psnr}},
                    label="Hero, before the fix" if number == 1 else "", is_pinned=number == 1,
                )
            )  # fmt: skip
        history.versions = tuple(made)
        history.changed.emit()
        self.model.link.set_state(self.model.link.state)

    def note(self, severity: str, text: str) -> None:
        self.model.state.notices.add(severity, text)


def picture(part: str, view: object, gap: float) -> np.ndarray:
    """A lit sphere with blotches; the neural one is a little blurred and darker."""
    short, aspect = min(512, view.size), view.aspect
    height, width = (round(short / min(1, aspect)), round(short * max(1, aspect)))
    y, x = np.mgrid[:height, :width]
    x, y = (2 * x - width) / (0.84 * short), (height - 2 * y) / (0.84 * short)
    inside = x * x + y * y < 1
    z = np.sqrt(np.clip(1 - x * x - y * y, 0, 1))
    blotch = np.sin(9 * x + 3 * np.sin(5 * y)) * np.cos(8 * y + 2 * np.sin(7 * x)) > 0.25
    light = np.clip(0.5 * x + 0.6 * y + 0.62 * z, 0, 1)
    shine = np.clip(0.24 * x + 0.29 * y + 0.93 * z, 0, 1) ** np.where(blotch, 12, 120)
    colour = np.where(blotch[..., None], (0.2, 0.5, 0.42), (0.75, 0.4, 0.25))
    worst = np.exp(-((x - 0.25) ** 2 + (y - 0.1) ** 2) / 0.01)
    miss = gap * (worst + 0.2 * blotch) * inside
    if part == "heat":
        return np.round(65_535 * 0.3 * miss).astype(np.uint16)[..., None]
    lit = colour * light[..., None] * 0.9 + 0.7 * shine[..., None] + 0.03
    lit = lit * (1 - (miss[..., None] if part == "neural" else 0))
    ground = np.full(3, 0.14)
    return (255 * np.where(inside[..., None], lit, ground).clip(0, 1)).astype(np.uint8)


def _opened(scene: Scene) -> None:
    scene.open()


def _first_reference(scene: Scene) -> None:
    scene.open()
    scene.parts, scene.sharp = ("reference",), 0.5


def _untrained(scene: Scene) -> None:
    scene.open()
    scene.train(0.0)
    scene.parts = ("reference",)


def _training(scene: Scene) -> None:
    scene.open()
    scene.keep_versions(3)
    scene.train(0.45)


def _linked(scene: Scene) -> None:
    _training(scene)
    scene.model.switch_link(is_on=True)
    address = "127.0.0.1:8748/?token=pT0dF2r-CsamD1QkJmX2aw"
    scene.receive("linked", address=f"ws://{address}", page=f"http://{address}", clients=1)


def _compressing(scene: Scene) -> None:
    scene.open()
    scene.train(0.97, "standard")


def _finishing(scene: Scene) -> None:
    scene.open()
    scene.train(1.0)
    scene.receive("state", state="finishing")
    scene.receive("closing", done=1, parts=4)


def _done_good(scene: Scene) -> None:
    scene.open()
    scene.model.set_choices(preset="standard")
    scene.finish(GOOD, "standard")
    scene.keep_versions(2)
    scene.note(INFO, f"Saved: {scene.folder / 'neural' / 'copper_tray.vdg'}")


def _done_poor(scene: Scene) -> None:
    scene.open()
    scene.finish(POOR)
    scene.keep_versions(1)
    scene.panel.pages.bake.verdict.fold.setChecked(True)


def _resume(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    history = scene.model.state.history
    history.interrupted = Interrupted(
        scene.folder / "copper_tray.bake.npz", 0.45, "standard", {}, 0.0, False
    )
    scene.keep_versions(1)


def _queue(scene: Scene) -> None:
    scene.open()
    names = ("glazed_tile", "painted_wood", "car_paint", "enamel_badge")
    scene.window.add_to_queue([EXAMPLES / f"{each}.mtlx" for each in names])
    items = scene.window.queue.items
    items[0].state, items[0].seconds = "baked", 92.0
    items[1].state, items[1].text = "failed", "maps/painted_wood_color.png: there is no such file"
    items[2].state, items[2].share = "baking", 0.4
    scene.window.queue.changed.emit()
    scene.train(0.4)


def _failed(scene: Scene) -> None:
    scene.open()
    scene.train(0.3)
    scene.receive("error", text="The disk is full: /art/neural/copper_tray.vdg was not written.")
    scene.receive("state", state="failed")


def _worker_gone(scene: Scene) -> None:
    scene.open()
    scene.train(0.3)
    scene.receive("checkpointed", step=1200)
    scene.client.now = Health(GONE, "The worker has ended with signal 9 (killed).")
    scene.model.tick()


def _ladder_running(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    work = scene.model.ladder
    work.choose(mesh=str(EXAMPLES / "tray.obj"), rungs=("neural", "pbr", "unlit", "vertex"))
    work._client, work.what, work.part = scene.client, "Textures of glTF", 0.4
    work._fitted, work._fitting = work.choices.rungs, "pbr"
    work.finished, work._begun = ("neural",), time.monotonic() - 60
    work.changed.emit()


def _ladder_done(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    work = scene.model.ladder
    work.choose(mesh=str(EXAMPLES / "tray.obj"), rungs=("neural", "pbr", "unlit", "vertex"))
    work.folder = scene.folder
    work.report = {
        "rungs": [
            {"name": name, "bytes": size, "flip": flip, "switch_pixels": at, "nanoseconds": cost,
             "flip_by_screen_size": {"8": 0.01, "512": flip}, "picture": f"{name}.png"}
            for name, size, flip, at, cost in (
                ("neural", 206_000, 0.006, 1024, 0.9), ("pbr", 90_000, 0.021, 256, 0.4),
                ("vertex", 8_000, 0.08, None, 0.1),
            )
        ]
    }  # fmt: skip
    work.changed.emit()


def _live(scene: Scene) -> None:
    scene.open()
    scene.model.set_choices(live=("wetness=0..1", "age=0..1"))
    opened = [
        {"name": name, "type": "float", "low": 0.0, "high": 1.0, "default": 0.3, "request": name}
        for name in ("wetness", "age")
    ]
    scene.receive("opened", chosen="copper_tray", materials=[REPORT], trainer="numpy", live=opened)
    scene.receive("state", state="idle", doing="")
    view = replace(scene.model.state.view, size=96, aspect=1.0)
    strip = np.concatenate([picture("reference", view, 0.0)] * RANGE_PICTURES, 1)
    scene.model.state.live.take_pictures(0, strip)
    scene.parts = ("reference",)


def _painting(scene: Scene) -> None:
    _training(scene)
    weights = scene.model.state.weights
    weights.begin_stroke()
    for number in range(24):
        weights.dab(0.3 + 0.02 * number, 0.45 + 0.008 * number, Brush())
    weights.end_stroke()


def _settings(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    presets = scene.model.state.own_presets
    presets.save("Hero props", scene.model.state.choices.with_values({"preset": "final"}))
    scene.panel.pages.settings.more.setChecked(True)


def _mesh(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    scene.model.set_view(shape="mesh", mesh=str(EXAMPLES / "tray.obj"))


def _history(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    scene.keep_versions(4)


def _no_device(scene: Scene) -> None:
    scene.window.open(EXAMPLES / "copper_tray.mtlx")
    scene.receive(
        "error", command="open", kind="DeviceError",
        text="There is no usable GPU: install a Vulkan driver, or Mesa's software Vulkan.",
    )  # fmt: skip
    scene.receive("state", state="idle", doing="")


def _no_worker(scene: Scene) -> None:
    def fail() -> None:
        raise VerdigrisError("the worker cannot be started: .venv/bin/python is missing")

    scene.model.link._make_client = fail
    scene.window.open(EXAMPLES / "copper_tray.mtlx")


def _missing_images(scene: Scene) -> None:
    scene.open(
        problem="oak_color.png: there is no such file in /art/maps or in the folders around it",
        search_in=["/art/library/oak/textures"], parts=[],
        textures=[{"file": "maps/oak_color.png", "is_missing": True, "tiles": 1, "problem": ""}],
    )  # fmt: skip


def _closing(scene: Scene) -> None:
    _training(scene)
    scene.panel.closing.allows()


def _keys(scene: Scene) -> None:
    scene.open()
    scene.parts = ("reference",)
    scene.panel.key_sheet.toggle()


def _welcome(scene: Scene) -> None:
    pass


def _welcome_recent(scene: Scene) -> None:
    for name in ("car_paint", "copper_tray"):
        scene.panel._memory.add_recent(EXAMPLES / f"{name}.mtlx")
    scene.window.shelf.refresh()


STATES = {
    "welcome": State(_welcome),
    "welcome_recent": State(_welcome_recent),
    "opened": State(_opened),
    "first_reference": State(_first_reference),
    "untrained": State(_untrained),
    "training": State(_training),
    "linked": State(_linked),
    "compressing": State(_compressing, ("Bake",)),
    "finishing": State(_finishing, ("Bake",)),
    "done_good": State(_done_good, ("Bake",)),
    "done_poor": State(_done_poor, ("Bake", "Material")),
    "resume": State(_resume),
    "queue": State(_queue, ("Shelf",)),
    "failed": State(_failed, ("Bake",)),
    "worker_gone": State(_worker_gone, ("Bake",)),
    "ladder_running": State(_ladder_running, ("Ladder",)),
    "ladder_done": State(_ladder_done, ("Ladder",)),
    "live": State(_live, ("Live",)),
    "painting": State(_painting, ("Paint",)),
    "heat_map": State(_done_poor, ("Bake",), "heat"),
    "side_by_side": State(_done_good, ("Bake",), SIDE_BY_SIDE),
    "mesh": State(_mesh, ()),
    "history": State(_history, ("Shelf",)),
    "settings": State(_settings, ("Settings",)),
    "missing_images": State(_missing_images),
    "no_device": State(_no_device),
    "no_worker": State(_no_worker),
    "closing": State(_closing, ("Bake",)),
    "keys": State(_keys),
}


def reach(name: str, folder: Path) -> Scene:
    """A window in a state."""
    state, scene = STATES[name], Scene(folder)
    scene.window.show()
    state.reach(scene)
    scene.panel.viewport.set_mode(state.mode)
    scene.panel.pages.show_only(list(state.pages))
    scene.draw()
    return scene
