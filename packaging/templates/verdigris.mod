+ MAYAVERSION:{host_version} PLATFORM:{platform} verdigris {version} {tree}
PYTHONPATH +:= scripts
PYTHONPATH +:= site-packages
MAYA_SHELF_PATH +:= shelves
