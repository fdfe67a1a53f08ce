"""Reads the XML of documents and their includes. Documents are untrusted: their form and size are
checked before MaterialX parses them."""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.inputs import require_working_folder_for
from verdigris.core.base.outputs import is_bundle_or_scene
from verdigris.core.material.files.paths import SearchPath

LARGEST_BYTES = 64 << 20
DEEPEST_NESTING = 64
MOST_ELEMENTS = 400_000
MOST_INCLUDES = 200
# The number of open elements at a child of the root.
_OUTERMOST = 2
_HOLDERS_OF_OVERRIDES = ("material", "look")
_STARTS_OF_STAGES = (b"#usda", b"PXR-USDC")
_START_OF_ARCHIVES = b"PK\x03\x04"
_STARTS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ENDS_EARLY = ("no element found", "unclosed token", "unclosed CDATA section")


@dataclass(frozen=True)
class Twin:
    """An element that MaterialX ignores, because an earlier one in the scope has the same name."""

    file: str
    name: str
    line: int
    first_file: str
    first_line: int


@dataclass(frozen=True)
class Override:
    """A value with which a material or a look overrides another; MaterialX ignores it."""

    file: str
    line: int
    holder: str
    holder_name: str
    name: str
    value: str


@dataclass
class XmlFacts:
    """Facts that a first pass over a text collects."""

    root: str = ""
    elements: int = 0
    includes: list[str] = field(default_factory=list)
    twins: list[Twin] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    """The lines of the root's children, by name with namespace."""


def read_text(path: Path) -> str:
    """The text of a document file."""
    try:
        if path.is_dir():
            if is_bundle_or_scene(path):
                raise DocumentError(
                    f"{path}: is a bundle: name the document that it was baked from"
                )
            raise DocumentError(f"{path}: is a folder: name a MaterialX document (.mtlx) in it")
        with path.open("rb") as file:
            # a device or a pipe may have no end
            content = file.read(LARGEST_BYTES + 1)
        if len(content) > LARGEST_BYTES:
            size = max(path.stat().st_size, len(content))
            raise DocumentError(
                f"{path}: has {size / 1e6:.0f} MB; a MaterialX document may have at most "
                f"{LARGEST_BYTES >> 20} MB"
            )
        if not content.removeprefix(BOM_UTF8).strip():
            raise DocumentError(f"{path}: is empty: save the document again")
        if what := _other_kind(path, content):
            raise DocumentError(f"{path}: is {what}")
        is_wide = content.startswith(_STARTS_OF_UTF_16)
        return content.decode("utf-16" if is_wide else "utf-8-sig")
    except FileNotFoundError:
        require_working_folder_for(path)
        raise DocumentError(f"{path}: there is no such file") from None
    except UnicodeDecodeError as failure:
        raise DocumentError(
            f"{path}: is neither UTF-8 nor marked as UTF-16 ({failure}): save the document in UTF-8"
        ) from None
    except OSError as failure:
        raise DocumentError(f"{path}: cannot be read: {failure.strerror}") from None


def _other_kind(path: Path, content: bytes) -> str:
    """What a file is if it is not a document, with the remedy; empty if it may be one."""
    is_archive = content.startswith(_START_OF_ARCHIVES)
    is_package = is_archive and path.suffix.lower() == ".usdz"
    if content.startswith(_STARTS_OF_STAGES) or is_package:
        return (
            "a USD stage, not a MaterialX document: bake its materials with "
            f"'verdigris scene run {path}'"
        )
    if is_archive:
        return (
            "an archive (zip), not a MaterialX document: unpack it, and name the document (.mtlx) "
            "in it"
        )
    if b"\0" in content and not content.startswith(_STARTS_OF_UTF_16):
        return "a binary file, not a MaterialX document: name one (.mtlx)"
    return ""


