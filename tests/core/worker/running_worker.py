"""A worker process, with the messages that it has sent."""

import time

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.process.worker_environment import require_worker_command
from verdigris.core.worker.client.client import WorkerClient
from verdigris.core.worker.protocol import commands

from ..brisk import SMALL

# Little to compile.
CLAY = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" value="0.7, 0.3, 0.1"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="clay" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
QUICK = {"network": "2x16", "resolution": 16, "batch": 256, "iterations": 60}
LONG = {**QUICK, "iterations": 1_000_000}
SECONDS = 60
# The worker as it is, but for how finely it measures and draws a result, how often it keeps its
# state, and that it rests between short runs of steps, of which pictures take a larger share: these
# are held by tests of their own, and would be most of the time of those here.
BRISK = f"""{SMALL}
import time
import verdigris.core.worker.drawing.shown as shown
import verdigris.core.worker.session.budget as budget
import verdigris.core.worker.session.job as job
from verdigris.core.progress import Step
job.CHECKPOINT_SECONDS = 0.3
job.RUN_SECONDS = 0.03
shown.TEXTURE_SIZE = 32
budget.Budget.__init__.__defaults__ = (0.5, *budget.Budget.__init__.__defaults__[1:])
go_on = job.Job.next
def next_with_rest(self):
    event = go_on(self)
    if isinstance(event, Step):
        time.sleep(0.05)
    return event
job.Job.next = next_with_rest
runpy.run_module("verdigris.core.worker", run_name="__main__")
"""
# a panel may be tested in a Python that cannot bake
BRISK_WORKER = [*require_worker_command(), "-c", BRISK]


class RunningWorker:
    """A worker and its messages."""

    def __init__(self, command=None, client=None):
        self.client = client or WorkerClient(command or BRISK_WORKER)
        self.messages = []
        self.mark = 0

    def send(self, *commands):
        """Sends commands; `find` looks only at messages after them."""
        self.mark = len(self.messages)
        for command in commands:
            self.client.send(command)

    def open_clay(self, size=32):
        self.send(commands.SetView(size=size), commands.Open(name="clay", payload=CLAY.encode()))
        return self.wait_for("opened")

    def start(self, folder, changes=None, **options):
        self.send(
            commands.Start(str(folder), request=BakeRequest(changes=changes or LONG, **options))
        )
        return self.wait_for("phase", name="training")

    def receive(self):
        self.messages += self.client.poll()

    def find(self, event, **fields):
        """The first message since the last command that is of this event and has these fields."""
        for message in self.messages[self.mark :]:
            header = message.header
            if header.get("event") == event and fields.items() <= header.items():
                return message
        return None

    def wait_for(self, event, seconds=SECONDS, **fields):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.receive()
            found = self.find(event, **fields)
            if found is not None:
                return found
            time.sleep(0.01)
        kinds = [message.header for message in self.messages[self.mark :]][-5:]
        raise AssertionError(f"no {event} {fields} within {seconds} s, but {kinds}")

    def all(self, event):
        self.receive()
        return [message for message in self.messages if message.header.get("event") == event]

    def skip_messages(self):
        self.receive()
        self.mark = len(self.messages)
