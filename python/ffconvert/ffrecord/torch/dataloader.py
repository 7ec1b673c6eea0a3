"""The loader of ffrecord.torch: torch's order, of which steps can be left out.

>>> loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=8)
>>> loader.set_step(100)
"""

from __future__ import annotations

from typing import Any, Optional

import torch.utils.data

from ... import loader

__all__ = ["DataLoader"]


class DataLoader(loader.DataLoader):
    """Batches of a Dataset, or of any dataset of torch with a length.

    Samples have the order of torch's DataLoader: with shuffle that which generator draws, another one in each epoch. set_step(k) leaves out the first k
    batches of epochs, without reading them, until it is set again; skippable=False makes it an error. Processes are forked, unless
    multiprocessing_context says otherwise. As with torch, ranks want a DistributedSampler, and its set_epoch.

    The arguments behind skippable are those of ffconvert.DataLoader. With one of seed, mode, ends, global_batch, rank and world the order is its own: then each rank takes
    its part, and state_dict and load_state_dict go on after any batch.
    """

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False, sampler: Any = None, batch_sampler: Any = None,
                 num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0,
                 worker_init_fn: Any = None, generator: Any = None, *, prefetch_factor: Optional[int] = 2, persistent_workers: bool = False,
                 skippable: bool = True, seed: Optional[int] = None, mode: Optional[str] = None, ends: Optional[str] = None,
                 global_batch: Optional[int] = None, rank: Optional[int] = None, world: Optional[int] = None, workers: str = "processes",
                 multiprocessing_context: Any = None) -> None:
        if (sampler, batch_sampler, seed, mode, ends, global_batch, rank, world) == (None,) * 8:
            sampler = torch.utils.data.RandomSampler(dataset, generator=generator) if shuffle else torch.utils.data.SequentialSampler(dataset)
            shuffle = False
        if num_workers and workers != "threads" and multiprocessing_context is None:
            multiprocessing_context = "fork"
        super().__init__(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, collate_fn, pin_memory, drop_last, timeout, worker_init_fn,
                         generator, prefetch_factor=prefetch_factor, persistent_workers=persistent_workers, skippable=skippable, seed=seed, mode=mode, ends=ends, global_batch=global_batch,
                         rank=rank, world=world, workers=workers, multiprocessing_context=multiprocessing_context)
