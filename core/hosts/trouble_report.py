"""A report of trouble in one file, which an artist sends to whoever can mend it. Nothing is sent by
Verdigris."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError, reason, suggest_elsewhere
from verdigris.core.base.files import replace_file
from verdigris.core.hosts.redaction import Redactor

PROBE, SELFTEST, LOG, TRACEBACK, MESSAGES = "probe", "selftest", "log", "traceback", "messages"
DOCUMENTS = "documents"
SUFFIXES = (".zip", ".json")
# The end of a long log tells most.
_MOST_CHARACTERS = 1_000_000


def write_trouble_report(
    file: Path,
    parts: Mapping[str, Any],
    documents: Mapping[str, str] | None = None,
    projects: Iterable[Path] | None = None,
) -> Path:
    """Writes the parts of a report: texts, data, and MaterialX documents by the names of their
    materials. With `projects`, names of people, of machines and of these folders are left out."""
    given = {name: _plain(part) for name, part in parts.items() if part}
    texts: dict[str, str] = dict(documents or {})
    if projects is not None:
        redact = Redactor(projects)
        given, texts = redact(given), redact(texts)
    is_zip = require_suffix(file) == ".zip"
    return _write(file, _as_zip(given, texts) if is_zip else _as_json({**given, DOCUMENTS: texts}))


def write_selftest(
    file: Path, values: Mapping[str, Any], log: str, projects: Iterable[Path] | None = None
) -> Path:
    """Writes the report of a self-test: as it is, or as .zip taken apart, with the log."""
    if require_suffix(file) == ".json":
        return _write(file, _as_json(values if projects is None else Redactor(projects)(values)))
    rest = {name: each for name, each in values.items() if name not in (PROBE, DOCUMENTS)}
    parts = {PROBE: values.get(PROBE), SELFTEST: rest, LOG: log}
    return write_trouble_report(file, parts, values.get(DOCUMENTS), projects)


def require_suffix(file: Path) -> str:
    """The suffix of a report."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise HostError(f"{file}: a report is a .zip or a .json: choose such a name")
    return suffix


def _write(file: Path, data: bytes) -> Path:
    try:
        replace_file(file, data)
    except OSError as failure:
        raise HostError(
            f"{file}: cannot be written ({reason(failure)}): {suggest_elsewhere(failure)}"
        ) from None
    return file


def read_tail(file: Path) -> str:
    """The end of a log; empty if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")[-_MOST_CHARACTERS:]
    except OSError:
        return ""


def _plain(part: Any) -> Any:
    if isinstance(part, str):
        return part[-_MOST_CHARACTERS:]
    return asdict(part) if is_dataclass(part) and not isinstance(part, type) else part


def _as_json(values: Mapping[str, Any]) -> bytes:
    return (_dumped(values) + "\n").encode()


def _as_zip(parts: Mapping[str, Any], documents: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            is_text = isinstance(part, str)
            file_name = f"{name}.{'txt' if is_text else 'json'}"
            archive.writestr(file_name, part if is_text else _dumped(part))
        for number, (name, text) in enumerate(documents.items(), 1):
            plain = re.sub(r"[^\w.-]+", "_", name)
            archive.writestr(f"documents/{number}_{plain}.mtlx", text)
    return packed.getvalue()


def _dumped(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
