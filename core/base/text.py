"""Untrusted text in file names and on terminals, and numbers as people read them."""

from __future__ import annotations

import locale
import os
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

from verdigris.core.base.errors import SettingsError, VerdigrisError

_LONGEST = 4096
# Bytes of a name: file systems allow 255, with the suffixes of checkpoints and temporary files.
LONGEST_NAME = 200
# Names that Windows reserves for devices, with any suffix and with spaces before it.
_OF_A_DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)", re.IGNORECASE
)
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?|\.[0-9]{1,18}) ?([kmg])?(i?b)?", re.IGNORECASE)
_MOST_BYTES = 1 << 40
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def printable(value: Any) -> str:
    """The text on one line, without escape sequences of a terminal."""
    text = str(value)[:_LONGEST]
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def format_seconds(seconds: float | None) -> str:
    """`4.2 s`, `40 s`, `3 min 20 s` or `2 h 5 min`, in the panel and on the command line."""
    if seconds is None or not seconds < 1e8:
        return "unknown"
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def format_share(share: float) -> str:
    """A completed share. It is 100% only at the end."""
    return f"{int(100 * min(1.0, max(0.0, share)) + 1e-6)}%"


def format_range(low: float, high: float) -> str:
    """`20 to 40 s`, `about 3 min` or `1 to 2 h`."""
    for unit, seconds, step in (("s", 1, 5), ("min", 60, 1), ("h", 3600, 1)):
        if high < 90 * seconds or unit == "h":
            first = max(step, round(low / seconds / step) * step)
            last = max(first, round(high / seconds / step) * step)
            return f"about {first} {unit}" if first == last else f"{first} to {last} {unit}"
    raise AssertionError


def format_bytes(count_of_bytes: float) -> str:
    """A size for people: `999 bytes`, `4.3 KB`, `698 KB` or `25.8 GB`."""
    value, unit = float(count_of_bytes), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    digits = 0 if unit == 0 or (unit < 3 and value >= 9.95) else 1
    return f"{value:.{digits}f} {_UNITS[unit]}"


def parse_bytes(text: str) -> int:
    """The number of a size such as 1.4M, 300K, 2MB or 1500000. K, M and G are powers of 1024, as in
    KiB; KB, MB and GB are powers of 1000."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SettingsError(
            f"{text!r} is not a size: use a number of bytes, or one with K, M or G, such as 1.4M"
        )
    number, letter, ending = found.groups()
    base = 1000 if ending and ending.lower() == "b" and letter else 1024
    count = float(number) * base ** ("KMG".index(letter.upper()) + 1 if letter else 0)
    if not 1 <= count <= _MOST_BYTES:
        raise SettingsError(f"{text} is out of range: use 1 byte to {_MOST_BYTES >> 30}G")
    return int(count)


def counted(number: int, what: str) -> str:
    """A number and its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def unused_names(names: Sequence[str]) -> list[str]:
    """A file name for each name; they differ even on file systems that ignore case."""
    found: list[str] = []
    for name in names:
        plain = with_plain_letters(name.strip("|/")) or "_"
        number, wished = 2, plain
        while plain.lower() in (other.lower() for other in found):
            plain, number = f"{wished}_{number}", number + 1
        found.append(plain)
    return found


def why_invalid_file_name(name: str) -> str:
    """Why some system does not allow this name for a result; empty if all do."""
    is_plain = PurePath(name).name == name and name not in ("", "..") and "\\" not in name
    if not (is_plain and name.isprintable()):
        return f"the name {name!r} is not a file name: leave out folders and unprintable characters"
    if not name.strip(" ."):
        return f"the name {name!r} is blank: use letters or digits"
    if name[-1] in " .":
        return f"the name {name!r} ends with a dot or a space, which Windows drops: leave it out"
    if is_of_a_device(name):
        return f"the name {name!r} is reserved by Windows: choose another, such as '_{name}'"
    return (
        "" if is_encodable(name) else f"the name {name!r} cannot be written in {describe_locale()}"
    )


def with_plain_letters(name: str) -> str:
    """The name in a form for every file system: plain letters, no dot at the end, not reserved."""
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    stem = plain.rstrip(".")
    plain = stem + "_" * (len(plain) - len(stem))
    return f"_{plain}" if is_of_a_device(plain) else plain


def is_of_a_device(name: str) -> bool:
    """Whether Windows opens a device by this name."""
    return _OF_A_DEVICE.match(name) is not None


def is_encodable(name: str) -> bool:
    """Whether the encoding of file names has all characters of a name."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def describe_locale() -> str:
    """The locale and its encoding, with the remedy."""
    name, encoding = locale.setlocale(locale.LC_CTYPE), sys.getfilesystemencoding()
    return f"the locale {name}, whose file names are in {encoding}: set LC_ALL=C.UTF-8"


def is_unicode(name: str) -> bool:
    """Whether a file name is Unicode, which JSON and some libraries require."""
    return name == name.encode(errors="replace").decode()


def why_not_unicode(file: str) -> str:
    """Why a manifest, which is Unicode, cannot name a document; empty if it can."""
    can_name = is_unicode(Path(file).name)
    return "" if can_name else f"{file}: the file name is not Unicode: rename it"


def require_unicode(path: Path, error: type[VerdigrisError] = VerdigrisError) -> None:
    """Refuses a path that the image library cannot open."""
    if not is_unicode(str(path)):
        raise error(
            f"{path}: the name of the file, or of a folder above it, is not Unicode: rename it"
        )


def why_invalid_name(name: str) -> str:
    """Why a file cannot have this name; empty if it can."""
    if reason := why_invalid_file_name(name):
        return reason
    length = len(os.fsencode(name))
    if length > LONGEST_NAME:
        return f"the name {name!r} has {length} bytes: choose one with at most {LONGEST_NAME}"
    return ""


def version() -> str:
    """Version of the running Verdigris: that of a staged tree, or of the installed package."""
    file = Path(__file__).resolve().parents[2] / "VERSION"
    try:
        if file.is_file():
            return file.read_text("utf-8").strip()
        return metadata.version("verdigris")
    except metadata.PackageNotFoundError:
        return "not installed"
