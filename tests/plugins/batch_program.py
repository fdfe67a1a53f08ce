"""A batch program over plain files, as those of Maya and Houdini are."""

import sys

from verdigris.core.hosts.file_host import FilesHost
from verdigris.plugins.common.batch_bake import main

if __name__ == "__main__":
    sys.exit(main("batch", FilesHost, sys.argv[1:]))
