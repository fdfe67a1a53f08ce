"""Looks of a MaterialX document in a layer of USD, as usdMtlx writes them (OpenUSD 25.08,
pxr/usd/usdMtlx/reader.cpp): collections of geometry, a prim for each look with a material for each
assignment, variants of inputs, and the variant set `LookVariant` of `/ModelRoot`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import MaterialX as mx
    from pxr import Sdf

_INTERNAL, _EXTERNAL, _VARIANT_SET = "/MaterialX", "/ModelRoot", "LookVariant"
_COLLECTIONS, _LOOKS = f"{_INTERNAL}/Collections", f"{_INTERNAL}/Looks"
_MATERIALS = f"{_INTERNAL}/Materials"
_BINDING = "material:binding"
AddInput = Callable[["Sdf.PrimSpec", "mx.Input"], None]


def write_document_looks(
    root: mx.Document, layer: Sdf.Layer, define: Callable[..., Sdf.PrimSpec], add_input: AddInput
) -> None:
    """Adds the looks to the layer of a document. `define` makes a prim, and `add_input` an input
    with its value."""
    looks = list(root.getLooks())
    if looks:
        _Looks(root, layer, define, add_input).write(looks)


class _Looks:
    def __init__(
        self,
        root: mx.Document,
        layer: Sdf.Layer,
        define: Callable[..., Sdf.PrimSpec],
        add_input: AddInput,
    ) -> None:
        self.root, self.layer, self.define, self.add_input = root, layer, define, add_input
        # names of collections for geometry without a collection of the document
        self.of_geometry: dict[tuple[str, ...], str] = {}

    def write(self, looks: list[mx.Look]) -> None:
        for collection in self.root.getCollections():
            prefix = collection.getActiveGeomPrefix()
            self._write_collection(
                collection.getName(),
                [prefix + each for each in _split(collection.getIncludeGeom())],
                [prefix + each for each in _split(collection.getExcludeGeom())],
                _split(collection.getIncludeCollectionString()),
            )
        model = self.define(_EXTERNAL)
        model.variantSetNameList.Prepend(_VARIANT_SET)
        for look in looks:
            self._write_look(look, self.define(f"{_LOOKS}/{look.getName()}"))
        orders = {look.getName(): self._order(look) for look in looks}
        for look in looks:
            above = [name for each in _inherited(look) for name in orders.get(each.getName(), ())]
            prim = self.define(f"{_LOOKS}/{look.getName()}")
            # the first of several collections with a mesh counts
            prim.propertyOrder = [*orders[look.getName()], *above]
        for look in looks:
            variant = _variant(model, _VARIANT_SET, look.getName())
            self._refer(variant, f"{_LOOKS}/{look.getName()}")

    def _write_look(self, look: mx.Look, prim: Sdf.PrimSpec) -> None:
        self._apply(prim, "MaterialBindingAPI")
        for assignment in look.getMaterialAssigns():
            material = assignment.getMaterial()
            if not self.layer.GetPrimAtPath(f"{_MATERIALS}/{material}"):
                continue
            name = self._free_name(prim, assignment.getName(), look)
            made = self.define(f"{prim.path}/Materials/{name}")
            self._refer(made, f"{_MATERIALS}/{material}")
            for kind, chosen in self._choices(assignment, look).items():
                made.variantSelections[kind] = chosen
                self._write_variant(material, kind, chosen)
            collection = assignment.getCollectionString() or self._geometry(assignment)
            targets, relation = [str(made.path)], _BINDING
            if collection:
                relation = f"{_BINDING}:collection:{name}"
                targets.insert(0, f"{prim.path}.collection:{collection}")
            self._relate(prim, relation, targets)
        if self.layer.GetPrimAtPath(_COLLECTIONS):
            self._refer(prim, _COLLECTIONS)
        if look.getInheritString():
            # the stronger of both
            self._refer(prim, f"{_LOOKS}/{look.getInheritString()}")

    def _order(self, look: mx.Look) -> list[str]:
        """The bindings of a look in the order of its assignments."""
        prim = self.layer.GetPrimAtPath(f"{_LOOKS}/{look.getName()}")
        names = [relation.name for relation in prim.relationships]
        return [name for name in names if name.startswith(_BINDING)]

    def _free_name(self, prim: Sdf.PrimSpec, name: str, look: mx.Look) -> str:
        """The name of an assignment that no inherited one has."""
        taken = {
            assignment.getName()
            for inherited in _inherited(look)
            for assignment in inherited.getMaterialAssigns()
        }
        if name not in taken and not self.layer.GetPrimAtPath(f"{prim.path}/Materials/{name}"):
            return name
        number = 1
        while self.layer.GetPrimAtPath(f"{prim.path}/Materials/{name}_{number}"):
            number += 1
        return f"{name}_{number}"

    def _choices(self, assignment: mx.MaterialAssign, look: mx.Look) -> dict[str, str]:
        """The variant of each set: what the assignment says, then its look, then those above."""
        found: dict[str, str] = {}
        for element in (assignment, look, *_inherited(look)):
            own = {}
            for each in element.getChildren():
                if each.getCategory() == "variantassign":
                    own[each.getAttribute("variantset")] = each.getAttribute("variant")
            found = {**own, **found}
        return found

    def _write_variant(self, material: str, kind: str, chosen: str) -> None:
        outer = self.root.getChild(kind)
        inner = outer.getChild(chosen) if outer is not None else None
        prim = self.layer.GetPrimAtPath(f"{_MATERIALS}/{material}")
        if inner is None or self.layer.GetPrimAtPath(f"{prim.path}{{{kind}={chosen}}}"):
            return
        if kind not in prim.variantSetNameList.prependedItems:
            prim.variantSetNameList.Prepend(kind)
        variant = _variant(prim, kind, chosen)
        for port in inner.getChildren():
            if port.getCategory() == "input":
                self.add_input(variant, port)

    def _geometry(self, assignment: mx.MaterialAssign) -> str:
        """The collection for the geometry that an assignment names."""
        if not assignment.getGeom():
            return ""
        parts = tuple(sorted({each.strip() for each in assignment.getGeom().split(",")}))
        if parts not in self.of_geometry:
            name = self.of_geometry[parts] = f"geom_{len(self.of_geometry) + 1}"
            prefix = assignment.getActiveGeomPrefix()
            self._write_collection(name, [prefix + each for each in parts])
        return self.of_geometry[parts]

    def _write_collection(
        self,
        name: str,
        included: list[str],
        excluded: Sequence[str] = (),
        collections: Sequence[str] = (),
    ) -> None:
        prim = self.define(_COLLECTIONS)
        self._apply(prim, f"CollectionAPI:{name}")
        others = [f"{_COLLECTIONS}.collection:{each}" for each in collections]
        self._relate(prim, f"collection:{name}:includes", [*others, *_paths(included)])
        if excluded:
            self._relate(prim, f"collection:{name}:excludes", list(_paths(excluded)))

    def _apply(self, prim: Sdf.PrimSpec, schema: str) -> None:
        from pxr import Sdf

        applied = prim.GetInfo("apiSchemas") if prim.HasInfo("apiSchemas") else Sdf.TokenListOp()
        names = [*applied.prependedItems, schema]
        prim.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=names))

    def _relate(self, prim: Sdf.PrimSpec, name: str, targets: list[str]) -> None:
        from pxr import Sdf

        relation = prim.relationships.get(name) or Sdf.RelationshipSpec(prim, name, False)
        relation.targetPathList.explicitItems = targets

    def _refer(self, prim: Any, path: str) -> None:
        from pxr import Sdf

        prim.referenceList.Prepend(Sdf.Reference("", path))


def _variant(prim: Sdf.PrimSpec, kind: str, name: str) -> Sdf.PrimSpec:
    from pxr import Sdf

    variants = prim.variantSets.get(kind) or Sdf.VariantSetSpec(prim, kind)
    return (variants.variants.get(name) or Sdf.VariantSpec(variants, name)).primSpec


def _inherited(look: mx.Look) -> Iterator[mx.Look]:
    """The looks that a look inherits, the next first."""
    seen = {look.getName()}
    above = look.getInheritsFrom()
    while above is not None and above.getName() not in seen:
        seen.add(above.getName())
        yield above
        above = above.getInheritsFrom()


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _paths(geometry: Sequence[str]) -> Iterator[str]:
    """Geometry below the collections; patterns are no paths in USD."""
    from pxr import Sdf

    for each in geometry:
        if Sdf.Path.IsValidPathString(each) and each.startswith("/"):
            yield str(Sdf.Path(each).ReplacePrefix("/", _COLLECTIONS))
