from bodymotion.rendering.api import render as render
