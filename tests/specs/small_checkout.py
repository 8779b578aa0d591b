"""The files of a small, sound checkout."""

CLAUSES = """# Timeline

What the area is about.

## TL-001 The actions
- level: must
- versions: 9
- stated_in: model
- source: text-1.0, "First"; release-1.1.1, "seen"

Eleven there are.

## TL-002 Bytes of a name
- level: must
- versions: 9
- stated_in: format
- source: text-1.0, "Second"
- readings: text, released
- evidence: bytes of a release

Two readings,
and two lines.

## TL-003 Unknown actions
- level: must
- versions: 9
- stated_in: model
- source: text-1.0
- refuses: INSTANT_MALFORMED

They are refused.

## TL-004 Nice to have
- level: should
- versions: 9
- stated_in: model
- source: release-1.1.1, "seen"

Nobody has to.
"""

FILES = {
    "specs/clauses/timeline.md": CLAUSES.replace("source: text-1.0\n", 'source: text-1.0, "First"\n'),
    "specs/areas.toml": '[TL]\ntitle = "Timeline"\nfiles = ["timeline.md"]\n',
    "specs/reasons.toml": '[[reason]]\nname = "INSTANT_MALFORMED"\n',
    "specs/sources.toml": """
[[text]]
name = "text-1.0"
title = "A text"
file = "text.txt"
section = [
    { heading = "First", sha256 = "0" },
    { heading = "Second", sha256 = "0" },
]
[[text]]
name = "release-1.1.1"
title = "A release"
""",
    "specs/coverage/reasons.toml": '[[reason]]\nname = "motivation"\nsentence = "Why it is so."\n',
    "specs/coverage/text-1.0.toml": """
[[section]]
heading = "First"
passage = [
    { number = 1, sum = "a7937b64b8ca", kind = "heading", not_normative = "motivation" },
    { number = 2, sum = "0", kind = "sentence", clauses = ["TL-001", "TL-003"], note = "eleven actions" },
    { number = 3, sum = "0", kind = "item", question = "Q-001", gap = "cut" },
]
[[section]]
heading = "Second"
passage = [
    { number = 1, sum = "0", kind = "heading", clauses = ["TL-002"], gap = "empty" },
]
""",
    "specs/questions/Q-001-what-then.md": "# Q-001 What then?\n",
    "specs/tla/Timeline.tla": "\\* TL-001\n",
    "model/hudi_model/timeline.py": '''
def actions():
    """
    The actions.

    Clauses: TL-001, TL-003.
    """
    return "TL-003"
''',
    "format/hudi_format/names.py": 'class Name:\n    """A name.\n\n    Clauses: TL-002.\n    """\n',
    "golden_tables/v9/one/table.toml": """
id = "v9/one"
clauses = ["TL-001"]

[[case]]
id = "answers"
clauses = ["TL-001"]
[[case.steps]]
op = "read_snapshot"
expect = "a"
warnings = [{ clause = "TL-001" }]

[[case]]
id = "refuses"
clauses = ["TL-003"]
[[case.steps]]
op = "read_snapshot"
reject = { reason = "INSTANT_MALFORMED" }

[[case]]
id = "names"
clauses = ["TL-002"]
[[case.steps]]
op = "list_timeline"
expect = "b"
""",
    "conformance/writing_cases/area/one.toml": """
table_version = 9
title = "Writes"
clauses = ["TL-001"]
[scripts]
1 = [{op = "read_snapshot", expect = "1"}]
[[case]]
id = "one"
script = "1"
""",
    "conformance/trace_cases/cases.toml": '[[case]]\nclauses = ["TL-001"]\nreject = {line = 1}\n',
    "adapters/one.expected.toml": '[[case]]\nid = "x"\nclause = "TL-004"\n',
    "adapters/findings/one.toml": '[[finding]]\nname = "x"\nclause = "TL-004"\n',
}
