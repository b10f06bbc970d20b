"""Commands for releases that live on the Hub: copies, errata, outdated sources."""
