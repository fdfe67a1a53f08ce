"""Changes of a Maya scene that make a former reading of its materials wrong."""

from __future__ import annotations

from collections.abc import Sequence

from maya.api import OpenMaya as om


class Changes:
    """Counts changes since the last `watch`. Maya reports changes of values by node, so that the
    nodes of a reading are named."""

    def __init__(self) -> None:
        self.number = 0
        self._callbacks: list[int] = []

    def watch(self, nodes: Sequence[str]) -> None:
        """Watches these nodes, and the connections and names of all. Replaces a former watch."""
        self.forget()
        scene, graph = om.MSceneMessage, om.MDGMessage
        for kind in (scene.kAfterNew, scene.kAfterOpen, scene.kAfterImport):
            self._callbacks.append(scene.addCallback(kind, self._count))
        self._callbacks += [
            graph.addConnectionCallback(self._count),
            graph.addNodeAddedCallback(self._count, "dependNode"),
            graph.addNodeRemovedCallback(self._count, "dependNode"),
            om.MNodeMessage.addNameChangedCallback(om.MObject(), self._count),
        ]
        for node in nodes:
            names = om.MSelectionList()
            names.add(node)
            watched = names.getDependNode(0)
            self._callbacks.append(
                om.MNodeMessage.addAttributeChangedCallback(watched, self._count)
            )

    def forget(self) -> None:
        """Ends the watch."""
        for each in self._callbacks:
            om.MMessage.removeCallback(each)
        self._callbacks.clear()

    def _count(self, *_: object) -> None:
        self.number += 1


CHANGES = Changes()
