"""pictures.py DIRECTORY N: writes N JPEGs of 500 × 375 pixels, of which a few are different."""
import os, random, sys
from PIL import Image

directory, n = sys.argv[1], int(sys.argv[2])
draw, some = random.Random(1), []
for i in range(25):
    coarse = Image.frombytes("RGB", (50, 38), draw.randbytes(50 * 38 * 3)).resize((500, 375), Image.BICUBIC)
    fine = Image.frombytes("RGB", (500, 375), draw.randbytes(500 * 375 * 3))
    Image.blend(coarse, fine, 0.15).save(os.path.join(directory, "first.jpg"), quality=90)
    some.append(open(os.path.join(directory, "first.jpg"), "rb").read())
os.remove(os.path.join(directory, "first.jpg"))
for i in range(n):
    with open(os.path.join(directory, "%06d.jpg" % i), "wb") as f:
        f.write(some[i % len(some)])
