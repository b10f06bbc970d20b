"""Tasks of evaluation harnesses for the configs of a release: lm-evaluation-harness, inspect-ai, the Hub."""

from .exports import benchmark_tasks, export_texts

__all__ = ["benchmark_tasks", "export_texts"]
