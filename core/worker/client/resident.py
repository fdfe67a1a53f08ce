"""Finds a resident worker, has it bake, and replaces one that is killed, hung or outdated.

What the worker loses is not lost: the caller goes on from the checkpoint of the bake.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

from verdigris.core.baking.bake_job import BakeJob, with_speeds
from verdigris.core.baking.state.options import BakeControl
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import new_file
from verdigris.core.base.process.vitals import Vitals, is_stopped
from verdigris.core.base.process.worker_environment import require_worker_command, start_process
from verdigris.core.progress import Event, Finished, Warning
from verdigris.core.worker.client.resident_connection import (
    ANSWER,
    LONGEST_IDLE,
    POLL,
    LostWorkerError,
    Resident,
    kill,
)
from verdigris.core.worker.protocol.messages import VERSION, encode
from verdigris.core.worker.resident.place import (
    COMMAND,
    Address,
    Place,
    ResidentError,
    environment_stamp,
    is_off,
    is_proof,
    new_token,
)
from verdigris.core.worker.resident.wire import read_messages

IDLE = 900.0
_MODULE = "verdigris.core.worker.resident.serve"
# Seconds until a new worker answers, and an outdated one has ended.
_START, _END = 20.0, 1.0


def find_resident(device: str | None) -> Resident | None:
    """A free resident worker of this version; None if there is none. One that was killed, hangs or
    is outdated is replaced."""
    place, address = _read(device)
    if place is None or address is None or address.environment != environment_stamp():
        return None
    try:
        found, is_busy = _greet(address)
    except _DeadError:
        return _replaced(place, address)
    if found is None or is_busy:
        return None
    if not address.is_current:
        if address.kind != COMMAND:
            return None
        found.end()
        return _replaced(place, address)
    return found


def find_this(address: Address) -> Resident | None:
    """The resident worker at an address, if it is of this version and free."""
    if not address.is_current or address.environment != environment_stamp():
        return None
    try:
        found, is_busy = _greet(address)
    except _DeadError:
        return None
    if found is not None and is_busy:
        found.leave()
        return None
    return found


def replace_resident(device: str | None) -> Resident | None:
    """A new resident worker in the place of one that was lost during a bake."""
    place, address = _read(device)
    return None if place is None or address is None else _replaced(place, address)


def _read(device: str | None) -> tuple[Place | None, Address | None]:
    """The place of a device, and who is there. What others could have written does not count."""
    if is_off():
        return None, None
    try:
        place = Place.of(device)
        return place, place.read()
    except ResidentError:
        return None, None


def find_address(device: str | None) -> Address | None:
    """The resident worker of this version, free or busy. One that was killed, hangs or is outdated
    is replaced."""
    found = find_resident(device)
    if found is not None:
        found.leave()
    address = Place.of(device).read()
    if address is None or not address.is_current or is_stopped(address.process):
        return None
    return address


def stop_resident(device: str | None) -> bool:
    """Asks the resident worker to end. False if there is none."""
    place = Place.of(device)
    address = place.read()
    if address is None or address.kind != COMMAND:
        return False
    try:
        found, _ = _greet(address)
    except _DeadError:
        place.remove(address.token)
        return False
    if found is not None:
        found.end()
    return found is not None


def start_resident(device: str | None, idle: float = IDLE) -> Address:
    """Starts a resident worker in the background, and waits until it answers."""
    place = Place.of(device)
    command = [*require_worker_command(), "-m", _MODULE, place.device, str(idle)]
    with new_file(place.log) as log:
        process = start_process(command, stdout=log, stderr=log, is_apart=True, folder=place.folder)
    end = time.monotonic() + _START
    while time.monotonic() < end:
        address = place.read()
        if address is not None and address.process == process.pid:
            return address
        if process.poll() is not None:
            break
        time.sleep(0.02)
    lines = place.log.read_text(errors="replace").strip().splitlines() or ["no message"]
    raise ResidentError(f"the worker has not started: {lines[-1]}")


def bake_by_resident(
    resident: Resident,
    job: BakeJob,
    device: str | None,
    control: BakeControl,
    slower: dict[str, str] | None,
    continues: bool = False,
) -> Iterator[Event]:
    """The events of a bake by a resident worker. If the worker is lost, another one bakes on from
    the checkpoint, and this process if that one is lost, too. `slower` gets the bundles that are
    slower than their graphs; without it, this is not measured. With `continues` the bake begins at
    its checkpoint, if there is one."""
    found = resident
    for again in (True, False):
        events, is_finished = 0, False
        try:
            for event in found.bake(job, control, continues, slower is not None):
                events += 1
                if slower is not None:
                    slower |= found.slower
                yield event
                is_finished = isinstance(event, Finished)
            return
        except LostWorkerError as lost:
            if is_finished:
                return
            continues = continues or found.has_checkpoint
            if events:
                how = "goes on from its checkpoint" if continues else "begins again"
                yield Warning(f"the resident worker was lost ({lost}): the bake {how}")
        following = replace_resident(device) if again and found.may_be_replaced else None
        if following is None:
            break
        found = following
    from verdigris.core.baking.prepare import open_to_bake

    prepared = job.open().prepare(open_to_bake(device))
    run = prepared.continued if continues else prepared.bake
    yield from with_speeds(run(control), prepared.teachers, slower)


class _DeadError(Exception):
    """The worker has ended, or hangs."""


def _greet(address: Address) -> tuple[Resident | None, bool]:
    """The worker at an address, and whether it is busy; no worker if another program is there, or
    if its compiler is silent."""
    opened = connect(address)
    try:
        nonce = new_token()
        opened.settimeout(ANSWER)
        hello = {"command": "hello", "protocol": VERSION, "nonce": nonce}
        opened.sendall(encode(hello))
        answer = next(read_messages(opened))
    except TimeoutError:
        hangs = is_stopped(address.process) or not _computes(address.process)
        if hangs and kill(opened, address):
            raise _DeadError from None
        opened.close()
        return None, True
    except (OSError, StopIteration):
        opened.close()
        raise _DeadError from None
    if not is_proof(answer.get("proof"), address.token, "worker", nonce):
        opened.close()
        return None, True
    return Resident(opened, address, str(answer.get("nonce"))), bool(answer.get("busy"))


def connect(address: Address) -> socket.socket:
    """A connection to a worker. Raises _DeadError if nobody listens."""
    is_port = address.address.isdecimal()
    opened = socket.socket(socket.AF_INET if is_port else socket.AF_UNIX)
    opened.settimeout(ANSWER)
    try:
        target: Any = ("127.0.0.1", int(address.address)) if is_port else address.address
        opened.connect(target)
    except OSError:
        opened.close()
        raise _DeadError from None
    return opened


def _computes(process: int) -> bool:
    """Whether a process uses CPU time, or the system does not tell."""
    vitals = Vitals(process)
    end = time.monotonic() + LONGEST_IDLE
    while time.monotonic() < end:
        idle = vitals.idle_seconds()
        if idle is None or (idle == 0.0 and time.monotonic() > end - LONGEST_IDLE + POLL):
            return True
        time.sleep(POLL)
    return False


def _replaced(place: Place, address: Address) -> Resident | None:
    """A new worker in place of one of the command. A panel starts its own again."""
    if address.kind != COMMAND:
        return None
    end = time.monotonic() + _END
    while time.monotonic() < end:
        new = place.read()
        try:
            if new is None or new.token == address.token:
                new = start_resident(place.device, address.idle)
            found, is_busy = _greet(new)
            return None if is_busy else found
        except _DeadError:
            return None
        except VerdigrisError:
            # the old one ends, or another program has been faster
            time.sleep(POLL)
    return None
