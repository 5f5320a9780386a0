"""Parses the YAML of settings: a name that is in a mapping twice is refused, while YAML would take
the last one silently."""

from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from gatepost.errors import ConfigurationError
from gatepost.mistakes import is_plain

_MERGE = "tag:yaml.org,2002:merge"


def parse_yaml(file: Path, text: str) -> Any:
    """Return what a file holds; raise ConfigurationError if it can't be parsed, and say what is
    wrong and where if that can be said."""
    try:
        return _load(text)
    except ConstructorError as error:
        place = f", at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigurationError(f"{file} can't be used: {error.problem}{place}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{file} is not YAML{place}") from None
    except (ValueError, TypeError, OverflowError):  # such as a date that there is not
        raise ConfigurationError(f"{file} holds a value that is none") from None
    except RecursionError:
        raise ConfigurationError(f"{file} is nested too deep") from None


def _load(text: str) -> Any:
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_names(loader, node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_names(loader: yaml.SafeLoader, root: Node) -> None:
    """Check names as they were written, before anything is merged into a mapping: none is there
    twice."""
    checked: set[int] = set()
    left = [root]
    while left:
        node = left.pop()
        if id(node) in checked:  # an alias leads to a node that was seen
            continue
        checked.add(id(node))
        if isinstance(node, SequenceNode):
            left += node.value
        elif isinstance(node, MappingNode):
            _refuse_doubled(loader, node)
            left += [one for pair in node.value for one in pair]


def _refuse_doubled(loader: yaml.SafeLoader, node: MappingNode) -> None:
    seen: set[Any] = set()
    for key, _ in node.value:
        if not isinstance(key, ScalarNode) or key.tag == _MERGE:
            continue
        name = loader.construct_object(key)
        if name in seen:
            plain = isinstance(name, str) and is_plain(name)
            words = f"{name!r} is there twice" if plain else "a name is there twice"
            raise ConstructorError(None, None, words, key.start_mark)
        seen.add(name)
