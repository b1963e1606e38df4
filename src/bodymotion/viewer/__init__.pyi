from bodymotion.viewer.api import view as view
from bodymotion.viewer.app import Viewer as Viewer
