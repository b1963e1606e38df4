"""The rules of YAML, for all formats that are written in it: YAML…."""

from bodymotion.diagnostics import document, judgement

NOT_YAML = document.error(
    "YAML101",
    "The text is well-formed YAML, nested at most 100 deep.",
    "the fault may be in the line before; indentation is made of spaces, not tabs",
    example=("zmp: [ 0, 0, 0", "zmp: [ 0, 0, 0 ]"),
)
ALIAS = document.error(
    "YAML102",
    "An alias names a complete node before it. All aliases together do not expand to "
    "too many nodes.",
    "write the data out in place of the aliases",
    example=("material: *read", "material: *red"),
)
KEY_TWICE = judgement.warning(
    "YAML103",
    "A key occurs once in a mapping.",
    "the last one is used",
    example=("mass: 2 # in kg\n    mass: 3", "mass: 2 # in kg"),
)
WRONG_VALUE = document.error(
    "YAML104",
    "The value of a key is of the kind that the key needs.",
    example=("mass: light", "mass: 5"),
)
SUFFIX = judgement.warning(
    "YAML105",
    "A number is not followed by other characters.",
    "write 0.5, not 0.5f; the characters behind the number are not used",
    example=("mass: 5f", "mass: 5"),
)
MISSPELT = judgement.warning(
    "YAML106",
    "The keys of the format are spelt correctly.",
    "in this spelling it has no effect",
    example=("framerate: 100", "frameRate: 100"),
)
NOT_USED = judgement.note(
    "YAML107",
    "A file holds one document without tags. Further documents and tags are not used.",
    leaves_out=True,
    example=("\n--- # another document", "\n# another document"),
)

_RETIRED = {
    "YAML101": "BDY101 PSQ002 SEQ002",
    "YAML102": "BDY105 PSQ004 SEQ006",
    "YAML103": "BDY106 PSQ005 SEQ219",
    "YAML104": "BDY107 PSQ006 SEQ101 SEQ106 SEQ109 SEQ114",
    "YAML105": "BDY109 PSQ008",
    "YAML106": "BDY111 BDY114 PSQ009 SEQ225",
    "YAML107": "BDY110 PSQ011",
}
RETIRED: dict[str, str] = {}
"""Codes that .body, .pseq and .seq files had for these rules before."""
for _code, _old_codes in _RETIRED.items():
    RETIRED |= dict.fromkeys(_old_codes.split(), _code)
