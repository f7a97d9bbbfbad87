# SPDX-License-Identifier: Apache-2.0
"""Which tests may skip themselves where everything must work."""

import fnmatch
import os

ACCEPTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "accepted-skips")


def must_work():
    return bool(os.environ.get("DEWAR_MUST_WORK"))


def accepted():
    """The list: (suite, test, reason), the first two as patterns."""
    entries = []
    with open(ACCEPTED, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = line.split(None, 2)
            if len(words) != 3:
                raise ValueError("%s:%d: want SUITE TEST REASON" % (ACCEPTED, number))
            entries.append((words[0], words[1], words[2].strip()))
    return entries


def accepts(entry, suite, test):
    # The brackets of a parameter are meant as they stand.
    return all(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))
               for text, pattern in zip((suite, test), entry))


def is_accepted(suite, test):
    return any(accepts(entry, suite, test) for entry in accepted())
