"""Commands that write a release's tasks and results in other tools' formats."""
