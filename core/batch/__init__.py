"""Many materials: scene manifests, what is up to date, runs on one machine, jobs for farms."""
