"""The examples of the package's docstrings give what they show."""

import doctest
from importlib import import_module

import pytest
from conftest import REPOSITORY

PATHS = (REPOSITORY / "src").rglob("*.py")
NAMES = [path.relative_to(REPOSITORY / "src") for path in PATHS if ">>> " in path.read_text()]


@pytest.mark.parametrize("path", sorted(NAMES), ids=str)
def test_the_examples_of(path):
    module = import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    found = doctest.testmod(module)
    assert found.attempted > found.failed == 0
