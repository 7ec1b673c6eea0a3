"""What frameworks do with a loader that they are given. They are not installed where the tests run, so each of these makes the calls that
the sources make, in their order; its comment names the source and the function.

Read: huggingface/accelerate 000e52ba (and set_epoch of later versions) src/accelerate/data_loader.py; Lightning-AI/pytorch-lightning 014994ad and 03f57f9c
src/lightning/fabric/utilities/data.py, src/lightning/fabric/wrappers.py, src/lightning/pytorch/loops/fit_loop.py, trainer/connectors/data_connector.py, utilities/data.py; pytorch/data 00faf889
torchdata/stateful_dataloader/stateful_dataloader.py; huggingface/transformers 4.5x src/transformers/trainer.py.
"""

import collections
import inspect

from torch.utils.data import BatchSampler, DataLoader
from torch.utils.data.distributed import DistributedSampler


# Accelerate


class BatchSamplerShard(BatchSampler):
    """data_loader.BatchSamplerShard with even_batches: goes through all batches, and keeps those of one process."""

    def __init__(self, batch_sampler, num_processes, process_index, split_batches=False):
        if split_batches and batch_sampler.batch_size % num_processes:
            raise ValueError("batches cannot be split")
        self.batch_sampler, self.num_processes, self.process_index, self.split_batches = batch_sampler, num_processes, process_index, split_batches
        self.batch_size, self.drop_last = getattr(batch_sampler, "batch_size", None), getattr(batch_sampler, "drop_last", False)

    def __len__(self):
        n, rest = divmod(len(self.batch_sampler), self.num_processes)
        return len(self.batch_sampler) if self.split_batches else n + (rest > 0 and not self.drop_last)

    def __iter__(self):
        return self._split() if self.split_batches else self._no_split()

    def _split(self):
        size, first = self.batch_size // self.num_processes, []
        part = slice(size * self.process_index, size * (self.process_index + 1))
        for index, batch in enumerate(self.batch_sampler):
            if index == 0:
                first = batch
            if len(batch) == self.batch_size:
                yield batch[part]
        if not self.drop_last and first and len(batch) < self.batch_size:
            while len(first) < self.batch_size:
                first += first
            yield (batch + first)[part]

    def _no_split(self):
        first, kept = [], []
        for index, batch in enumerate(self.batch_sampler):
            if not self.drop_last and index < self.num_processes:
                first += batch
            if index % self.num_processes == self.process_index:
                kept = batch
            if index % self.num_processes == self.num_processes - 1 and len(batch) == self.batch_size:
                yield kept
                kept = []
        if self.drop_last or not first:
            return
        if len(kept) == self.batch_size:
            yield kept
        while len(first) < self.num_processes * self.batch_size:
            first += first
        if len(batch) == self.batch_size:
            batch, index = [], index + 1
        at = 0
        while index % self.num_processes or batch:
            to = at + self.batch_size - len(batch)
            batch += first[at:to]
            if index % self.num_processes == self.process_index:
                yield batch
            at, batch, index = to, [], index + 1


class SkipBatchSampler(BatchSampler):
    """data_loader.SkipBatchSampler"""

    def __init__(self, batch_sampler, skip_batches):
        self.batch_sampler, self.skip_batches = batch_sampler, skip_batches

    def __iter__(self):
        for index, samples in enumerate(self.batch_sampler):
            if index >= self.skip_batches:
                yield samples

    def __len__(self):
        return len(self.batch_sampler) - self.skip_batches


