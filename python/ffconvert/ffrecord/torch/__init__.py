"""Datasets of which a batch is read at once, and their loader, as ffrecord.torch has them. It imports torch."""

from __future__ import annotations

from .dataloader import DataLoader
from .dataset import ConcatDataset, Dataset, ReaderRegistry, Subset

__all__ = ["ConcatDataset", "DataLoader", "Dataset", "ReaderRegistry", "Subset"]
