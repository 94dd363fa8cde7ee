"""What the chapter says of the released data, and the release's claims beside what came out.

Sentences of the profile `recorded`: they speak of the release's three models by name, and say
nothing where these are not in the data. `gemini-2.0-flash` is two models there, the plain one and
the thinking one (the frame `models`), so that what is said of it over all categories is of both.
"""

from selfpref.studies.livebench.findings import appendix, chapter
from selfpref.studies.livebench.findings.claims import CLAIMS

__all__ = ["CLAIMS", "FINDINGS"]

FINDINGS = chapter.FINDINGS | appendix.FINDINGS
