"""What the chapter says of the released data, and what became of the paper's claims.

The sentences are of MT-Bench, Vicuna-80 and Chatbot Arena by name: where these are not among the
data, as in the synthetic testbed, nothing is said.
"""

from selfpref.studies.wataoka.findings import chapter, claims, perplexity

FINDINGS = chapter.FINDINGS | perplexity.FINDINGS
CLAIMS = [*claims.CLAIMS, *perplexity.CLAIMS]
