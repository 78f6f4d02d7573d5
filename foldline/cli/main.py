"""The entry point of `foldline`: an installation without the service's packages has it too, and gets told."""

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
