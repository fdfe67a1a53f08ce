"""Loads a MaterialX document (.mtlx), and finds the surface materials in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import with_plain_letters
from verdigris.core.material.files.paths import SearchPath, is_file
from verdigris.core.material.graph.library import TARGET, standard_library
from verdigris.core.material.graph.traversal import (
    count_expanded,
    file_inputs,
    free_graphs,
    own_graphs,
    upstream_nodes,
)
from verdigris.core.material.load.changes import NO_CHANGES, DocumentChanges, set_inputs
from verdigris.core.material.load.mtlx_text import (
    Override,
    Twin,
    XmlFacts,
    check_xml,
    collect_includes,
    read_text,
)
from verdigris.core.material.load.node_checks import find_fault
from verdigris.core.material.load.shader_sources import note_shaders
from verdigris.core.material.normalise.file_names import prefer_files_beside_document
from verdigris.core.material.normalise.names import add_namespace_to_references
from verdigris.core.material.normalise.passes import normalise
from verdigris.core.material.shader.expand import is_shader
from verdigris.core.material.shader.shader_file import read_shader_document
from verdigris.core.material.shader.tables import is_measured, read_measured_document

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.normalise.type_conversions import Conversion

MOST_NODES = 200_000
_MOST_IMAGE_FOLDERS = 32
_SURFACE_TYPES = ("surfaceshader", "material")


@dataclass(frozen=True)
class Material:
    """A surface material of a document."""

    name: str
    element: mx.TypedElement
    looks: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return str(self.element.getNamePath())

    @property
    def file_name(self) -> str:
        """The name in letters that all file systems support."""
        return with_plain_letters(self.name)


@dataclass(frozen=True)
class Document:
    """A loaded document. `files` are those of the document and of its includes."""

    name: str
    root: mx.Document
    search: SearchPath
    files: tuple[Path, ...] = ()
    twins: tuple[Twin, ...] = ()
    overrides: tuple[Override, ...] = ()
    former_names: dict[str, str] = field(default_factory=dict)
    """Former names of elements that were renamed, by new names (normalise/names.py)."""
    conversions: tuple[Conversion, ...] = ()
    """Values and connections whose type was converted (normalise/type_conversions.py)."""
    text: str = field(default="", repr=False)
    """The text that it was read from."""
    changes: DocumentChanges = NO_CHANGES
    """What differs from the text."""
    path: Path | None = None

    @cached_property
    def of_heights(self) -> Document:
        """The document in which materials that are displaced emit their height."""
        where = self.name, self.path, self.search, self.changes
        return _parse(self.text, *where, of_heights=True)

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The surface materials; if there are none, surface shaders and graph outputs."""
        looks = _looks_by_material(self.root)
        found = [node for node in self.root.getMaterialNodes() if _has_surface(node)]
        graphs = [graph for graph in free_graphs(self.root) if _surfaces_of(graph)]
        fed = [*self.root.getNodes(), *graphs]
        found += [
            output
            for graph in graphs
            for output in _surfaces_of(graph)
            if not _feeds_any(output, fed)
        ]
        if not found:
            found = self._bare_surface_shaders()
        return tuple(
            Material(self._short_name(node, found), node, tuple(looks.get(node.getName(), ())))
            for node in found
        )

    @cached_property
    def unbakeable(self) -> dict[str, str]:
        """The materials of the document that cannot be baked, each with the reason."""
        found = _find_unbakeable(self.root, {each.element.getName() for each in self.materials})
        return {self.former_names.get(name, name): reason for name, reason in found.items()}

    def _short_name(self, element: mx.TypedElement, among: Sequence[mx.TypedElement]) -> str:
        name = str(element.getName())
        twins = [other for other in among if other.getName() == name]
        short = name if len(twins) == 1 else str(element.getNamePath())
        return self.former_names.get(short, short)

    def _bare_surface_shaders(self) -> list[mx.TypedElement]:
        shaders = [n for n in self.root.getNodes() if n.getType() == "surfaceshader"]
        used = {
            port.getNodeName()
            for node in self.root.getNodes()
            for port in node.getInputs()
            if port.getType() == "surfaceshader"
        }
        return [node for node in shaders if node.getName() not in used]

    def find_material(self, name: str) -> Material | None:
        return next((each for each in self.materials if name in (each.name, each.path)), None)

    def refuse_unbakeable(self, name: str) -> None:
        """Raises DocumentError if the document has a material with this name that cannot be
        baked."""
        if name in self.unbakeable:
            raise DocumentError(f"{self.name}: material {name!r}: {self.unbakeable[name]}")

    def require_material(self, name: str | None = None) -> Material:
        """The material with this name, or without a name the only material."""
        listed = ", ".join(material.name for material in self.materials)
        if not self.materials:
            raise DocumentError(
                f"{self.name}: has no material with a surface: {self._describe_nodes()}"
            )
        if name is not None:
            found = self.find_material(name)
            if found is None:
                self.refuse_unbakeable(name)
                raise DocumentError(f"{self.name}: has no material {name!r}; it has: {listed}")
            return found
        if len(self.materials) > 1:
            raise DocumentError(
                f"{self.name}: has {len(self.materials)} materials, {listed}: name one of them"
            )
        return self.materials[0]

    def _describe_nodes(self) -> str:
        nodes = self.root.getNodes()
        kinds = sorted({node.getCategory() for node in nodes})
        if not kinds:
            return self._describe_graphs() or "it has no nodes"
        if any(node.getType() == "volumeshader" for node in nodes):
            return "it has a volume, but only surfaces are baked: connect a surface shader too"
        shown = ", ".join(kinds[:8]) + (", …" if len(kinds) > 8 else "")
        return f"its nodes are of the kinds {shown}; connect a surface shader to a surfacematerial"

    def _describe_graphs(self) -> str:
        """Describes a material in a graph without an output for it."""
        for graph in own_graphs(self.root):
            for node in graph.getMaterialNodes():
                return (
                    f"the material {node.getName()!r} is in the graph {graph.getName()!r}, which "
                    "has no output for it: add an output with the type material, or move the nodes "
                    "out of the graph"
                )
        return ""

    def nodes_of(self, material: Material) -> Iterator[mx.Node]:
        """All nodes upstream of a material, through node graphs of the document."""
        return upstream_nodes(material.element, self.name)

    def check(self, material: Material) -> None:
        """Raises DocumentError for a node with a fault, for a cycle, and for too many nodes after
        all definitions are expanded."""
        nodes = []
        for node in self.nodes_of(material):
            fault = find_fault(node)
            if fault:
                raise DocumentError(f"{self.name}: {fault}")
            nodes.append(node)
        count = count_expanded(nodes)
        if count > MOST_NODES:
            raise DocumentError(
                f"{self.name}: material {material.name!r} has {count:,} nodes after its "
                f"definitions are expanded; at most {MOST_NODES:,} are compiled: nest definitions "
                "less deeply"
            )


