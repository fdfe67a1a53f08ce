"""A material's shaders as plain data, without USD."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Link:
    """The shader output that feeds an input."""

    shader: str
    output: str
    usd_type: str


@dataclass(frozen=True)
class Port:
    """An input with its value or link, and the graph input that it reads."""

    name: str
    usd_type: str
    value: str | None = None
    link: Link | None = None
    colour_space: str = ""
    interface: str = ""
    published: str = ""
    """The input of the material that has the value."""
    label: str = ""
    """The name for people of that input, or of the graph's input."""
    unit: tuple[str, str] = ("", "")
    """The unit of the value and its type, if the value came from a document with units."""


@dataclass(frozen=True)
class Shader:
    """A shader prim. `graph` is the outermost node graph around it, or empty."""

    path: str
    definition: str
    graph: str
    ports: tuple[Port, ...]


@dataclass
class Network:
    """All shaders upstream of one material."""

    name: str
    path: str
    version: str
    surface: Link
    displacement: Link | None = None
    displaced_by: str = ""
    """What MaterialX does not define of the displacement, which is then written without inputs."""
    shaders: dict[str, Shader] = field(default_factory=dict)
    outputs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """Names of graph outputs, by (graph, shader, output)."""
    folders: set[Path] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @property
    def version_numbers(self) -> tuple[int, int]:
        return version_numbers(self.version)


def version_numbers(version: str) -> tuple[int, int]:
    """Major and minor version."""
    major, _, minor = version.partition(".")
    return int(major), int(minor.partition(".")[0] or 0)
