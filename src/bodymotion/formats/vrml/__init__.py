"""Read and write the language VRML97.

Text to `Scene`, prototypes expanded, parts named by Inline loaded.

It is independent of robots.
"""

from bodymotion.formats.vrml.fields import FieldDeclaration as FieldDeclaration
from bodymotion.formats.vrml.nodes import IsReference as IsReference
from bodymotion.formats.vrml.nodes import Node as Node
from bodymotion.formats.vrml.nodes import Proto as Proto
from bodymotion.formats.vrml.nodes import Route as Route
from bodymotion.formats.vrml.nodes import Scene as Scene
from bodymotion.formats.vrml.nodes import Value as Value
from bodymotion.formats.vrml.reader import InlineLoader as InlineLoader
from bodymotion.formats.vrml.reader import expand as expand
from bodymotion.formats.vrml.reader import instance_of as instance_of
from bodymotion.formats.vrml.reader import parse_vrml as parse_vrml
from bodymotion.formats.vrml.reader import read_scene as read_scene
from bodymotion.formats.vrml.reader import read_vrml as read_vrml
