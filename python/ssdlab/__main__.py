"""`python -m ssdlab` is `ssdlab`."""

from ssdlab.cli import main

if __name__ == "__main__":
    main()
