"""Self-refinement for any engine (Xu et al., arXiv 2402.11436): write, judge, revise, accept.

    t = 0         y = write(x)            f = judge(x, y)
    t -> t + 1    if f calls y flawless, or says nothing usable: y and f stay
                  else r = revise(x, y, f), g = judge(x, r);
                  (y, f) becomes (r, g) if the arm's rule accepts them, and stays otherwise

Only the last text and the last feedback are seen. A revision that is empty, or whose feedback says
nothing usable, is never accepted. Every call goes through the store.

**Arms.** An arm is a judge and an accept rule:

    plain           the writer itself       accept if the score rose strictly (the paper's)
    accept-all      the writer itself       accept every revision
    accept-random   the writer itself       accept one in two, by a coin
    external        another model           accept if the score rose strictly
    noise           chance                  accept if the score rose strictly

**How it stands in the tables.** The arm is the condition in front of the item, as in the recorded
release: `lab-en/12` is the plain arm, `accept-all/lab-en/12` the other. Responses and truths need
no further column. The ratings that drove an arm have that arm as their `variant`; so *own* ratings
are those whose variant is the item's condition (`plain` where it has none). Every text that an arm
kept is also read afresh, once, by its writer and by the external judge: variant `rescored`.

    best-of-4/lab-en/12         step 0, samples 0..3: the candidates; step 1: the first with the
                                greatest standing. Their ratings are `plain`.
    self-consistency/math/3     step r: the current answer before round r (see `consistency`)

The items table holds the items without conditions; `refinement.chains.under_conditions` adds them.
"""

from typing import Final

from selfpref.studies.xu.lab import LAB
from selfpref.studies.xu.prompts import PLAIN

LAYOUTS: Final = {"lab": LAB, "plain": PLAIN}
