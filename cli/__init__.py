"""The command line: it parses, calls the function of the same name and prints."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

EXIT_INTERNAL = 3
EXIT_INTERRUPTED = 130
_FULL = (errno.ENOSPC, errno.EDQUOT)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code: 0, 1 check failed, 2 user error, 3 internal, 130 interrupted."""
    from ..errors import BenchwrightError, redact

    try:
        from .app import run

        with _warnings_as_lines():
            return run(arguments)
    except BenchwrightError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where it stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno is not None and error.errno in _FULL:
            place = "" if error.filename is None else f"{redact(str(error.filename))}: "
            fix = "free some space; the same command goes on where it stopped"
            print(f"error: {place}the disk is full ({os.strerror(error.errno)}); {fix}", file=sys.stderr)
            return 2
        if error.filename is None:
            raise
        print(
            f"error: {redact(str(error.filename))}: {error.strerror}; put that right and try again",
            file=sys.stderr,
        )
        return 2
    except Exception as error:
        import traceback

        print(redact(traceback.format_exc()), file=sys.stderr, end="")
        print(
            f"internal error: {type(error).__name__}; please report it with the lines above", file=sys.stderr
        )
        return EXIT_INTERNAL


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Our warnings as one line each, without the place in the code that gave them."""
    from ..errors import BenchwrightWarning, redact

    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, BenchwrightWarning):
                print(f"warning: {redact(str(message))}", file=sys.stderr)
            else:
                others(message, category, *place, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", BenchwrightWarning)
        yield


def entry_point() -> None:
    """What the `benchwright` script calls."""
    sys.exit(main())
