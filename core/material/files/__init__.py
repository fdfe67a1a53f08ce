"""Files that a document names: paths, images and XML, checked before they are read."""
