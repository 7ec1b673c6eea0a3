"""The code of docs/training.md by the frameworks themselves, where they are installed: python3 -m unittest tests.real_frameworks

test_frameworks has the same for the calls that their sources make; CI has none of them.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import warnings

import torch

from tests import support

from ffconvert import BatchSampler, DataLoader

N, EPOCHS = 60, 3
os.environ.update(ACCELERATE_USE_CPU="true", PL_DISABLE_FORK="1", TOKENIZERS_PARALLELISM="false")
warnings.simplefilter("ignore")


class Numbers(torch.utils.data.Dataset):
    """Sample i is i."""

    def __len__(self):
        return N

    def __getitem__(self, i):
        return i


def expected(batch, ends="even"):
    sampler = BatchSampler(N, batch, seed=7, ends=ends)
    got = []
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        got += [(epoch, batch) for batch in sampler]
    return got


def code(name):
    """A block of the page."""
    section = (support.ROOT / "docs" / "training.md").read_text().split("\n## Frameworks\n")[1].split("\n## ")[0]
    names = "lightning", "fabric", "accelerate", "prepare", "transformers", "torchdata"
    return dict(zip(names, re.findall("```python\n(.*?)```", section, re.S)))[name]


class Stop(Exception):
    pass


def loop(name, saved, stop):
    """Runs a block that has a loop until it has had so many batches. Returns them with their epochs, and the state behind the last one."""
    got, model = [], torch.nn.Linear(1, 1)

    def train(batch):
        if len(got) == stop:
            raise Stop
        got.append((names["epoch"], batch.tolist()))

    names = {"dataset": Numbers(), "saved": saved, "epochs": EPOCHS, "train": train, "model": model,
             "optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    try:
        exec(code(name), names)
    except Stop:
        pass
    return got, names["saved"]


def processes(n, name, *args):
    """What each of n processes printed, one JSON each: this module is their program."""
    here = pathlib.Path(__file__).resolve().parents[1]
    scratch = support.scratch()
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", str(n), "--rdzv_backend", "c10d", "--rdzv_endpoint", "localhost:0",
                           "-m", "tests.real_frameworks", name, str(scratch), *map(str, args)], cwd=here, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError("%s on %d processes: %s" % (name, n, done.stderr[-4000:]))
    return [json.loads((scratch / ("rank%d" % rank)).read_text()) for rank in range(n)]


class Accelerate(unittest.TestCase):
    def setUp(self):
        require("accelerate")

    def test_page(self):
        for name, want in ("accelerate", expected(12)), ("prepare", expected(6, "drop")):
            for stop in range(len(want) + 1):
                first, saved = loop(name, None, stop)
                self.assertEqual(first + loop(name, saved, None)[0], want, (name, stop))

    def test_skip_first_batches(self):
        from accelerate import Accelerator, skip_first_batches
        prepared = Accelerator().prepare(DataLoader(Numbers(), 7, shuffle=True, seed=7, num_workers=2))
        skipped = skip_first_batches(prepared, 3)
        skipped.set_epoch(1)
        self.assertEqual([b.tolist() for b in skipped], [b for e, b in expected(7) if e == 1][3:])

    def test_processes(self):
        want = expected(6, "drop")
        parts = processes(2, "prepare", 7)
        got = [tuple(b) for step in zip(*[part["got"] for part in parts]) for b in step]
        self.assertEqual(parts[0]["saved"], parts[1]["saved"])
        self.assertEqual(got + loop("prepare", parts[0]["saved"], None)[0], want)
        for how in "split", "dispatch":
            parts = processes(2, how)
            steps = [[sum(step, []) for step in zip(*part)] for part in zip(*parts)]
            self.assertEqual([(e, b) for e, epoch in enumerate(steps) for b in epoch], expected(6, "drop"), how)
        for part in processes(2, "twice"):
            self.assertIn("which 2 processes would divide again: pass rank=0, world=1", part)


class Lightning(unittest.TestCase):
    def setUp(self):
        require("lightning")

    def test_fabric(self):
        want = expected(12)
        for stop in range(1, len(want) + 1):
            first, saved = loop("fabric", None, stop)
            self.assertEqual(first + loop("fabric", saved, None)[0], want, stop)

    def test_fit(self):
        """Checkpoints in the middle and at the end of epochs."""
        want, scratch = expected(12), support.scratch()
        self.assertEqual(fit(scratch, EPOCHS), want)
        checkpoints = sorted(scratch.glob("*.ckpt"))
        self.assertGreaterEqual(len(checkpoints), len(want) + EPOCHS - 1, checkpoints)
        for checkpoint in checkpoints:
            at = torch.load(checkpoint, weights_only=False)["global_step"]
            self.assertEqual(fit(support.scratch(), EPOCHS, checkpoint), want[at:], checkpoint.name)

    def test_processes(self):
        """Two ranks, then one: from a checkpoint in the middle of an epoch."""
        want = expected(12)
        parts = processes(2, "fit", 7)
        got = [(a[0], a[1] + b[1]) for a, b in zip(parts[0]["got"], parts[1]["got"])]
        self.assertEqual(got, want[:7])
        self.assertEqual(fit(support.scratch(), EPOCHS, parts[0]["checkpoint"]), want[7:])


def fit(scratch, epochs, checkpoint=None, steps=-1, **options):
    """Trains by the data module of the page. Returns the batches, with the epoch of each. There is a checkpoint of each step, and of each epoch's end."""
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint
    got, names = [], {"dataset": Numbers()}
    exec(code("lightning"), names)

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch, batch_idx):
            got.append((self.current_epoch, batch.tolist()))
            return self.layer(batch.float().mean().reshape(1, 1)).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    saves = [ModelCheckpoint(scratch, "{epoch}-{step}", every_n_train_steps=1, save_top_k=-1),
             ModelCheckpoint(scratch, "end-{epoch}-{step}", every_n_epochs=1, save_top_k=-1, save_on_train_epoch_end=True)]
    trainer = lightning.Trainer(max_epochs=epochs, max_steps=steps, accelerator="cpu", logger=False, callbacks=saves, enable_progress_bar=False,
                                enable_model_summary=False, **{"devices": 1, **options})
    trainer.fit(Model(), datamodule=names["Data"](), ckpt_path=checkpoint and str(checkpoint))
    return got


