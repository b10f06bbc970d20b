"""Small registries that refuse duplicates, say "did you mean", import lazily and accept plugins."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from .errors import UsageError

T = TypeVar("T")


_NAMES_SHOWN = 10


def closest(name: str, known: Sequence[str], *, listed: bool = False) -> str:
    """How an error ends that met an unknown name: the closest known ones, or all.

    With `listed`, `benchwright list` shows them, too: of more than ten the first are enough.
    """
    close = difflib.get_close_matches(name, known, n=3)
    if close:
        return f"did you mean {' or '.join(close)}?"
    more = len(known) - _NAMES_SHOWN if listed else 0
    if more <= 0:
        return f"known: {', '.join(known)}"
    return f"known: {', '.join(known[:_NAMES_SHOWN])} and {more} more; see `benchwright list`"


class Registry(Generic[T]):
    """Names to objects of one kind.

    Built-in objects are declared as `"module:object"` and imported at first use, so that listing names
    costs nothing. Packages add theirs through the entry-point group `benchwright.<kind>s`.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._objects: dict[str, T] = {}
        self._lazy: dict[str, str] = {}
        self._plugins: dict[str, EntryPoint] | None = None

    def declare(self, name: str, target: str) -> None:
        """Announce a built-in as `"module:object"`. Raises ValueError for a name that is taken."""
        self._refuse_duplicate(name)
        self._lazy[name] = target

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that adds an object under `name`. Raises ValueError for a name that is taken."""

        def decorate(obj: T) -> T:
            self._refuse_duplicate(name)
            self._objects[name] = obj
            return obj

        return decorate

    def get(self, name: str) -> T:
        """The object of that name. Raises UsageError that names the closest known names."""
        if name in self._objects:
            return self._objects[name]
        if name in self._lazy:
            module, _, attribute = self._lazy[name].partition(":")
            self._objects[name] = cast(T, getattr(import_module(module), attribute))
        elif name in self._entry_points():
            # Importing the plugin may register the object itself, by the decorator.
            point = self._entry_points().pop(name)
            loaded = cast(T, point.load())
            self._objects.setdefault(name, loaded)
        else:
            raise UsageError(f"no {self.kind} named {name!r}; {closest(name, list(self))}")
        return self._objects[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._objects, *self._lazy, *self._entry_points()}))

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    def _entry_points(self) -> dict[str, EntryPoint]:
        if self._plugins is None:
            self._plugins = {}
            for point in entry_points(group=f"benchwright.{self.kind}s"):
                if point.name in self._lazy or point.name in self._plugins:
                    origin = f" of {point.dist.name}" if point.dist else ""
                    raise UsageError(
                        f"the plugin {point.value!r}{origin} takes the name of another {self.kind}, "
                        f"{point.name!r}; uninstall it or rename its entry point"
                    )
                self._plugins[point.name] = point
        return self._plugins

    def _refuse_duplicate(self, name: str) -> None:
        if name in self._objects or name in self._lazy or name in (self._plugins or {}):
            raise ValueError(f"a {self.kind} named {name!r} is registered already")
