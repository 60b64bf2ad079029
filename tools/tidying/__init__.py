"""The rules of tools/tidy, by what they look at."""
