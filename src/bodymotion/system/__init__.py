"""What the operating system and the installation offer: opening files, atomic writing, deferred imports."""
