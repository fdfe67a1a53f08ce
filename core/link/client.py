"""A client of the live link in Python: for tools, tests, and as an example."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.json_fields import parse_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.ktx2 import read_ktx2
from verdigris.core.bundle.files.manifest import parse_known_tensors
from verdigris.core.bundle.files.manifest_network import parse_network
from verdigris.core.bundle.files.manifest_parts import parse_latents, parse_record
from verdigris.core.bundle.files.stored_textures import LatentTexture
from verdigris.core.bundle.files.weights import check_tensors, unpack_weights
from verdigris.core.link.protocol import (
    LARGEST_MESSAGE,
    NEXT,
    SNAPSHOT,
    LinkError,
    Message,
    decode,
    records_of,
    with_version,
)
from verdigris.core.material.live_inputs.live_input import parse_live
from verdigris.core.network.parameters import Parameters, TransmittedSide

if TYPE_CHECKING:
    from types import TracebackType

    from verdigris.core.bundle.files.manifest_parts import Tensor
    from verdigris.core.bundle.files.weights import StoredNumbers
    from verdigris.core.network.spec import NetworkSpec

import numpy as np


@dataclass(frozen=True, eq=False)
class Received:
    """A snapshot, complete: what was sent before is filled in."""

    number: int
    material: str
    is_final: bool
    step: int
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]

    def parameters(self) -> Parameters:
        """The numbers, as a bundle with these files has them, in single floats."""
        data = json.dumps(self.manifest).encode()
        fields = parse_json(data, MANIFEST_FILE)
        spec = parse_network(fields)
        tensors = parse_known_tensors(fields, spec, False)
        record = parse_record(fields.table("weights"), LARGEST_MESSAGE)
        numbers = self._numbers(record.file, spec, tensors)
        transmitted = None
        if "transmission" in fields:
            below = fields.table("transmission")
            file = parse_record(below.table("weights"), LARGEST_MESSAGE).file
            stored = self._numbers(file, spec, tensors)
            transmitted = TransmittedSide(stored.decoder, below.number("index"), stored.head)
        facts = parse_latents(fields.table("latents"), spec)
        levels = read_ktx2(self.files[facts.record.file], facts.texture, facts.record.file)
        scale, offset = (np.array(each, np.float32) for each in (facts.scale, facts.offset))
        texture = LatentTexture(facts.format, facts.layout, levels, scale, offset)
        live = tuple(each.default for each in parse_live(fields, spec.live_inputs))
        return Parameters(
            *(spec, facts.layout, numbers.decoder, texture.values(), numbers.head),
            *(live, transmitted),
        )

    def _numbers(self, file: str, spec: NetworkSpec, tensors: tuple[Tensor, ...]) -> StoredNumbers:
        weights = self.files[file]
        check_tensors(spec, tensors, len(weights), MANIFEST_FILE)
        return unpack_weights(spec, tensors, weights, file)


class LinkClient:
    """A connection to a server. Iterate to get snapshots until the server ends the link."""

    def __init__(self, address: str, timeout: float = 10.0) -> None:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        self._address = address
        self._files: dict[str, bytes] = {}
        self._has_shown = False
        self.state: Mapping[str, Any] = {}
        """The last state that the server has told."""
        self.ended = ""
        """Why the link has ended."""
        try:
            opened = connect(
                with_version(address),
                max_size=LARGEST_MESSAGE,
                compression=None,
                open_timeout=timeout,
                close_timeout=1,
                proxy=None,
            )
            self._opened = ExitStack()
            self._connection = self._opened.enter_context(opened)
        except (OSError, WebSocketException) as failure:
            raise LinkError(
                f"{address.partition('?')[0]}: no link ({failure}): start verdigris link, or copy "
                "its address again"
            ) from None

    def __iter__(self) -> Iterator[Received]:
        while (found := self.receive(None)) is not None:
            yield found

    def receive(self, timeout: float | None = 10.0) -> Received | None:
        """The next snapshot; None if the server has ended the link. Raises TimeoutError."""
        from websockets.exceptions import ConnectionClosed

        if self._has_shown:
            self._has_shown = False
            with suppress(ConnectionClosed):
                self._connection.send(NEXT)
        while True:
            try:
                data = self._connection.recv(timeout=timeout, decode=False)
            except ConnectionClosed as failure:
                close = failure.rcvd
                self.ended = f"{close.code} {close.reason}".strip() if close else "lost"
                return None
            message = decode(bytes(data))
            if message.kind != SNAPSHOT:
                self.state = message.head.values
                continue
            self._has_shown = True
            found = complete(message, self._files)
            self._files = dict(found.files)
            return found

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> LinkClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


def complete(message: Message, before: Mapping[str, bytes]) -> Received:
    """A snapshot with the files that came before it. Checks the digests."""
    head = message.head
    manifest = parse_json(message.files.get(MANIFEST_FILE, b""), MANIFEST_FILE).values
    files = {}
    for record in records_of(manifest):
        name = str(record["file"])
        data = message.files.get(name, before.get(name, b""))
        if hashlib.sha256(data).hexdigest() != record["sha256"]:
            raise LinkError(f"{name}: does not have the digest of its record: connect again")
        files[name] = data
    return Received(
        head.whole("number", 0, 1 << 40),
        head.text("material"),
        bool(head.typed("final", bool)),
        head.whole("step", 0, 1 << 40) if "step" in head else 0,
        manifest,
        files,
    )
