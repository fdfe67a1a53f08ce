+ MAYAVERSION:{host_version} verdigris {version} {tree}
PYTHONPATH +:= scripts
PYTHONPATH +:= site-packages
MAYA_SHELF_PATH +:= shelves
