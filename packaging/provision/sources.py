"""Reads apt's source lists, in both of their formats."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIST_FOLDER = Path("/etc/apt")

# Options of the one-line format, with their names in the deb822 format.
FIELD_OF_OPTION = {
    "arch": "Architectures",
    "lang": "Languages",
    "target": "Targets",
    "pdiffs": "PDiffs",
    "inrelease-path": "InRelease-Path",
}
PLACE_FIELDS = ("types", "uris", "suites", "components", "enabled")


@dataclass(frozen=True)
class Source:
    """A source of binary packages. `fields` are its other deb822 fields."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    fields: tuple[tuple[str, str], ...] = ()


def read_sources(folder: Path = LIST_FOLDER) -> tuple[Source, ...]:
    """All enabled sources of this machine. Unreadable files are skipped."""
    files = [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*"))]
    found: list[Source] = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if file.suffix == ".list":
            found.extend(parse_one_line(text))
        elif file.suffix == ".sources":
            found.extend(parse_deb822(text))
    return tuple(found)


def parse_one_line(text: str) -> list[Source]:
    """Lines such as `deb [signed-by=/key] URI SUITE COMPONENT...`."""
    pattern = re.compile(r"deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s*(.*)")
    found = []
    for line in text.splitlines():
        match = pattern.fullmatch(line.partition("#")[0].strip())
        if match:
            options, uri, suite, components = match.groups()
            fields = tuple(_field(option) for option in (options or "").split())
            found.append(Source(uri, (suite,), tuple(components.split()), fields))
    return found


def _field(option: str) -> tuple[str, str]:
    name, _, value = option.partition("=")
    name = name.rstrip("+-")
    return FIELD_OF_OPTION.get(name, name.title()), value.replace(",", " ")


def parse_deb822(text: str) -> list[Source]:
    """Stanzas of `Field: value` lines. Lines that begin with a space continue a value."""
    found = []
    for stanza in _stanzas(text):
        place = {name.lower(): value for name, value in stanza}
        if "deb" not in place.get("types", "").split() or place.get("enabled", "yes") == "no":
            continue
        fields = tuple((name, value) for name, value in stanza if name.lower() not in PLACE_FIELDS)
        suites = tuple(place.get("suites", "").split())
        components = tuple(place.get("components", "").split())
        for uri in place.get("uris", "").split():
            found.append(Source(uri, suites, components, fields))
    return found


def _stanzas(text: str) -> Iterator[list[tuple[str, str]]]:
    stanza: list[tuple[str, str]] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if stanza:
                yield stanza
            stanza = []
        elif line[0] in " \t" and stanza:
            name, value = stanza[-1]
            stanza[-1] = (name, f"{value}\n{line}")
        else:
            name, _, value = line.partition(":")
            stanza.append((name.strip(), value.strip()))


def format_deb822(source: Source) -> str:
    lines = [
        "Types: deb",
        f"URIs: {source.uri}",
        f"Suites: {' '.join(source.suites)}",
        f"Components: {' '.join(source.components)}",
        *(
            f"{name}: {value}" if value[:1] != "\n" else f"{name}:{value}"
            for name, value in source.fields
        ),
    ]
    return "\n".join(lines) + "\n"
