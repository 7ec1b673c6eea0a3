"""Trains on the shards in OUT, 3 epochs: python3 train.py OUT CHECKPOINT, or python3 -m torch.distributed.run … train.py OUT CHECKPOINT.
Run it again after any interruption, with any number of ranks up to 8: it goes on after the last step that was saved."""
import os
import sys

import torch
from ffconvert import DataLoader, Dataset


def example(sample):  # a picture as numbers: what a real model sees is augmented here
    pixels = sample["jpg"].flatten().int()
    return sample["__key__"], torch.bincount(pixels, minlength=256) / len(pixels), sample["cls"]


out, checkpoint = sys.argv[1:]
rank, world, gpu = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1)), torch.cuda.is_available()  # torchrun sets them
device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if gpu else torch.device("cpu")
torch.manual_seed(7)
model = network = torch.nn.Linear(256, 10).to(device)
if world > 1:
    torch.distributed.init_process_group("nccl" if gpu else "gloo")
    network = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
dataset = Dataset(out, fields=["__key__", "jpg;png", "cls"], decode="tensor", transform=example)
loader = DataLoader(dataset, global_batch=8, shuffle=True, drop_last=True, seed=7, num_workers=2)
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint, map_location=device)
    model.load_state_dict(saved["model"]), optimizer.load_state_dict(saved["optimizer"]), loader.load_state_dict(saved["loader"])
for epoch in range(loader.epoch, 3):
    loader.set_epoch(epoch)
    for keys, x, y in loader:
        line = " ".join(map(str, (epoch, loader.state_dict()["position"], rank, *keys)))
        print(line + "\n", end="", flush=True)  # in one piece: ranks share the terminal
        # The mean over the 8 samples of all ranks: DDP takes the mean of ranks, of which some may have a sample more than others.
        loss = torch.nn.functional.cross_entropy(network(x.to(device)), y.to(device), reduction="sum") * world / 8
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        if rank == 0:
            states = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
            torch.save(states, checkpoint + ".new")
            os.replace(checkpoint + ".new", checkpoint)  # after a crash there is the old one or the new one
