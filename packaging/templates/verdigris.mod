+ MAYAVERSION:{host_version} PLATFORM:{platform} verdigris {version} {tree}
PYTHONPATH +:= scripts
MAYA_SHELF_PATH +:= shelves
