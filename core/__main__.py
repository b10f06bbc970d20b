"""`python -m benchwright`."""

from importlib import import_module

if __name__ == "__main__":
    # By name: core imports nothing above it.
    import_module("benchwright.cli").entry_point()
