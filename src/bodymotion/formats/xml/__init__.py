"""XML for every format that is written in it.

`tree` reads and writes elements, `syntax` explains what is wrong with a file.
"""
