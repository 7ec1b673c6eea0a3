"""Batches of samples that differ are an error that names the field and what to do; no field is lost."""

import unittest

import numpy as np
import torch

from tests import support

from ffconvert import DataLoader, Dataset
from ffconvert.collate import collate


class Collate(unittest.TestCase):
    def test_path(self):
        """A path is opened as a Dataset, with all of its fields."""
        one = support.converted("tar", "--fields", "cls,json", *support.TARS)
        for path in (one, str(one)):
            batches = list(DataLoader(path, batch_size=50))
            self.assertEqual([list(b) for b in batches], [["__key__", "cls", "json"]] * 3)
            self.assertEqual([key for b in batches for key in b["__key__"]], [s["__key__"] for s in Dataset(one)[:]])

    def test_fields_differ(self):
        """torch's own function fails without a name for it, or loses the fields that the first sample of a batch lacks."""
        with self.assertRaisesRegex(ValueError, r"'jpg' in 3 of 4, 'png' in 1 of 4; Dataset\(fields=\[…\]\) .*\"jpg;png\".*collate_fn="):
            list(DataLoader(support.tars(), 4))
        with self.assertRaisesRegex(ValueError, "different fields: 'png' in 1 of 2; "):
            collate([{"cls": 1}, {"cls": 2, "png": b""}])
        with self.assertRaisesRegex(ValueError, r"^sample\['json'\]: .*'size' in 1 of 2"):
            collate([{"json": {}}, {"json": {"size": 1}}])
        with self.assertRaisesRegex(ValueError, r"sample\['jpg'\]: a batch of pictures of Pillow .*decode=\"tensor\""):
            next(iter(DataLoader(Dataset(support.tars(), fields=["jpg;png"]), 4)))
        chosen = DataLoader(Dataset(support.tars(), fields=["__key__", "jpg;png"], decode="raw"), 120, num_workers=2)
        self.assertEqual([len(b["jpg"]) for b in chosen], [120])

    def test_values_differ(self):
        for values, why in (([np.zeros((2, 3)), np.zeros((4, 3))], r"sizes \(2, 3\) and \(4, 3\)"), ([torch.zeros(2), torch.zeros(3)], r"sizes \(2,\) and \(3,\)"),
                            ([[1], [1, 2]], r"sizes \(1,\) and \(2,\)"), ([1, None], "type NoneType and int"), ([None, None], "type NoneType"),
                            ([object(), object()], "torch cannot make a batch of these: .*object'>")):
            with self.subTest(why=why):
                with self.assertRaisesRegex(ValueError, r"^sample\['x'\]: .*%s; .*transform=.*collate_fn=" % why):
                    collate([{"x": v, "cls": 1} for v in values])
                with self.assertRaisesRegex(ValueError, r"^sample\[1\]: .*%s" % why):
                    collate([(1, v) for v in values])
                with self.assertRaisesRegex(ValueError, "^samples: .*%s" % why):
                    collate(values)

    def test_alike(self):
        """What torch makes a batch of is as torch makes it."""
        for samples in ([{"a": b"x", "b": 1.5}, {"a": b"yy", "b": 2}], [(1, "a"), (2, "b")], [3, 4], [torch.ones(2)] * 3, [{"a": {"b": (1, 2)}}] * 2, [[1, 2], [3, 4]]):
            self.assertEqual(str(collate(samples)), str(torch.utils.data.default_collate(samples)))
        self.assertEqual(collate([]), [])


if __name__ == "__main__":
    unittest.main()
