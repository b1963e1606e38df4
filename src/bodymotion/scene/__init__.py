"""A neutral description of what is shown.

The viewer, images, plots, reports and notebooks all start from it.

`scene.Scene` holds the body, its poses over time, contacts, zero moment point, notes
and findings; `loading.load_scene` makes one from
objects or files. `options` lists what can be switched on, `theme` the colours.
"""
