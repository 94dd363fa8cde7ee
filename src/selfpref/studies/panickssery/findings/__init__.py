"""What the chapter says of the released data, and the paper's claims beside what came out.

Sentences of the profile `recorded`: they speak of the release's judges by name, and say nothing
where these are not in the data.
"""

from selfpref.studies.panickssery.findings import appendix, chapter
from selfpref.studies.panickssery.findings.claims import CLAIMS

FINDINGS = chapter.FINDINGS | appendix.FINDINGS

__all__ = ["CLAIMS", "FINDINGS"]
