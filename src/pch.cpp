// Carries the precompiled header that the rooms with I/O share.
