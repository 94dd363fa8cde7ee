"""Switch the active profile without losing what a user wrote into the other."""

import re

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import write_text
from selfpref.params import load


def use(profile: str) -> None:
    """Make `profile` the active one: save params.yaml to its own file, then copy the other over.

    The wanted file is validated first, so that a broken profile leaves the active one as it is.

    Raises:
        SelfprefError: No such profile, or its parameters are invalid.
    """
    params = paths.params_file()
    # Whatever else is wrong in the file, its name says where it is to be kept.
    named = re.search(r"^profile:\s*([a-z0-9-]+)", params.read_text(), re.MULTILINE)
    if named is None:
        raise SelfprefError(f"{paths.PARAMS}: profile: missing; add `profile: recorded`")
    current = named[1]
    if profile == current:
        load(params, sources=paths.root())
        return
    wanted = paths.profile_file(profile)
    if not wanted.is_file():
        others = sorted({path.stem for path in wanted.parent.glob("*.yaml")} | {current})
        raise SelfprefError(
            f"profiles/{profile}.yaml: no such profile; choose one of: {', '.join(others)}"
        )
    load(wanted, sources=paths.root())
    write_text(paths.profile_file(current), params.read_text())
    write_text(params, wanted.read_text())
