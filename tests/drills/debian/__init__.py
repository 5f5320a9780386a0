"""A machine of its own for drills: Debian in a folder, with systemd as its first process."""
