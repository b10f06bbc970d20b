"""Publishing a release to the Hub."""
