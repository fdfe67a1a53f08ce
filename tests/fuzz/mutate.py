"""The mutation engine: damaged copies of files, the same ones for the same random numbers.

A seed is a folder of files, {name: bytes}. `Mutator.damage` changes one of them, mostly: JSON and
zip archives by their structure, text by words and lines, everything by bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

Files = dict[str, bytes]

DICTIONARIES = Path(__file__).parent / "dictionaries"
_TEXTS = (".mtlx", ".usda", ".obj", ".hdr", ".slang", ".hlsl", ".glsl", ".wgsl", ".h")
_JSON = (".json", ".vdpreset")
_ZIPS = (".npz", ".usdz", ".zip")
_WORD = re.compile(rb"[A-Za-z_][\w:]*|-?\d[\d.eE+-]*|\"[^\"\n]*\"|[^\s\w]")
_TOKEN = re.compile(r'^"(.*)"$')
# Headers, where a byte decides most.
_HEAD = 320
_BOMB = 96 << 20
_NOT_ZIPS = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error,
    lzma.LZMAError,
)  # fmt: skip
_DEEP = 3000
_NUMBERS = (
    0, -1, 1, 2, 3, 15, 16, 255, 256, 4095, 8193, 65_535, 65_536, 1 << 24, (1 << 31) - 1, 1 << 31,
    (1 << 32) - 1, 1 << 32, (1 << 53) + 1, 1 << 63, 1 << 64, 10**400, 0.5, -0.0, 1e-320, 1e38,
    1e300,
)  # fmt: skip
_TEXT_VALUES = (
    "", " ", "x" * 300, "x" * 5000, "../../x", "/etc/passwd", "a/../b", "C:\\x", "\\\\host\\x",
    "con",
    "a\0b", "\ud800", "é😀", "\x1b[31m", "{{Param.X}}", "`id`", "$HOME", "*", "[", "-x", ".", "..",
)  # fmt: skip
_OTHERS: tuple[Callable[[], Any], ...] = (
    lambda: None, lambda: True, lambda: False, list, dict, lambda: [None], lambda: {"": None},
    lambda: [[]], lambda: [0] * 2000, lambda: {str(n): n for n in range(500)},
)  # fmt: skip


class Mutator:
    """Damages files of the seeds of one target."""

    def __init__(self, seeds: Sequence[Files], kept: Sequence[str] = ()) -> None:
        """`kept`: endings of names of files that stay as they are."""
        self._seeds = [dict(each) for each in seeds]
        self._kept = tuple(kept)
        self._tokens = {name: read_dictionary(name) for name in ("json", "text", "binary")}

    def damage(self, random: Random) -> tuple[Files, Files]:
        """A seed, and those of its files that are changed."""
        seed = random.choice(self._seeds)
        names = [name for name in sorted(seed) if not (self._kept and name.endswith(self._kept))]
        changed: Files = {}
        for _ in range(random.choice((1, 1, 1, 2))):
            # the first file of JSON leads to all others
            leading = [name for name in names if name.endswith(_JSON)]
            name = random.choice(leading if leading and random.random() < 0.5 else names)
            data = changed.get(name, seed[name])
            for _ in range(random.choice((1, 1, 1, 2, 4))):
                data = self._change(name, data, random)
            changed[name] = data
        if random.random() < 0.85:
            _sign_again(seed, changed)
        return seed, changed

    def _change(self, name: str, data: bytes, random: Random) -> bytes:
        kind = random.random()
        if name.endswith(_JSON):
            if kind < 0.65:
                return change_json(data, random)
            return self._change_text(name, data, "json", random)
        if name.endswith(_ZIPS) and kind < 0.8:
            return self._change_zip(data, random)
        if name.endswith(_TEXTS) and kind < 0.85:
            return self._change_text(name, data, "text", random)
        return self._change_bytes(name, data, random)

    def _change_bytes(self, name: str, data: bytes, random: Random) -> bytes:
        if not data:
            return random.choice(self._tokens["binary"])
        at = random.randrange(min(len(data), _HEAD) if random.random() < 0.5 else len(data))
        change = random.randrange(8)
        if change == 0:
            flipped = bytearray(data)
            for _ in range(random.choice((1, 1, 2, 8))):
                place = min(len(data) - 1, at + random.randrange(64))
                flipped[place] ^= 1 << random.randrange(8)
            return bytes(flipped)
        if change == 1:
            size = random.choice((1, 2, 4, 8))
            number = int(random.choice(_NUMBERS[:-8])) & ((1 << 8 * size) - 1)
            at -= at % size
            order = random.choice(("little", "big"))
            return data[:at] + number.to_bytes(size, order) + data[at + size :]
        if change == 2:
            return data[:at]
        if change == 3:
            token = random.choice(self._tokens["binary"])
            return data[:at] + token + data[at + (random.random() < 0.7) * len(token) :]
        return self._splice(name, data, at, random)

    def _splice(self, name: str, data: bytes, at: int, random: Random) -> bytes:
        """A part doubled, left out, moved, or taken from a file of another seed."""
        size = min(random.choice((1, 4, 16, 64, 1024)), len(data))
        begin = random.randrange(len(data) - size + 1)
        part = data[begin : begin + size]
        change = random.randrange(4)
        if change == 0:
            return data[:begin] + data[begin + size :]
        if change == 1:
            return data[:at] + part * random.choice((1, 2, 50)) + data[at:]
        if change == 2:
            return data[:at] + part + data[at + size :]
        suffix = Path(name).suffix
        others = [
            content
            for seed in self._seeds
            for other, content in sorted(seed.items())
            if other.endswith(suffix)
        ]
        other = random.choice(others)
        end = random.randrange(len(other) + 1)
        return data[:at] + other[end if random.random() < 0.5 else min(at, len(other)) :]

    def _change_text(self, name: str, data: bytes, kind: str, random: Random) -> bytes:
        words = [*_WORD.finditer(data[: 1 << 18])]
        change = random.randrange(6)
        if change == 0 or not words:
            return self._change_bytes(name, data, random)
        if change == 1:
            lines = data.splitlines(keepends=True)
            first, second = (random.randrange(len(lines)) for _ in "ab")
            if random.random() < 0.4:
                del lines[first : first + random.choice((1, 1, 3))]
            elif random.random() < 0.5:
                lines.insert(second, lines[first])
            else:
                lines[first], lines[second] = lines[second], lines[first]
            return b"".join(lines)
        word, other = random.choice(words), random.choice(words)
        replacement = other.group()
        if change in (2, 3):
            replacement = random.choice(self._tokens[kind])
        elif change == 4:
            replacement = str(random.choice(_NUMBERS)).encode()
            if word.group().startswith(b'"'):
                replacement = b'"' + replacement + b'"'
        return data[: word.start()] + replacement + data[word.end() :]

    def _change_zip(self, data: bytes, random: Random) -> bytes:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = [(each.filename, archive.read(each)) for each in archive.infolist()]
        except _NOT_ZIPS:
            return self._change_bytes("", data, random)
        if not entries:
            return self._change_bytes("", data, random)
        at, change = random.randrange(len(entries)), random.randrange(8)
        name, content = entries[at]
        method = zipfile.ZIP_STORED
        if change == 0:
            del entries[at]
        elif change == 1:
            entries[at] = (random.choice((*_TEXT_VALUES[3:9], name + "x", entries[0][0])), content)
        elif change == 2:
            entries.append((random.choice((name, "new.npy")), content))
        elif change == 3 and random.random() < 0.1:
            entries[at], method = (name, content[:128] + bytes(_BOMB)), zipfile.ZIP_DEFLATED
        elif change == 4 and random.random() < 0.3:
            method = random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
        elif content[:1] == b"{":
            entries[at] = (name, change_json(content, random))
        else:
            inner = name if Path(name).suffix in _TEXTS else ""
            entries[at] = (name, self._change(inner, content, random))
        return zip_files(entries, method)


def read_dictionary(name: str) -> list[bytes]:
    """The tokens of a dictionary in the form of libFuzzer and AFL."""
    tokens = []
    for line in (DICTIONARIES / f"{name}.dict").read_text("utf-8").splitlines():
        found = _TOKEN.match(line)
        if found:
            tokens.append(found[1].encode("latin-1").decode("unicode_escape").encode("latin-1"))
    return tokens


def change_json(data: bytes, random: Random) -> bytes:
    """A JSON text with one changed value; other text stays."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(document, dict | list):
        return data
    places = [*_places(document)]
    if not places:
        return data
    indent = 1 if b"\n" in data.strip() else None
    holder, key = random.choice(places)
    value = holder[key]
    change = random.randrange(10)
    if change == 0:
        del holder[key]
    elif change == 1:
        other, where = random.choice(places)
        holder[key] = json.loads(json.dumps(other[where]))
    elif change == 2:
        holder[key] = random.choice(_OTHERS)()
    elif change == 3 and isinstance(holder, dict):
        holder[random.choice((*_TEXT_VALUES[:6], f"{key}x"))] = holder.pop(key)
    elif change == 4 and isinstance(value, list):
        holder[key] = value * random.choice((2, 3, 40)) if value else [value]
    elif change == 5 and random.random() < 0.2:
        text = json.dumps(document, indent=indent).encode()
        deep = b"[" * _DEEP + b"]" * _DEEP
        return text.replace(b"{", b'{"deep": ' + deep + b", ", 1)
    elif isinstance(value, bool) or value is None or isinstance(value, dict | list):
        holder[key] = random.choice((*_NUMBERS, *_TEXT_VALUES))
    elif isinstance(value, str) and random.random() < 0.8:
        holder[key] = random.choice(_TEXT_VALUES) if random.random() < 0.7 else value[:-1] + "~"
    elif isinstance(value, int | float) and abs(value) < 1e300 and random.random() < 0.5:
        holder[key] = value + random.choice((1, -1, 0.5))
    else:
        holder[key] = random.choice(_NUMBERS)
    text = json.dumps(document, indent=indent)
    if change == 6 and isinstance(key, str):
        # the same name twice
        text = text.replace("{", "{" + f"{json.dumps(key)}: 1,", 1)
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every value in a JSON document, as (what holds it, key). Of long lists a few entries."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = [*holder] if isinstance(holder, dict) else [*range(min(len(holder), 8))]
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found


