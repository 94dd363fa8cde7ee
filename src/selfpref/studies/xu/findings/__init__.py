"""What the chapter says of the released data, and what became of the paper's claims.

The sentences are of the paper's models by name: where these are not among the data, as in the
synthetic testbed, nothing is said. Where nothing else is said, scores are the corrected ones.
"""

from selfpref.studies.xu.findings import appendix, chapter
from selfpref.studies.xu.findings.claims import CLAIMS

__all__ = ["CLAIMS", "FINDINGS"]

FINDINGS = chapter.FINDINGS | appendix.FINDINGS
