"""A panel model with a fake host and a fake worker."""

from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.core.worker.client.client import WELL, Health
from verdigris.core.worker.protocol.messages import Message
from verdigris.ui.model.panel_model import PanelModel

CLAY = HostMaterial("clay", "clay", "file")
REPORT = {"name": "clay", "verdict": "can be baked: reflects 43% of the light", "parts": []}


class FakeHost:
    """A scene with two materials. Records attached results."""

    name = "Fake 1.0"
    can_paint = False
    export_steps = ()

    def __init__(self):
        self.attached_results = []
        self.fails = False
        self.opened = "first"

    def scene_file(self):
        return Path("/scene/shot.ma")

    def materials(self):
        return (CLAY, HostMaterial("wax", "wax", "file"))

    def selected_materials(self):
        return ()

    def identity(self, material):
        return f"{self.opened} {material.key}"

    def document(self, material):
        if self.fails:
            raise HostError("the material has gone")
        return HostDocument("scene", "<materialx/>", material.name, (Path("/textures"),))

    def scene_warnings(self):
        return ()

    def meshes(self, material):
        return ()

    def attach(self, material, result):
        self.attached_results.append((material, result.bundle))


class FakeClient:
    """Records commands and returns the events of the test."""

    log = "a line of the worker"

    def __init__(self):
        self.sent, self.queue = [], []
        self.now = Health(WELL)
        self.ended = ""

    def send(self, command):
        self.sent.append(command)

    def poll(self):
        found, self.queue = self.queue, []
        return found

    def health(self):
        return self.now

    def close(self):
        self.ended = "closed"

    def kill(self):
        self.ended = "killed"

    def emit(self, event, payload=b"", **fields):
        self.queue.append(Message({"event": event, **fields}, payload))


class Session:
    """A model, its host and its workers."""

    def __init__(self, host=None):
        self.host, self.clients = host or FakeHost(), []
        self.model = PanelModel(self.host, self._make)

    def _make(self):
        self.clients.append(FakeClient())
        return self.clients[-1]

    @property
    def client(self):
        return self.clients[-1]

    def receive(self, event, **fields):
        self.client.emit(event, **fields)
        self.model.tick()

    def ready(self):
        self.model.refresh_materials()
        self.receive("opened", chosen="clay", materials=[REPORT], trainer="numpy", device="cpu")
        self.receive("state", state="idle", doing="")
        return self.model

    def training(self):
        model = self.ready()
        model.start()
        self.receive("state", state="preparing")
        self.receive("started", step=0, steps=100)
        self.receive("state", state="training")
        self.receive("phase", name="training")
        return model