class DataLoaderShard(DataLoader):
    """data_loader.DataLoaderShard: sets the epoch by its own count, and reads a batch ahead of the loop."""

    def __init__(self, dataset, **kwargs):
        super().__init__(dataset, **kwargs)
        self.iteration = 0

    def set_epoch(self, epoch):
        self.iteration = epoch
        if hasattr(self.batch_sampler, "set_epoch"):
            self.batch_sampler.set_epoch(epoch)
        for s in (self.batch_sampler, getattr(self.batch_sampler, "batch_sampler", None)):
            if hasattr(getattr(s, "sampler", None), "set_epoch"):
                s.sampler.set_epoch(epoch)

    def __iter__(self):
        self.set_epoch(self.iteration)
        batches = super().__iter__()
        for current in batches:
            for following in batches:
                yield current
                current = following
            yield current
        self.iteration += 1


def _arguments(loader):
    names = ("num_workers", "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator", "prefetch_factor", "persistent_workers")
    return {name: getattr(loader, name) for name in names}


def prepare(loader, num_processes=1, process_index=0, split_batches=False):
    """data_loader.prepare_data_loader"""
    is_batch_sampler = isinstance(loader.sampler, BatchSampler)
    batch_sampler = loader.batch_sampler
    if num_processes != 1:
        batch_sampler = BatchSamplerShard(loader.sampler if is_batch_sampler else batch_sampler, num_processes, process_index, split_batches)
    if is_batch_sampler:
        return DataLoaderShard(loader.dataset, sampler=batch_sampler, batch_size=loader.batch_size, **_arguments(loader))
    return DataLoaderShard(loader.dataset, batch_sampler=batch_sampler, **_arguments(loader))


def skip_first_batches(loader, num_batches):
    """data_loader.skip_first_batches"""
    batch_sampler = loader.sampler if isinstance(loader.sampler, BatchSampler) else loader.batch_sampler
    new = DataLoaderShard if isinstance(loader, DataLoaderShard) else DataLoader
    return new(loader.dataset, batch_sampler=SkipBatchSampler(batch_sampler, num_batches), **_arguments(loader))


# transformers


def trainer_epochs(loader, epochs, resume_steps=0):
    """trainer.Trainer._inner_training_loop: the batches of some epochs, of which the first is resumed. loader is what get_train_dataloader returns."""
    for epoch in epochs:
        dataloader = loader
        if hasattr(dataloader, "set_epoch"):
            dataloader.set_epoch(epoch)
        if resume_steps:
            dataloader, resume_steps = skip_first_batches(dataloader, resume_steps), 0
        yield from iter(dataloader)


# Lightning


def set_sampler_epoch(loader, epoch):
    """lightning.fabric.utilities.data._set_sampler_epoch: each object once"""
    samplers = [getattr(loader, "sampler", None), getattr(getattr(loader, "batch_sampler", None), "sampler", None)]
    for sampler in {id(s): s for s in samplers if s is not None}.values():
        if callable(getattr(sampler, "set_epoch", None)):
            sampler.set_epoch(epoch)


def process_dataloader(loader, sampler=None, predicting=False, distributed=False):
    """data_connector._prepare_dataloader, _update_dataloader and utilities.data._get_dataloader_init_args_and_kwargs: makes the loader anew where its
    sampler is to be replaced."""
    if not predicting and not (distributed and not isinstance(loader.sampler, DistributedSampler)):
        return loader
    attrs = {k: v for k, v in vars(loader).items() if not k.startswith("_")}
    attrs["multiprocessing_context"] = loader.multiprocessing_context
    params = inspect.signature(loader.__init__).parameters
    kwargs = {k: v for k, v in attrs.items() if k == "dataset" or k in params and params[k].default is not v}
    kind = type(loader.batch_sampler)
    batches = kind(sampler or loader.sampler, batch_size=loader.batch_sampler.batch_size, drop_last=False if predicting else loader.batch_sampler.drop_last)
    kwargs.update(sampler=None, shuffle=False, batch_sampler=batches, batch_size=1, drop_last=False)
    assert not kwargs.keys() - params.keys(), kwargs
    return type(loader)(**kwargs)


