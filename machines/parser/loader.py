"""Where specs and their rules come from: shipped ones by name, others by path, and only rules that are allowed.

Loading runs nothing. Rules modules are imported by ``rules_module`` alone, and only those on the list: the modules
of the package ``rules``, the entry points of the group ``accord.rules``, and what the caller names itself.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.resources
import importlib.util
import inspect
import os
import pkgutil
import re
import stat
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from machines.model import Spec
from machines.parser.context import shown
from machines.parser.inheritance import alone, extend
from machines.parser.reader import read
from machines.parser.settings import apply_settings
from machines.parser.short_forms import in_full
from machines.problems import Place, Problems, SpecError, near
from machines.yaml.nodes import BYTES_MAX, ListNode, MapNode, Node, ScalarNode, parse_yaml

EXTENDS_MAX = 8  # files on top of one another; nobody follows more
ENTRY_POINTS = "accord.rules"
_BASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.ya?ml)?")  # no path: a spec from a stranger stays in its folder


class SpecNotFound(Exception):  # noqa: N818 (it reads as what happened)
    """No spec has this name, or the file at this path can not be read; the text says what there is."""


class RulesError(Exception):
    """A module of rules is not allowed, or can not be imported; the text says which and why."""


# -- specs -----------------------------------------------------------------------------------------------------------


def shipped() -> tuple[str, ...]:
    """Return the names of the specs that come with Accord, sorted."""
    folder = _shipped_folder()
    return tuple(sorted(path.stem for path in folder.glob("*.yaml"))) if folder is not None else ()


def find(name_or_path: str) -> Path:
    """Return the file of a spec: a shipped spec's name, or a path (it has a slash or ends in .yaml or .yml).

    Raises:
        SpecNotFound: there is no such spec or file.
    """
    folder = _shipped_folder()
    if not is_path(name_or_path):
        if folder is not None and name_or_path in shipped():
            return folder / f"{name_or_path}.yaml"
        names = shipped()
        hint = near(name_or_path, names) or f"there are: {', '.join(names)}; others are given by path"
        raise SpecNotFound(f"no shipped spec is called {name_or_path!r}: {hint}")
    path = Path(name_or_path)
    try:
        if path.is_file():
            return path
        if path.exists():
            raise SpecNotFound(f"{name_or_path} is no file that a spec could stand in")
    except (OSError, ValueError) as error:
        raise SpecNotFound(f"{shown(name_or_path)} is no path: {error}") from None
    beside = tuple(sorted(other.name for other in path.parent.glob("*.y*ml"))) if path.parent.is_dir() else ()
    hint = near(path.name, beside)
    raise SpecNotFound(f"there is no file {name_or_path}" + (f": {hint}" if hint else ""))


def load(name_or_path: str, settings: Mapping[str, str] = {}, rules: Sequence[str] = ()) -> Spec:
    """Return the spec of that name or path. ``settings`` override its own; ``rules`` are further modules allowed.

    Raises:
        SpecNotFound: there is no such spec, or it can not be opened.
        SpecError: the spec has problems; it holds all of them.
        SettingError: a setting given here does not exist or is of another kind.
    """
    path = find(name_or_path)
    return _finish(_raw(path), label(path), path.parent, settings, rules, path)


def load_text(
    text: str,
    file: str = "spec.yaml",
    *,
    folder: Path | None = None,
    settings: Mapping[str, str] = {},
    rules: Sequence[str] = (),
    path: Path | None = None,
) -> Spec:
    """Return the spec that a text says, named ``file`` in its problems. ``extends`` looks in ``folder``.

    ``path`` is the file that the text is about to be written to, if there is one: what extends it is a circle.

    Raises:
        SpecError, SettingError: as for ``load``.
    """
    return _finish(text, file, folder, settings, rules, path)


def named_rules(name_or_path: str, text: str | None = None) -> tuple[str, ...]:
    """Return the modules of rules that a spec names, and those it extends; ``text`` in place of what its file says.

    Nothing is imported, and what cannot be read names none.

    Raises:
        SpecNotFound: there is no such spec, or it can not be opened.
    """
    path = find(name_or_path)
    stack = _Stack(Problems())
    stack.put(_raw(path) if text is None else text, label(path), path.parent, path)
    listed = [node.get("rules") for _, node in stack.laid if isinstance(node, MapNode)]
    items = [item for node in listed if isinstance(node, ListNode) for item in node.items]
    return tuple(dict.fromkeys(item.text for item in items if isinstance(item, ScalarNode)))


def sources(name_or_path: str) -> tuple[Path, ...]:
    """Return the files that a spec is made of: its own, then those it extends, each over the ones behind it.

    Raises:
        SpecNotFound: there is no such spec, or it can not be opened.
        SpecError: the chain leads nowhere, or in a circle.
    """
    path = find(name_or_path)
    problems = Problems()
    stack = _Stack(problems)
    stack.put(_raw(path), label(path), path.parent, path)
    problems.raise_if_any()
    return tuple(path for path, _ in reversed(stack.laid) if path is not None)


def resolved(name_or_path: str) -> Node:
    """Return the tree of a spec with all that it extends laid under it; each node has the place it comes from.

    Nothing of it is read: a spec that has problems can be looked at too.

    Raises:
        SpecNotFound: there is no such spec, or it can not be opened.
        SpecError: it is no YAML, extends what is not there, or changes what it does not have.
    """
    path = find(name_or_path)
    problems = Problems()
    node = _tree(_raw(path), label(path), path.parent, path, problems)
    problems.raise_if_any()
    assert node is not None, "without problems there is a tree"
    return node


def _finish(
    raw: bytes | str,
    file: str,
    folder: Path | None,
    settings: Mapping[str, str],
    rules: Sequence[str],
    path: Path | None = None,
) -> Spec:
    problems = Problems()
    node = _tree(raw, file, folder, path, problems)
    part = node.get("part") if isinstance(node, MapNode) else None
    if part is not None and isinstance(node, MapNode) and node.get("protocol") is not None:
        problems.add(
            part.place,
            "A121",
            "'protocol' and 'part' exclude one another",
            "a spec has a protocol, what it shares is a part",
        )
    elif part is not None:
        hint = "name it under 'extends' of a spec, behind what it changes, and check that spec"
        problems.add(part.place, "A136", "this file is a part of specs, and none by itself", hint)
    if node is None or part is not None:
        raise SpecError(problems)
    spec = read(node, file, problems)
    allowed = allowed_rules(rules)
    for name, place in spec.rules:
        if name not in allowed:
            hint = problems.near("A400", name, allowed) or f"allowed are: {', '.join(allowed) or 'none'}"
            problems.add(place, "A400", f"no rules {name!r} are allowed", f"{hint}; others by --rules MODULE")
    problems.raise_if_any()
    return apply_settings(spec, settings)


def _tree(raw: bytes | str, file: str, folder: Path | None, path: Path | None, problems: Problems) -> Node | None:
    """Return the tree of a spec, laid over all that it extends.

    None if one of them can not be had: what is left would lack all that the other has, and that is no fault of it.
    """
    stack = _Stack(problems)
    if not stack.put(raw, file, folder, path):
        return None
    nodes = [node for _, node in stack.laid]
    whole = alone(nodes[0], problems)
    for above in nodes[1:]:
        if isinstance(whole, MapNode) and isinstance(above, MapNode):
            whole = extend(whole, above, problems)
    if len(nodes) > 1 and isinstance(whole, MapNode):
        # What is no longer to be followed: the files are there.
        whole = MapNode(tuple(pair for pair in whole.pairs if pair[0].text != "extends"), whole.place)
    return whole


class _Stack:
    """The files of a spec in the order in which they are laid over one another, each once: the first time."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.laid: list[tuple[Path | None, Node]] = []
        self._known: set[Path] = set()  # laid, or about to be: the files that led here
        self._open: set[Path] = set()

    def put(self, raw: bytes | str, file: str, folder: Path | None, path: Path | None) -> bool:
        """Lay a file over all that it extends. False if one can not be had."""
        text = raw if isinstance(raw, str) else _decoded(raw, file, self.problems)
        node = parse_yaml(text, file, self.problems) if text is not None else None
        if node is None:
            return False
        node = in_full(node, self.problems)
        if path is not None:
            self._known.add(path.resolve())
            self._open.add(path.resolve())
        extends = node.get("extends") if isinstance(node, MapNode) else None
        if extends is not None and not self._below(extends, folder):
            return False
        if path is not None:
            self._open.discard(path.resolve())
        self.laid.append((path, node))
        return True

    def _below(self, extends: Node, folder: Path | None) -> bool:
        named = extends.items if isinstance(extends, ListNode) else (extends,)
        if not named:
            self.problems.add(extends.place, "A113", "'extends' names no spec", "leave it out, or name one")
            return False
        times = Counter(one.text for one in named if isinstance(one, ScalarNode))
        there = [self._named(one, folder, times) for one in named]  # all are looked for, so that all faults are told
        return all(there)

    def _named(self, wanted: Node, folder: Path | None, times: Mapping[str, int]) -> bool:
        path = _base(wanted, folder, self.problems)
        if path is None or not isinstance(wanted, ScalarNode):
            return False
        if times[wanted.text] > 1:
            self.problems.add(wanted.place, "A136", f"{wanted.text} is named twice", "name each file once")
            return False
        if path.resolve() in self._open:
            text = f"{path.stem} extends itself, in a circle"
            self.problems.add(wanted.place, "A136", text, "leave one 'extends' out")
            return False
        if path.resolve() in self._known:
            return True
        if len(self._known) > EXTENDS_MAX or len(self._open) > EXTENDS_MAX:
            self.problems.add(wanted.place, "A136", f"more than {EXTENDS_MAX} specs extend one another")
            return False
        try:
            below = _raw(path)
        except SpecNotFound as error:
            self.problems.add(wanted.place, "A136", str(error))
            return False
        return self.put(below, label(path), path.parent, path)