def check_xml(text: str, name: str) -> XmlFacts:
    """Refuses text that is not well-formed MaterialX with a reasonable size. Errors give line and
    column."""
    facts, namespace = XmlFacts(), ""
    # for each open element, the lines of its children, by name
    open_elements: list[dict[str, int]] = [{}]
    holder = holder_name = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal namespace, holder, holder_name
        if not facts.root:
            namespace = attributes.get("namespace", "")
        facts.root = facts.root or tag
        facts.elements += 1
        siblings, own_name = open_elements[-1], attributes.get("name", "")
        if own_name in siblings:
            twin = Twin(name, own_name, parser.CurrentLineNumber, name, siblings[own_name])
            facts.twins.append(twin)
        elif own_name:
            siblings[own_name] = parser.CurrentLineNumber
            if len(open_elements) == _OUTERMOST:
                outer = f"{namespace}:{own_name}" if namespace else own_name
                facts.names[outer] = parser.CurrentLineNumber
        open_elements.append({})
        if len(open_elements) - 1 > DEEPEST_NESTING:
            raise DocumentError(
                f"{name}: elements are nested deeper than {DEEPEST_NESTING}: flatten them"
            )
        if facts.elements > MOST_ELEMENTS:
            raise DocumentError(f"{name}: more than {MOST_ELEMENTS} elements: split the document")
        if tag in ("xi:include", "include"):
            facts.includes.append(attributes.get("href", ""))
        if len(open_elements) - 1 == _OUTERMOST:
            holder, holder_name = tag, own_name
        if tag == "override" and holder in _HOLDERS_OF_OVERRIDES:
            override = own_name, attributes.get("value", "")
            line = parser.CurrentLineNumber
            facts.overrides.append(Override(name, line, holder, holder_name, *override))

    def end(_tag: str) -> None:
        open_elements.pop()

    def entity(entity_name: str, *_rest: object) -> None:
        raise DocumentError(
            f"{name}: declares the XML entity {entity_name!r}, which MaterialX does not use and "
            "which may expand without bound: remove the DOCTYPE"
        )

    # the text is decoded already, whatever encoding it declares
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as failure:
        is_cut = str(failure).startswith(_ENDS_EARLY)
        remedy = "the text ends early: save it again" if is_cut else "correct this place"
        raise DocumentError(f"{name}: not valid XML: {failure}: {remedy}") from None
    if facts.root != "materialx":
        raise DocumentError(
            f"{name}: the root element is <{facts.root}>, not <materialx>: not a MaterialX document"
        )
    return facts


def collect_includes(
    facts: XmlFacts, name: str, folder: Path | None, search: SearchPath
) -> list[tuple[Path, str]]:
    """All documents that this one includes, directly or not, the innermost first. Their facts are
    added to `facts`."""
    found: list[tuple[Path, str]] = []
    seen: set[Path] = set()
    inside = search.for_includes()
    named: dict[str, tuple[str, int]] = {}

    def add_names(file: str, names: dict[str, int]) -> None:
        """Call it in the order in which MaterialX imports, which keeps the first element with a
        name."""
        for each, line in names.items():
            if each in named:
                facts.twins.append(Twin(file, each, line, *named[each]))
            else:
                named[each] = file, line

    def visit(
        includes: list[str], includer: str, start: Path | None, chain: tuple[Path, ...]
    ) -> None:
        for href in includes:
            path = inside.require(href, start, f"{includer}: XInclude", DocumentError)
            if path in chain:
                names = " -> ".join(step.name for step in (*chain, path))
                raise DocumentError(f"{includer}: documents include each other: {names}")
            if path in seen:
                continue
            if len(seen) >= MOST_INCLUDES:
                raise DocumentError(
                    f"{name}: more than {MOST_INCLUDES} included documents: join some"
                )
            seen.add(path)
            text = read_text(path)
            inner = check_xml(text, str(path))
            facts.twins += inner.twins
            facts.overrides += inner.overrides
            visit(inner.includes, str(path), path.parent, (*chain, path))
            found.append((path, text))
            add_names(str(path), inner.names)

    visit(facts.includes, name, folder, ())
    add_names(name, facts.names)
    return found
