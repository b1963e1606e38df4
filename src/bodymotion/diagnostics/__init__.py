"""What is found in files and values.

`Problem`, `Rule`, `Location`, `Findings`; the one collector `Diagnostics`; `Source` and
its map.

The lowest package: it imports nothing else of bodymotion.
"""

from bodymotion.diagnostics.problem import Diagnostics as Diagnostics
from bodymotion.diagnostics.problem import Findings as Findings
from bodymotion.diagnostics.problem import FormatError as FormatError
from bodymotion.diagnostics.problem import Location as Location
from bodymotion.diagnostics.problem import Locator as Locator
from bodymotion.diagnostics.problem import MissingFileError as MissingFileError
from bodymotion.diagnostics.problem import Problem as Problem
from bodymotion.diagnostics.problem import ReadResult as ReadResult
from bodymotion.diagnostics.problem import Rule as Rule
from bodymotion.diagnostics.problem import Severity as Severity
from bodymotion.diagnostics.problem import Source as Source
from bodymotion.diagnostics.problem import SourceMap as SourceMap
from bodymotion.diagnostics.problem import Subject as Subject
from bodymotion.diagnostics.problem import WrongUseError as WrongUseError
from bodymotion.diagnostics.problem import document as document
from bodymotion.diagnostics.problem import judgement as judgement
from bodymotion.diagnostics.problem import reference as reference
from bodymotion.diagnostics.representation import ShortRepr as ShortRepr
from bodymotion.diagnostics.text import Group as Group
from bodymotion.diagnostics.text import grouped as grouped