class FabricLoader:
    """lightning.fabric.wrappers._FabricDataLoader: what setup_dataloaders returns. It counts its loops from 0, whatever was loaded."""

    def __init__(self, loader):
        vars(self).update(vars(loader))
        self.wrapped, self.loops = loader, 0

    def __len__(self):
        return len(self.wrapped)

    def __iter__(self):
        set_sampler_epoch(self.wrapped, self.loops)
        self.loops += 1
        yield from self.wrapped


class Fit:
    """loops.fit_loop._FitLoop and loops.training_epoch_loop._TrainingEpochLoop: epochs of batches, and what a checkpoint has of them."""

    def __init__(self, loader, checkpoint=None):
        self.loader = process_dataloader(loader)
        self.epoch, self.ready = checkpoint["progress"] if checkpoint else (0, 0)  # epoch_progress.processed, batch_progress.current.ready
        # setup_data: an iterator is made to see that there is one, the length is asked for, the state is loaded, and the first iterator is made.
        iter(self.loader)
        len(self.loader)
        if checkpoint:
            self.loader.load_state_dict(checkpoint["combined_loader"])
        self.batches, self.length = iter(self.loader), len(self.loader)

    def run(self, epochs, stop=None):
        """The batches of each epoch until epochs are done, or until stop batches."""
        first = True
        while self.epoch < epochs and stop != 0:  # stop: a checkpoint of on_train_epoch_end, before the next on_advance_start
            set_sampler_epoch(self.loader, self.epoch)  # on_advance_start: after load_state_dict and iter
            if not first:
                self.batches = iter(self.loader)
            first = False
            while self.ready < self.length:  # by the length: the end is never asked for
                if stop == 0:
                    return
                yield self.epoch, next(self.batches)
                self.ready, stop = self.ready + 1, stop and stop - 1
            self.epoch, self.ready = self.epoch + 1, 0

    def checkpoint(self):
        return {"progress": (self.epoch, self.ready), "combined_loader": self.loader.state_dict()}


# torchdata


class StatefulDataLoader:
    """stateful_dataloader.StatefulDataLoader over a batch sampler. With workers (ahead > 0 batches) states are those of the sampler when a batch was
    asked for: _StatefulMultiProcessingDataLoaderIter._try_put_index."""

    def __init__(self, dataset, batch_sampler, ahead=0):
        self.dataset, self.batch_sampler, self.ahead = dataset, batch_sampler, ahead
        self.iterator = self.to_load = None

    def __iter__(self):
        self.iterator, self.to_load = _StatefulIterator(self, self.to_load), None
        if self.iterator.finished:
            self.iterator = _StatefulIterator(self, None)
        return self.iterator

    def state_dict(self):
        return self.iterator.state_dict()

    def load_state_dict(self, state):
        self.iterator, self.to_load = None, state


class _StatefulIterator:
    def __init__(self, loader, state):
        self.loader, self.finished, self.tasks = loader, False, collections.deque()
        self.lists = iter(loader.batch_sampler)  # _BaseDataLoaderIter.__init__
        if loader.ahead:
            self.lists = iter(loader.batch_sampler)  # _reset
        self.snapshot = loader.batch_sampler.state_dict()
        if state is not None:
            loader.batch_sampler.load_state_dict(state["_index_sampler_state"])
            self.lists = iter(loader.batch_sampler)
            self.snapshot, self.finished = state["_index_sampler_state"], state["_iterator_finished"]
        for _ in range(loader.ahead):
            self.put()

    def put(self):
        try:
            self.tasks.append((next(self.lists), self.loader.batch_sampler.state_dict()))
        except StopIteration:
            pass

    def __iter__(self):
        return self

    def __next__(self):
        self.put()
        if not self.tasks:
            self.finished = True
            raise StopIteration
        indices, self.snapshot = self.tasks.popleft()
        return [self.loader.dataset[i] for i in indices]

    def state_dict(self):
        return {"_index_sampler_state": self.snapshot, "_iterator_finished": self.finished}
