"""The entry point of `foldline`. An installation of the library alone has it too, and prints what to install."""

from __future__ import annotations

import sys
from typing import Final

from foldline.cli.loading import MissingPackage, load

BAD_INPUT: Final = 2


def main() -> None:
    """Run the command line; never returns."""
    try:
        load("foldline.cli.program").run()
    except MissingPackage as missing:
        sys.stderr.write(f"foldline: {missing}\n")
        sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