def _base(node: Node, folder: Path | None, problems: Problems) -> Path | None:
    """Return the file that ``extends`` names: one in the same folder, or a shipped spec."""
    example = "a shipped spec's name, or a file in the same folder"
    if not isinstance(node, ScalarNode) or not node.text:
        problems.add(node.place, "A112", "'extends' is the name of one spec", example)
        return None
    name = node.text
    if not _BASE.fullmatch(name):
        bare = name.removeprefix("./")
        hint = f"without './': extends: {bare}" if _BASE.fullmatch(bare) else example
        problems.add(node.place, "A136", f"{shown(name)} is no name of a spec: a path is not followed", hint)
        return None
    names = shipped()
    own = {path.name: path for path in sorted(folder.glob("*.y*ml"))} if folder is not None else {}
    for candidate in (name, f"{name}.yaml", f"{name}.yml"):
        if candidate in own and folder is not None:
            if own[candidate].resolve().parent != folder.resolve():
                problems.add(node.place, "A136", f"{shown(candidate)} is a link out of its folder", example)
                return None
            return own[candidate]
    shipped_folder = _shipped_folder()
    if name in names and shipped_folder is not None:
        return shipped_folder / f"{name}.yaml"
    problems.add(node.place, "A136", f"there is no spec {shown(name)} to extend", near(name, (*names, *own)) or example)
    return None