@profiled("load document")
def load_document(
    path: str | Path,
    search_paths: str | Path | Sequence[str | Path] = (),
    confined: bool = False,
    has_options: bool = True,
    changes: DocumentChanges = NO_CHANGES,
) -> Document:
    """Loads a document file, or a shader file as a document. Other files are looked for in its
    folder first. `has_options`: see `SearchPath`."""
    path = Path(path)
    if changes.defines and not is_shader(path):
        raise DocumentError(
            f"{path}: {changes.defines[0][0]} is defined, and only shader files (.slang, .hlsl) "
            "have definitions: leave it out"
        )
    # links that lead in a circle are refused before they are resolved
    text = read_measured_document(path) if is_measured(path) else read_text(path)
    resolved = path.resolve()
    search = SearchPath.of(search_paths, confined, has_options).with_folder(resolved.parent)
    if is_shader(path):
        text = read_shader_document(path, search, dict(changes.defines))
    return _parse(text, str(path), resolved, search, changes)


def parse_document(
    text: str,
    search_paths: str | Path | Sequence[str | Path] = (),
    name: str = "document",
    confined: bool = False,
    has_options: bool = True,
    changes: DocumentChanges = NO_CHANGES,
) -> Document:
    """Loads a document from its text, which a host provides."""
    search = SearchPath.of(search_paths, confined, has_options)
    return _parse(text, name, None, search, changes)


def select_materials(
    documents: Sequence[Document], names: Sequence[str]
) -> list[tuple[Document, Material]]:
    """The named materials of each document, in its order; the only one if none is named."""
    for name in names:
        if not any(document.find_material(name) for document in documents):
            for document in documents:
                document.refuse_unbakeable(name)
            listed = ", ".join(each.name for document in documents for each in document.materials)
            where = ", ".join(document.name for document in documents)
            raise DocumentError(f"{where}: has no material {name!r}; there are: {listed}")
    chosen = []
    for document in documents:
        named = [each for each in document.materials if {each.name, each.path} & set(names)]
        chosen += [(document, each) for each in named or [document.require_material()]]
    return chosen


@dataclass(frozen=True)
class Written:
    """A document as it is written: with its includes and the library, before any rewrite."""

    root: mx.Document
    search: SearchPath
    files: tuple[Path, ...]
    facts: XmlFacts


