"""What every layer uses: errors, the device, files and locks, threads, limits of the machine."""
