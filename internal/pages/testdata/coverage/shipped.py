"""Makes files of the layouts in which datasets are shipped, in the current directory: a few samples each."""
import io, json, os, pathlib, re, shutil, struct, subprocess, tarfile, wave

from PIL import Image

pictures = sorted(pathlib.Path("photos").rglob("*.jpg"))


def put(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    pathlib.Path(path).write_bytes(data if isinstance(data, bytes) else data.encode())


def mask(path, level):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Image.new("L", (8, 6), level).save(path)


# pairs/ and described/: pictures with masks; a table of captions, and lines that name the files
shutil.rmtree("pairs"), shutil.rmtree("described")
names = "a", "b", "c"
for i, name in enumerate(names):
    for directory in "pairs", "described":
        put(f"{directory}/{name}.jpg", pictures[i].read_bytes())
        mask(f"{directory}/{name}.png", i + 1)
put("captions.csv", "key,caption\n" + "".join(f'{name},"{name}, a picture"\n' for name in reversed(names)))
put("described/metadata.jsonl", "".join(json.dumps({"file_name": f"{n}.jpg", "mask_file_name": f"{n}.png"}) + "\n" for n in ("b", "c", "a")))

# imagenet/: train and val have other pictures, and val lacks a class
for i, path in enumerate(pictures):
    side = "val" if i % 3 else "train"
    other = "train" if i % 3 else "val"
    os.remove(f"imagenet/{other}/{path.relative_to('photos')}")
shutil.rmtree("imagenet/val/glyphs")

# ImageNet: a tar of a tar for each class, and pictures of val in one tar, whose labels are in the kit: ILSVRC2012_ID 1, 2, 3 are no order of WordNet names
synsets = {"n02123045": 2, "n01440764": 3, "n04550184": 1}


def tar(path, members):
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as out:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return pathlib.Path(path).read_bytes()


inner = []
for i, name in enumerate(synsets):
    inner.append((f"{name}.tar", tar("inner.tar", [(f"{name}_{j}.JPEG", p.read_bytes()) for j, p in enumerate(pictures[3 * i:3 * i + 3], 1)])))
os.remove("inner.tar")
tar("ILSVRC2012_img_train.tar", inner)
tar("ILSVRC2012_img_val.tar", [(f"ILSVRC2012_val_{i:08d}.JPEG", p.read_bytes()) for i, p in enumerate(pictures[12:18], 1)])
put("synsets.txt", "".join(f"{number} {name}\n" for name, number in sorted(synsets.items(), key=lambda s: s[1])))
put("ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", "3\n1\n2\n2\n1\n3\n")

# COCO 2017: pictures by number, captions and objects by image_id in any order, a picture without objects
ids = 9, 25, 30, 34
for i, p in zip(ids, pictures):
    put(f"train2017/{i:012d}.jpg", p.read_bytes())
images = [{"license": 3, "file_name": f"{i:012d}.jpg", "coco_url": f"http://images.cocodataset.org/train2017/{i:012d}.jpg", "height": 480, "width": 640, "id": i} for i in reversed(ids)]
captions = [{"image_id": i, "id": 100 * n + i, "caption": f"picture {i}, caption {n}"} for n in range(5) for i in (30, 9, 34, 25)]
objects = [{"segmentation": [[i, 1.5, 2.25, 3, 4, 5]], "area": i / 8, "iscrowd": 0, "image_id": i, "bbox": [1.08, 187.69, 611.59, i], "category_id": n + 1, "id": 100 * n + i} for n in range(2) for i in (34, 25, 9)]
objects.append({"segmentation": {"counts": [272, 2, 4], "size": [480, 640]}, "area": 6, "iscrowd": 1, "image_id": 9, "bbox": [0, 0, 4, 4], "category_id": 90, "id": 1})
for name, annotations in ("captions", captions), ("instances", objects):
    put(f"annotations/{name}_train2017.json", json.dumps({"info": {"year": 2017}, "licenses": [], "images": images, "annotations": annotations}))

# What recipes.md makes of these, by its own lines
recipes = (pathlib.Path("testdata").resolve().parent / "docs" / "recipes.md").read_text("utf-8")
subprocess.run(["sh", "-euc", re.search(r"^sort -k 2 synsets.txt.*?> val\.csv$", recipes, re.M | re.S)[0]], check=True)
put("coco.py", re.search(r"```python\n(.*?)```", recipes, re.S)[1])
subprocess.run(["sh", "-euc", re.search(r"^python3 coco\.py annotations.*$", recipes, re.M)[0]], check=True)

# ADE20K (ADEChallengeData2016): pictures and segmentations in directories of their own, a name a picture
for i, p in enumerate(pictures[:6], 1):
    side, of = ("training", "train") if i < 5 else ("validation", "val")
    put(f"ADEChallengeData2016/images/{side}/ADE_{of}_{i:08d}.jpg", p.read_bytes())
    mask(f"ADEChallengeData2016/annotations/{side}/ADE_{of}_{i:08d}.png", i)
put("ADEChallengeData2016/objectInfo150.txt", "Idx\tRatio\tTrain\tVal\tStuff\tName\n1\t0.1576\t11664\t1172\t1\twall\n")
put("ADEChallengeData2016/sceneCategories.txt", "".join(f"ADE_train_{i:08d} airport_terminal\n" for i in range(1, 5)))

# KITTI, object detection: four directories, a number a frame
for i in range(4):
    mask(f"kitti/training/image_2/{i:06d}.png", 10 + i)
    put(f"kitti/training/label_2/{i:06d}.txt", f"Pedestrian 0.00 {i} -0.20 712.40 143.00 810.73 307.92 1.89 0.48 1.20 1.84 1.47 8.41 0.01\n")
    put(f"kitti/training/calib/{i:06d}.txt", f"P0: 7.07049{i}e+02 0.0 6.04e+02 0.0\nR0_rect: 9.99e-01 1.0e-02 -7.4e-03\n")
    put(f"kitti/training/velodyne/{i:06d}.bin", struct.pack("<8f", *range(i, i + 8)))
    mask(f"kitti/testing/image_2/{i:06d}.png", 90 + i)

# LJSpeech 1.1: wavs, and a table with | between the columns, no header, and quotes that are of the text
texts = [("LJ001-0001", "Printing, in the only sense", "Printing, in the only sense"), ("LJ001-0002", '"in being modern.', '"in being modern.'),
         ("LJ001-0003", 'by "No" he meant 1455', 'by "No" he meant fourteen fifty-five'), ("LJ002-0001", '"quoted"', '"quoted"')]
for name, *_ in texts:
    os.makedirs("LJSpeech-1.1/wavs", exist_ok=True)
    with wave.open(f"LJSpeech-1.1/wavs/{name}.wav", "wb") as w:
        w.setnchannels(1), w.setsampwidth(2), w.setframerate(22050), w.writeframes(name.encode() * 40)
put("LJSpeech-1.1/metadata.csv", "".join("|".join(t) + "\n" for t in texts))
put("LJSpeech-1.1/README", "LJSpeech\n")

# Google CC (Conceptual Captions): a caption and a URL a line, between them a tab; some of the pictures, by the number of the line
lines = [('a very typical bus station "inside"', "http://host/a.jpg"), ("gone", "http://host/b.jpg"), ('"stunning", they say', "http://host/c.jpg"), ("the last", "http://host/d.jpg")]
put("Train_GCC-training.tsv", "".join("\t".join(x) + "\n" for x in lines))
for n in 1, 3, 4:
    put(f"pictures/{n:08d}.jpg", pictures[n].read_bytes())
subprocess.run(["sh", "-euc", re.search(r"^awk -F .*> captions\.tsv$", recipes, re.M)[0]], check=True)
