"""The people of the test server and what each may do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Account:
    """A person, the organisations of that person, and whether the token may write."""

    name: str
    organisations: tuple[str, ...] = ()
    writes: bool = True

    def belongs_to(self, namespace: str) -> bool:
        """Whether repositories of `namespace` are this person's."""
        return namespace == self.name or namespace in self.organisations


#: Tokens are as long as those that error messages must redact.
ACCOUNTS: dict[str, Account] = {
    "hf_aliceTokenOfTheTestHub": Account("alice", ("acme",)),
    "hf_bobTokenOfTheTestHub": Account("bob"),
    "hf_readerTokenOfTheTestHub": Account("reader", ("acme",), writes=False),
}


def token_of(user: str) -> str:
    """The token of the person called `user`."""
    return next(token for token, account in ACCOUNTS.items() if account.name == user)
