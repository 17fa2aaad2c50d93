"""The statements of a layout."""

from pathlib import Path

HERE = Path(__file__).resolve().parent


def sections(name):
    """A layout's statements: its own over those of its base. A section that is empty takes the base's away."""
    found, current = {}, None
    for line in (HERE / f"{name}.sql").read_text().splitlines():
        if line.startswith("-- @base "):
            found = {**sections(line.split()[2]), **found}
        elif line.startswith("-- @"):
            current = line[4:].strip()
            found[current] = ""
        elif current and not line.startswith("--"):
            found[current] += line + "\n"
    return found
