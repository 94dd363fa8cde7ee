"""Switch the active profile without losing what a user wrote into the other."""

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import write_text
from selfpref.params import load


def use(profile: str) -> None:
    """Make `profile` the active one: save params.yaml to its own file, then copy the other over.

    Both are validated first, so that a broken profile leaves the active one as it is.

    Raises:
        SelfprefError: No such profile, or the parameters of one are invalid.
    """
    params, wanted = paths.params_file(), paths.profile_file(profile)
    current = load(params).profile
    if profile == current:
        return
    if not wanted.is_file():
        others = sorted({path.stem for path in wanted.parent.glob("*.yaml")} | {current})
        raise SelfprefError(
            f"profiles/{profile}.yaml: no such profile; choose one of: {', '.join(others)}"
        )
    load(wanted)
    write_text(paths.profile_file(current), params.read_text())
    write_text(params, wanted.read_text())
