"""What names a source: a file, an address, a quoted title, an author with a year, or a word for something written.

Below "Sources:" stands a bibliography or an answer ("What are sources of vitamin C?"), so an entry that looks like anything
else counts as a claim.
"""

from __future__ import annotations

import re

# Words for what is written or published: "Lease agreement", "Survey of wells", "section 4".
WRITTEN = (
    r"(?:passages?|documents?|docs?|documentation|contexts?|chunks?|excerpts?|snippets?|transcripts?|texts?|sources?|(?:hand|"
    r"guide|text|cook)?books?|"
    r"manuals?|guides?|guidelines?|polic(?:y|ies)|agreements?|leases?|contracts?|reports?|articles?|papers?|journals?|reviews?|"
    r"stud(?:y|ies)|surveys?|census|datasets?|websites?|web ?pages?|blogs?|news|wiki(?:pedia)?|encyclop\w+|press releases?|"
    r"newspapers?|"
    r"magazines?|letters?|memos?|faqs?|terms of (?:service|use)|data ?sheets?|spec sheets?|specifications?|brochures?|leaflets?|"
    r"statutes?|acts?|codes?|"
    r"regulations?|bulletins?|newsletters?|dictionary|bible|constitution|treat(?:y|ies)|sections?|chapters?|pages?|paragraphs?|"
    r"appendix|vol|pp?\.)"
)
NAMED = re.compile(
    r"https?:|www\.|\b[\w-]+\.(?:com|org|net|edu|gov|io|pdf|docx?|txt|html?|md|csv|json|xlsx?|pptx?|xml)\b"
    r"|^\W*[\"“«„‘]|^[ \t]*(?:[*_](?![*_])[^*_]+[*_])"  # a title in quotes or italics
    r"|^\W*\[\^?\d{1,3}\]"
    r"|\((?:19|20)\d\d[a-z]?\)|,\s(?:19|20)\d\d[a-z]?\b|\bet al\b|\b(?:doi|isbn|arxiv)\b"
    rf"|\b{WRITTEN}(?!\w)",
    re.I,
)
# Ids and numbers of entries: "3", "doc_12", "1, 2".
IDENTIFIER = re.compile(r"[A-Za-z]*[\d_#-][\w#.-]*")
BETWEEN = re.compile(r"[,;\s&]+(?:and\s+)?")


def names_source(entry: str) -> bool:
    """Whether an entry of a list of sources looks like one; `entry` is raw text, marks and all."""
    said = entry.strip()
    if not any(map(str.isalpha, said)) or NAMED.search(said):
        return True
    return all(IDENTIFIER.fullmatch(token) for token in BETWEEN.split(said) if token)
