"""`python -m bodymotion` is the command `bodymotion`."""

from bodymotion.cli import main

if __name__ == "__main__":
    main()