def _raw(path: Path) -> bytes:
    """Return a file's bytes, at most one more than a spec may have; nothing is read from a pipe or a device."""
    try:
        # Opened without waiting: to open a pipe that nobody writes to would take for ever.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SpecNotFound(f"{label(path)} is no file that a spec could stand in")
            return file.read(BYTES_MAX + 1)
    except OSError as error:
        raise SpecNotFound(f"{label(path)} can not be read: {error.strerror or error}") from None


def _decoded(raw: bytes, file: str, problems: Problems) -> str | None:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if len(raw) > BYTES_MAX:
            # The cut itself may have split a character.
            return raw.decode("utf-8", "replace")
        before = raw[: error.start].decode("utf-8")
        column = len(before) - (before.rfind("\n") + 1) + 1
        place = Place(file, before.count("\n") + 1, column)
        problems.add(place, "A100", f"the byte {raw[error.start]:#04x} is not UTF-8", "save the file as UTF-8")
        return None


def _shipped_folder() -> Path | None:
    """Return the folder of the shipped specs; None where the package is missing."""
    try:
        folder = Path(str(importlib.resources.files("specs")))
    except ModuleNotFoundError:
        return None
    return folder if folder.is_dir() else None


def is_path(name: str) -> bool:
    """Whether what is given for a spec is a path, and not the name of one that ships."""
    return "/" in name or "\\" in name or name.endswith((".yaml", ".yml"))


