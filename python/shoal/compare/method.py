"""How verdicts are come to, in words: for the pages."""

from __future__ import annotations

from shoal.compare.comparison import Comparison
from shoal.compare.kinds import changed
from shoal.compare.verdicts import level, most_seeds, power


def method(comparison: Comparison) -> list[str]:
    """What a reader has to know of the numbers, in paragraphs."""
    return [
        "Differences are simulator minus Linux, seed by seed: for a seed both planes draw the same random times, and "
        "what they share cancels. Intervals are of 95 % by Student's t for pairs, in per cent of Linux's mean. The "
        f"margin is the largest difference that does not matter, set before anything was measured with it; {changed}.",
        'A quantity is "different" if its difference is shown to be beyond the margin, by Holm\'s method over all '
        f"{comparison.tests} tests of this comparison: that any of them is called so wrongly has a probability of at "
        f'most {level:.0%}. It is "same" if the difference is shown to be within the margin, by two one-sided tests '
        "and the method of Benjamini and Hochberg over the same tests: of all that are called so, at most "
        f'{level:.0%} are expected to be wrong. Else it is "not decided"; then stands how many seeds would decide it '
        f"with a probability of {power:.0%} if difference and scatter stay what they were (up to {most_seeds}). So a "
        "significant difference that is surely within the margin is none, and one that may lie on either side of the "
        "margin is not decided.",
        '"Equal" is the same number with every seed. What no seed changes is not tested but compared exactly.',
    ]
