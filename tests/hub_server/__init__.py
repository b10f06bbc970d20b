"""A server that speaks the Hub's protocol, for tests: real git repositories and a folder of large files.

The clients under test are the real ones (huggingface_hub, datasets, git, git-lfs). Only what they ask for is
here; accounts are fixed, nothing is encrypted, and everything stands in one folder. `python -m hub_server`
runs it by hand; tests use the fixtures of `hub_fixtures`.
"""

from .accounts import ACCOUNTS, Account, token_of
from .faults import Fault, FaultPlan, Hook
from .hub import Hub, Settings
from .server import HubServer, Record
from .snapshots import CommitSummary, RepositoryView

__all__ = [
    "ACCOUNTS",
    "Account",
    "CommitSummary",
    "Fault",
    "FaultPlan",
    "Hook",
    "Hub",
    "HubServer",
    "Record",
    "RepositoryView",
    "Settings",
    "token_of",
]
