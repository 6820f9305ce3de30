"""Things that are added by adding a file."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Catalogue(Mapping[str, T], Generic[T]):
    """One entry per module of *package*, under the module's name; outsiders use entry points.

    A module is imported when its entry is first asked for, never before. A name with a colon, as
    `openspiel:chess`, is made by the function `make` of the module `_openspiel`.
    """

    def __init__(self, package: str, attribute: str) -> None:
        self._package = package
        self._attribute = attribute
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        # What is installed comes last: to look through all packages takes milliseconds.
        is_known = name in self._loaded or name in self._list_built_in()
        return is_known or self._find_maker(str(name)) is not None or name in self._list_installed()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._list_built_in() | self._list_installed()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load(self, name: str) -> T:
        if name in self._list_built_in():
            module = importlib.import_module(f"{self._package}.{name}")
            return cast("T", getattr(module, self._attribute))
        for entry in entry_points(group=self._package, name=name):
            return cast("T", entry.load())
        maker = self._find_maker(name)
        if maker is None:
            raise KeyError(name)
        return cast("T", importlib.import_module(maker).make(name.partition(":")[2]))

    def _find_maker(self, name: str) -> str | None:
        """Return the module that makes the entries whose names begin as *name* does."""
        family, colon, _ = name.partition(":")
        package = importlib.import_module(self._package)
        modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        return f"{self._package}._{family}" if colon and f"_{family}" in modules else None

    def _list_installed(self) -> set[str]:
        return entry_points(group=self._package).names

    def _list_built_in(self) -> set[str]:
        package = importlib.import_module(self._package)
        return {
            m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")
        }