def _sign_again(seed: Mapping[str, bytes], changed: Files) -> None:
    """Gives a manifest the lengths and digests of changed files, or no damage would come far."""
    manifests = [name for name in seed if name.rpartition("/")[2] == "manifest.json"]
    for name in manifests:
        folder = name.removesuffix("manifest.json")
        text = changed.get(name, seed[name])
        for file, data in changed.items():
            before = seed[file]
            if file == name or not file.startswith(folder):
                continue
            old, new = (hashlib.sha256(each).hexdigest().encode() for each in (before, data))
            text = _with_length(text, file.removeprefix(folder), len(data))
            text = text.replace(old, new)
        if text != seed[name]:
            changed[name] = text


def _with_length(text: bytes, file: str, length: int) -> bytes:
    pattern = rb'("file": "' + re.escape(file.encode()) + rb'",\s*"bytes": )\d+'
    return re.sub(pattern, lambda found: found[1] + str(length).encode(), text)


def zip_files(entries: Sequence[tuple[str, bytes]], method: int) -> bytes:
    """An archive; usdz needs its contents stored, and 64 bytes as the alignment."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive, warnings.catch_warnings():
        # names that are there twice
        warnings.simplefilter("ignore")
        for name, content in entries:
            info = zipfile.ZipInfo(name.replace("\0", "").encode("utf-8", "replace").decode())
            info.compress_type = method
            # at: the header, the name and an extra field with an id and a length
            used = data.tell() + 30 + len(info.filename.encode()) + 4
            info.extra = b"\x86\x19" + (-used % 64).to_bytes(2, "little") + bytes(-used % 64)
            archive.writestr(info, content)
    return data.getvalue()
