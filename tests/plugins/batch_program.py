"""A batch program, as those of Maya and Houdini are, over an application whose scenes are lists of
names. It starts fast, and no test with it looks at a document."""

import sys

from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.plugins.common.batch_bake import main


class NamesHost:
    """The part of a host that a batch without --attach uses."""

    name = "names"

    def open_scene(self, path):
        self._names = path.read_text().split()

    def scene_warnings(self):
        return ()

    def materials(self):
        return tuple(HostMaterial(name, name, "name") for name in self._names)

    def document(self, material):
        return HostDocument(material.name, "<materialx/>", material.name)

    def meshes(self, material):
        return ()


if __name__ == "__main__":
    sys.exit(main("batch", NamesHost, sys.argv[1:]))