def label(path: Path) -> str:
    """Return how problems name a file: from the present folder on where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


# -- rules -----------------------------------------------------------------------------------------------------------


def allowed_rules(extra: Sequence[str] = ()) -> dict[str, str]:
    """Return the rules modules that a spec may name, as its name for them and the name they are imported by.

    ``extra`` are modules that the caller vouches for; a spec calls ``my.own.chess`` by its last word, ``chess``. They
    come before shipped ones, and those before entry points, so no package installed can take a shipped one's place.
    """
    found = dict(_installed_rules(tuple(sys.path)))
    for name in extra:
        found[name.rpartition(".")[2]] = name
    return {name: found[name] for name in sorted(found)}


@functools.cache
def _installed_rules(path: tuple[str, ...]) -> Mapping[str, str]:
    """Return what is installed and what ships. Read once for a ``path``: it takes 2 ms, and each connection asks."""
    found: dict[str, str] = {}
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        found[point.name] = point.value.partition(":")[0]
    package = importlib.util.find_spec("rules")
    for module in pkgutil.iter_modules(package.submodule_search_locations or () if package is not None else ()):
        if not module.ispkg and not module.name.startswith("_"):
            found[module.name] = f"rules.{module.name}"
    return found


def rules_module(spec: Spec, name: str, extra: Sequence[str] = ()) -> ModuleType:
    """Import and return the module that a spec calls ``name`` under ``rules``. This runs its code.

    Raises:
        RulesError: the spec does not name it, it is not among ``allowed_rules(extra)``, or it can not be imported.
    """
    named = tuple(rules for rules, _ in spec.rules)
    if name not in named:
        raise RulesError(f"{spec.protocol} names no rules {name!r}, only {', '.join(named) or 'none'}")
    allowed = allowed_rules(extra)
    if name not in allowed:
        hint = near(name, allowed) or f"allowed are: {', '.join(allowed) or 'none'}"
        raise RulesError(f"no rules {name!r} are allowed: {hint}")
    try:
        return importlib.import_module(allowed[name])
    except (Exception, SystemExit) as error:
        # A module may raise anything while it is imported, or exit; all of it is the module's fault, not ours.
        raise RulesError(f"the rules {name!r} can not be imported: {type(error).__name__}: {error}") from error


def rules_modules(spec: Spec, extra: Sequence[str] = ()) -> dict[str, ModuleType]:
    """Import and return all modules of rules that a spec names, by those names.

    Raises:
        RulesError: as for ``rules_module``.
    """
    return {name: rules_module(spec, name, extra) for name, _ in spec.rules}


def rules_functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the functions that expressions may call: those in ``__all__``, or else the public ones defined there."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        named = {name: getattr(module, name, None) for name in listed if not name.startswith("_")}
        return {name: value for name, value in named.items() if inspect.isfunction(value)}
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__
    }
