"""Trains on the shards in OUT, 3 epochs. Run it again after any interruption, and it goes on after its last batch: train.py OUT CHECKPOINT."""
import os
import sys

import torch
from ffconvert import DataLoader, Dataset


def example(sample):  # a record as numbers: what a real model sees is decoded and augmented here
    pixels = torch.frombuffer(bytearray(sample["jpg"]), dtype=torch.uint8).int()
    return torch.bincount(pixels, minlength=256) / len(pixels), int(sample["cls"])


out, checkpoint = sys.argv[1:]
dataset = Dataset(out, fields=["jpg;png", "cls"], transform=example)
loader = DataLoader(dataset, batch_size=8, shuffle=True, drop_last=True, seed=7, num_workers=2)
model = torch.nn.Linear(256, 10)
torch.nn.init.zeros_(model.weight), torch.nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
if os.path.exists(checkpoint):
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"]), optimizer.load_state_dict(saved["optimizer"]), loader.load_state_dict(saved["loader"])
for epoch in range(loader.epoch, 3):
    loader.set_epoch(epoch)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}, checkpoint + ".new")
        os.replace(checkpoint + ".new", checkpoint)  # after a crash there is the old one or the new one
        print(epoch, loader.state_dict()["position"], loss.item(), flush=True)
