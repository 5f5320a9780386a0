"""YAML as people write settings: a name that is in a mapping twice is refused, of which YAML would
take the last one silently."""

import re
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode

from gatepost.errors import ConfigurationError

_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = re.compile(r"\A[A-Za-z0-9_.-]{1,64}\Z")


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            name = self.construct_object(key, deep=True)
            if isinstance(name, str | int) and name in seen:
                words = f"{name!r} is there twice" if _is_plain(name) else "a name is there twice"
                raise ConstructorError(None, None, words, key.start_mark)
            if isinstance(name, str | int):
                seen.add(name)
        return super().construct_mapping(node, deep)


def parse_yaml(file: Path, text: str) -> Any:
    """Raises ConfigurationError, and says what is wrong and where if that can be said."""
    try:
        return yaml.load(text, Loader=_Loader)
    except ConstructorError as error:
        place = f", at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigurationError(f"{file} can't be used: {error.problem}{place}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{file} is not YAML{place}") from None
    except (ValueError, TypeError, OverflowError):  # a date that there is not, say
        raise ConfigurationError(f"{file} holds a value that is none") from None
    except RecursionError:
        raise ConfigurationError(f"{file} is nested too deep") from None


def _is_plain(name: str | int) -> bool:
    """A name of a setting is told; anything else may be a value that slipped there."""
    return (
        isinstance(name, str) and name.replace("_", "").replace(".", "").replace("-", "").isalnum()
    )