class Transformers(unittest.TestCase):
    def setUp(self):
        require("transformers")
        require("accelerate")

    def test_resume(self):
        want, scratch = [b for _, b in expected(12)], support.scratch()
        self.assertEqual(self.train(scratch), want)
        for step in range(2, 15, 2):
            got = self.train(support.scratch(), str(scratch / ("checkpoint-%d" % step)))
            self.assertEqual(got, want[step:], step)

    def train(self, scratch, checkpoint=None):
        import transformers
        names, got = {}, []
        exec(code("transformers"), names)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def forward(self, numbers):
                return {"loss": self.layer(numbers.float().mean().reshape(1, 1)).sum()}

        class Trainer(names["Trainer"]):
            def training_step(self, model, inputs, *args):
                got.append(inputs["numbers"].tolist())
                return super().training_step(model, inputs, *args)

        args = transformers.TrainingArguments(str(scratch), per_device_train_batch_size=12, num_train_epochs=EPOCHS, save_steps=2, seed=7, report_to=[],
                                              use_cpu=True, remove_unused_columns=False, disable_tqdm=True, dataloader_num_workers=0)
        Trainer(model=Model(), args=args, train_dataset=Numbers(), data_collator=lambda batch: {"numbers": torch.tensor(batch)}).train(checkpoint)
        return got


class TorchData(unittest.TestCase):
    def test_page(self):
        require("torchdata")
        want = [batch for _, batch in expected(12)]
        for stop in range(1, 5):
            names = {"dataset": Numbers(), "saved": None}
            exec(code("torchdata"), names)
            batches = iter(names["loader"])
            first = [next(batches).tolist() for _ in range(stop)]
            names["saved"] = names["loader"].state_dict()
            exec(code("torchdata"), names)
            rest = [batch.tolist() for _ in range(EPOCHS) for batch in names["loader"]]
            self.assertEqual(first + rest, want, stop)


def require(name):
    try:
        module = __import__(name)
    except ImportError as why:
        raise unittest.SkipTest("%s: %s" % (name, why)) from None
    print(name, module.__version__, file=sys.stderr)


def program(name, scratch, *args):
    """What one of several processes does."""
    rank, report = int(os.environ["RANK"]), None
    if name == "prepare":
        got, saved = loop("prepare", None, int(args[0]))
        report = {"got": got, "saved": saved}
    elif name in ("split", "dispatch", "twice"):
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration
        accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(split_batches=name != "twice", dispatch_batches=name == "dispatch"))
        place = {} if name == "twice" else {"rank": 0, "world": 1}
        prepared = accelerator.prepare(DataLoader(Numbers(), 6, shuffle=True, seed=7, drop_last=True, **place))
        try:
            report = [[b.tolist() for b in prepared] for _ in range(EPOCHS)]
        except RuntimeError as why:
            report = str(why)
    elif name == "fit":
        steps = int(args[0])
        got = fit(pathlib.Path(scratch), EPOCHS, steps=steps, devices=int(os.environ["WORLD_SIZE"]), strategy="ddp")
        report = {"got": got, "checkpoint": str(next(pathlib.Path(scratch).glob("*step=%d.ckpt" % steps), ""))}
    (pathlib.Path(scratch) / ("rank%d" % rank)).write_text(json.dumps(report))
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    program(*sys.argv[1:])
