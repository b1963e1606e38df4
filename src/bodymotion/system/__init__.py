"""What the operating system and the installation offer.

Opening files, atomic writing, deferred imports.
"""
