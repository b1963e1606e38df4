"""XML for every format that is written in it: elements with locations, faults that do not end the reading."""