def read_as_written(text: str, name: str, path: Path | None, search: SearchPath) -> Written:
    """Reads a document without rewriting it, so that its elements keep their names."""
    import MaterialX as mx

    facts = check_xml(text, name)
    folder = path.parent if path else None
    included = collect_includes(facts, name, folder, search)
    for inner_path, _ in included:
        search = search.with_folder(inner_path.parent)
    search = search.with_folder(folder) if folder else search
    options = mx.XmlReadOptions()
    options.readXIncludeFunction = None
    root = mx.createDocument()
    with _refusing_faults(name):
        for inner_path, inner_text in included:
            inner = mx.createDocument()
            mx.readFromXmlString(inner, inner_text, mx.FileSearchPath(), options)
            prefer_files_beside_document(inner, inner_path.parent, search, folder)
            add_namespace_to_references(inner)
            root.importLibrary(inner)
        mx.readFromXmlString(root, text, mx.FileSearchPath(), options)
        root.setDataLibrary(standard_library())
    newest = mx.getVersionIntegers()[:2]
    if root.getVersionIntegers() > newest:
        raise DocumentError(
            f"{name}: has the version {root.getVersionString()}; versions up to "
            f"{newest[0]}.{newest[1]} are supported: write it in an older version"
        )
    files = ([path] if path else []) + [inner_path for inner_path, _ in included]
    return Written(root, search, tuple(files), facts)


def _parse(
    text: str,
    name: str,
    path: Path | None,
    search: SearchPath,
    changes: DocumentChanges = NO_CHANGES,
    of_heights: bool = False,
) -> Document:
    written = read_as_written(text, name, path, search)
    root, facts = written.root, written.facts
    with _refusing_faults(name):
        _looks_by_material(root)  # refuses looks that inherit each other
        set_inputs(root, changes.inputs)
        rewritten = normalise(root, of_heights)
        shaders = note_shaders(root, written.search)
    ignored = tuple(facts.twins), tuple(facts.overrides)
    search = replace(written.search, hints=_image_folders(root, written.search))
    files = tuple(dict.fromkeys((*written.files, *shaders)))
    return Document(
        name, root, search, files, *ignored, *rewritten, text=text, changes=changes, path=path
    )


@contextmanager
def _refusing_faults(name: str) -> Iterator[None]:
    import MaterialX as mx

    try:
        yield
    except (mx.Exception, LookupError) as failure:
        raise DocumentError(f"{name}: MaterialX cannot read it: {failure}") from None
    except DocumentError as failure:
        raise DocumentError(f"{name}: {failure}") from None


def _image_folders(root: mx.Document, search: SearchPath) -> tuple[Path, ...]:
    """The folders of images that were found. Others may be in them."""
    found: dict[Path, None] = {}
    for port in file_inputs(root):
        file = port.getResolvedValueString()
        candidates = search.candidates(file) if file and "\0" not in file else []
        found.update(dict.fromkeys(each.parent for each in candidates if is_file(each)))
        if len(found) >= _MOST_IMAGE_FOLDERS:
            break
    return tuple(found)


def _find_unbakeable(root: mx.Document, taken: Set[str]) -> dict[str, str]:
    """Reasons by name; `taken` are the materials that can be baked."""
    bare = {node.getName(): node for node in root.getMaterialNodes() if node.getName() not in taken}
    found = {name: _reason(node) for name, node in bare.items()}
    for look in root.getLooks():
        for assignment in look.getMaterialAssigns():
            name = assignment.getMaterial()
            if name and name not in taken and name not in bare and root.getDescendant(name) is None:
                found[name] = f"look {look.getName()!r} assigns it, and it does not exist"
    return found


def _reason(node: mx.Node) -> str:
    if node.getCategory() == "volumematerial":
        return "it is a volume, but only surfaces are baked"
    return "nothing is connected to its surfaceshader"


def _has_surface(node: mx.Node) -> bool:
    import MaterialX as mx

    port = node.getInput("surfaceshader")
    # nodes of unknown kind, or with a broken connection, are listed, and then refused by name
    if port is None:
        # such as LamaSurface, whose graph contains the surface
        return node.getNodeDef() is None or isinstance(node.getImplementation(TARGET), mx.NodeGraph)
    return bool(port.getNodeName() or port.getNodeGraphString() or port.getConnectedOutput())


def _surfaces_of(graph: mx.NodeGraph) -> list[mx.Output]:
    return [output for output in graph.getOutputs() if output.getType() in _SURFACE_TYPES]


def _feeds_any(output: mx.Output, readers: Sequence[mx.InterfaceElement]) -> bool:
    graph = output.getParent().getName()
    return any(
        port.getNodeGraphString() == graph and port.getOutputString() in ("", output.getName())
        for each in readers
        for port in each.getInputs()
    )


def _looks_by_material(root: mx.Document) -> dict[str, list[str]]:
    looks: dict[str, list[str]] = {}
    for look in root.getLooks():
        for assignment in look.getActiveMaterialAssigns():
            looks.setdefault(assignment.getMaterial(), []).append(look.getName())
    return looks
