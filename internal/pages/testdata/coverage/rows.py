"""What the commands of docs/coverage.md must have made. ROWS has a check for each: it runs in the command's directory, OUT and ERR are what the
command printed. A check compares what went in with what came out, sample by sample, in order, both read by readers.py.
"""
import hashlib, sys, traceback

from readers import *

OUT, ERR, NODE, COMMAND, BYTES = "", "", "", "", b""  # of the command that is checked


def short(x):
    if isinstance(x, (bytes, str)) and len(x) > 80:
        return f"{x[:40]!r}… of {len(x)}, {zlib.crc32(x if isinstance(x, bytes) else x.encode()):08x}"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k!r}: {short(v)}" for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(short, x[:8])) + ("…]" if len(x) > 8 else "]")
    return repr(x)


def same(got, want):
    """Both are the same samples in the same order, each with the same fields in the same order. An empty list is the same as none."""
    got, want = list(got), list(want)
    assert want, "the check compares nothing"
    for i, (g, w) in enumerate(zip(got, want)):
        assert g == w and type(g) is type(w), f"sample {i} is\n{short(g)}, want\n{short(w)}"
        assert not isinstance(g, dict) or list(g) == list(w), f"sample {i} has its fields in the order {list(g)}, want {list(w)}"
    assert len(got) == len(want), f"{len(got)} samples, want {len(want)}"


def new(want, decode=msgpack.unpackb):
    """new/ has these samples."""
    same(records("new", decode), want)


def near(got, want):
    """These are the same pictures, but for what decoders of JPEG may differ by."""
    assert len(got) == len(want) > 0, f"{len(got)} pictures, want {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        assert g.shape == w.shape and g.dtype == w.dtype, f"picture {i} is {g.shape}, {g.dtype}; want {w.shape}, {w.dtype}"
        off = numpy.abs(g.astype(int) - w).mean()
        assert off < NEAR, f"picture {i} differs by {off:.2f} of 255 in the mean"


NEAR = 0.5  # of 255, in the mean of a picture


def npy(data):
    return numpy.load(io.BytesIO(data))


def said(*texts, where=None):
    """The command printed these, each once or more; numbers stand alone."""
    where = OUT + ERR if where is None else where
    for text in texts:
        assert re.search(rf"(?<![\d,]){re.escape(text)}(?!\d)", where), f"no {text!r} in {where!r}"


def run(line, status=0):
    """Runs another command in the directory."""
    done = subprocess.run(["bash", "-o", "pipefail", "-ec", line], capture_output=True)
    assert done.returncode == status, f"{line}: status {done.returncode}, want {status}: {done.stderr.decode()}"
    return done.stdout


def flip(path):
    data = bytearray(pathlib.Path(path).read_bytes())
    data[len(data) // 2] ^= 1
    pathlib.Path(path).write_bytes(data)


def verified():
    """The report is right, and the same command finds a bit that is flipped."""
    said("sound", f"{len(shards('out'))} shard", f"{len(raw('out'))} samples")
    flip(shards("out")[0])
    run(COMMAND, status=2)


def repaired():
    """A sound dataset is left as it is. The same command mends a bit that is flipped."""
    same(records("out"), tars(0, 1, 2, 3))
    good = pathlib.Path(shards("out")[0]).read_bytes()
    flip(shards("out")[0])
    run(COMMAND)
    assert pathlib.Path(shards("out")[0]).read_bytes() == good, "the shard is another one"


def inspected():
    """The counts are right, and the index has the offsets and CRCs that are in the shard, and keys and labels of the sources."""
    (shard,), sources = shards("out"), tars(0, 1, 2, 3)
    said("48", f"{os.path.getsize(shard):,}", f"jpg  {sum('jpg' in s for s in sources)} samples", where=OUT)
    offsets, crcs, data = header(shard)
    index = arrow(NODE, pathlib.Path(shard.replace("out/", "out/index/").replace(".ffr", ".arrow")).read_bytes())
    same([(r["key"], r["ordinal"], r["offset"], r["length"], r["crc32"], r["label"]) for r in index],
         [(s["__key__"], i, a, b - a, crc, int(s["cls"])) for i, (s, a, b, crc) in enumerate(zip(sources, offsets, offsets[1:] + (len(data),), crcs))])


def checked():
    """The report is right, and the same command refuses a tar that is cut."""
    said("10 files", "120 samples", "0 errors")
    data = pathlib.Path("shards-004.tar").read_bytes()
    os.remove("shards-004.tar")
    pathlib.Path("shards-004.tar").write_bytes(data[:30000])
    run(COMMAND, status=3)


def planned():
    """The tasks of the plan make the dataset."""
    assert not glob.glob("new/*.ffr"), "plan has written shards"
    run("ffconvert run new/ --task 0/2 && ffconvert run new/ --task 1/2 && ffconvert finish new/")
    new(tars())


def shuffled(got, want):
    """The same samples in another order."""
    order = [want.index(g) for g in got]
    assert sorted(order) == list(range(len(want))), f"the samples are {order}"
    assert order != sorted(order), "the order is that of the sources"
    runs = sum(b == a + 1 for a, b in zip(order, order[1:]))
    assert runs < len(want) / 8, f"{runs} of {len(want)} samples come right behind the one that is before them in the sources"


def again():
    """The same command makes the same bytes."""
    before = raw()
    run("rm -r new && " + COMMAND)
    same(raw(), before)


def draw(key, seed=0, purpose="split"):
    """As docs/choosing.md has it."""
    h = hashlib.sha256(b"%s %d %s" % (purpose.encode(), seed, key.encode()))
    return int.from_bytes(h.digest()[:8], "big") / 2**64


def only(sample, *names):
    return {name: sample[name] for name in ("__key__", *names) if name in sample}


def plain(sample):
    """Bytes as lists of numbers, as readers in JavaScript have them."""
    return {name: list(value) if isinstance(value, bytes) else value for name, value in sample.items()}


def picture(sample):
    return "jpg" if "jpg" in sample else "png"


def listed(text):
    """Name and size of each line of ls."""
    return [(m[2].rstrip("/"), int(m[1])) for m in re.finditer(r"^ *(\d+)  (\S.*)$", text, re.M) if not m[2].endswith("/")]


def shapes():
    """The pictures of testdata/generate: file name, class, bytes, by file name."""
    return sorted((os.path.basename(path), cls, pathlib.Path("photos", path).read_bytes()) for path, cls in imagefolder("photos"))


def ofrecords(encoded="encoded", make=lambda b: b, cls=lambda c: c):
    return [{"box": [0, 0.25, 1, c / 4], "class/label": cls(c), encoded: make(data), "score": c / 3} for _, c, data in shapes()]


def tfrecords():
    sample = lambda name, c, data: {"__key__": name[:3], "image/class/label": c, "image/encoded": data, "image/object/bbox": [0, 0.25, 1, c / 4] * (int(name[:3]) % 3)}
    return [sample(*s) for part in (0, 1) for s in shapes()[part::2]]


def pieces(pattern, most):
    """The tars of an export: all samples of out/, cut as webdataset's ShardWriter cuts: so many in each, the rest in the last."""
    paths = sorted(glob.glob(pattern))
    same(webdataset(*paths), tars(0, 1, 2, 3))
    sizes = [len(webdataset(p)) for p in paths]
    same(sizes, [most] * (48 // most) + [48 % most])


def cleaned():
    """What examples/clean.py answers."""
    return [{**s, "cls": int(s["cls"])} for s in tars() if int(s["cls"])]


def mixed():
    """examples/dataset.yaml: four collections, all in one order."""
    got = records()
    photo = lambda s: {"__key__": s["__key__"], "image": s[picture(s)], "cls": s["cls"]}
    first, second = [photo(s) for s in tars(0, 1, 2, 3)], [photo(s) for s in tars(4, 5, 6, 7, 8, 9)]
    folder = [{"__key__": s["__key__"], "image": s["jpg"], "cls": s["cls"]} for s in photos()]
    row = [{k: float(numpy.float32(v)) for k, v in zip("xyz", r)} for r in points()]
    of = lambda some: [g for g in got if g in some]
    same(of(first), first)
    assert 12 <= len(of(second)) <= 36 and of(second) == [s for s in second if s in got], f"{len(of(second))} of 72, where each was drawn with a chance of a third"
    twice = [folder.index(g) for g in of(folder)]
    assert twice[:24] == list(range(24)) and twice[24:] == sorted(set(twice[24:])) and 4 <= len(twice[24:]) <= 20, f"repeated by 1.5: {twice}"
    same(of(row), row)
    assert len(got) == 48 + len(of(second)) + len(twice) + 200, f"{len(got)} samples"
    again()


def two_sides():
    """train and val are all samples, each on the side that docs/choosing.md computes."""
    side = lambda s: draw(s["__key__"]) < 0.8
    same(records("new/train"), [s for s in photos() if side(s)])
    same(records("new/val"), [s for s in photos() if not side(s)])


def cached(name, source):
    """The cache has the bytes of the source under its name, or under ours."""
    held = [pathlib.Path("cache", f).read_bytes() for f in os.listdir("cache")]
    assert pathlib.Path(source).read_bytes() in held, f"{name} is not in the cache: {os.listdir('cache')}"


def added(samples, name, values):
    """The samples with a field from a table whose first column is the key."""
    values = dict(values)
    assert set(values) == {s["__key__"] for s in samples}, "keys of the fixture"
    return [{**s, name: values[s["__key__"]]} for s in samples]


def idx():
    (n,), cut = struct.unpack(">I", gzip.open("images.gz").read()[4:8]), gzip.open("images.gz").read()[16:]
    labels = gzip.open("labels.gz").read()[8:]
    size = len(cut) // n
    return [{"__key__": f"{i:06d}", "image": cut[i * size:(i + 1) * size], "cls": labels[i]} for i in range(n)]


def nested(path):
    """ImageNet's training set, as torchvision unpacks it and ImageFolder numbers its classes; in the order of the tar."""
    with tarfile.open(path) as outer:
        inner = [(m.name[:-4], outer.extractfile(m).read()) for m in outer]
    classes = sorted(name for name, _ in inner)
    return [{"__key__": f"{name}/{m.name[:-5]}", "jpeg": tar.extractfile(m).read(), "cls": classes.index(name)}
            for name, data in inner for tar in [tarfile.open(fileobj=io.BytesIO(data))] for m in tar]


def ground_truth():
    """The labels of ImageNet's val, as torchvision has them: the place of the WordNet name of line N among all, sorted."""
    names = dict(reversed(line.split()) for line in open("synsets.txt"))
    of = {number: sorted(names).index(name) for name, number in names.items()}
    return [of[line.strip()] for line in open("ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt")]


def coco():
    """A picture with its captions and objects, as pycocotools' loadImgs, loadAnns and getAnnIds join them, by file name."""
    read = lambda name: json.load(open(f"annotations/{name}_train2017.json"))
    of = lambda name, i: [a for a in read(name)["annotations"] if a["image_id"] == i]
    keep = "category_id", "bbox", "area", "iscrowd", "segmentation"
    return [{"__key__": i["file_name"], "jpg": pathlib.Path("train2017", i["file_name"]).read_bytes(), "captions": [a["caption"] for a in of("captions", i["id"])],
             "objects": [{k: a[k] for k in keep} for a in of("instances", i["id"])]} for i in sorted(read("captions")["images"], key=lambda i: i["file_name"])]


def side_by_side(key, first, *others):
    """A sample for each file of a directory, with those of the same name in others: each is (field, directory, suffix)."""
    field, directory, suffix = first
    read = lambda d, n, s: pathlib.Path(d, n + s).read_bytes()
    names = sorted(os.path.splitext(n)[0] for n in os.listdir(directory))
    return [{"__key__": key + n, field: read(directory, n, suffix), **{f: read(d, n, s) for f, d, s in others}} for n in names]


def spoken():
    """LJSpeech as its README describes it: id|text|normalized, no quoting."""
    texts = {r[0]: r[1:] for r in table("LJSpeech-1.1/metadata.csv", delimiter="|", quoting=csv.QUOTE_NONE)}
    return [{**s, "text": texts[s["__key__"]][0], "normalized": texts[s["__key__"]][1]} for s in groups("LJSpeech-1.1/wavs")]


def captioned():
    """Conceptual Captions: picture N has the caption of line N."""
    captions = [r[0] for r in table("Train_GCC-training.tsv", delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [{**s, "caption": captions[int(s["__key__"]) - 1]} for s in groups("pictures")]


def train(module="examples"):
    """examples/shapes.py's dataset, iterated."""
    sys.path.insert(0, os.path.realpath(module))
    import shapes as dataset
    return list(dataset.train())


def all_of(*checks):
    for check in checks:
        check()


T, F = "ffconvert tar ", "ffconvert folder "
A = "'shards-{000..009}.tar' new/"

ROWS = {
    # FFRecord
    "ffconvert ffr testdata/ffrecord/three-samples.ffr new/": lambda: same(raw(), [b"hello", b"", b"x" * 1000]),
    "ffconvert verify --aio backend=pread out/": verified,
    "ffconvert verify out/": verified,
    "ffconvert repair out/": repaired,
    r"python3 examples/stream.py shapes:train | ffconvert cbor - new/": lambda: new(train(), cbor2.loads),
    "python3 examples/dump.py shapes:train new/": lambda: new(train()),
    T + "--encode pickle " + A: lambda: new(tars(), pickle.loads),
    F + "--encode pickle:jpg,cls photos/ new/": lambda: new([(s["jpg"], s["cls"]) for s in photos()], pickle.loads),
    T + "--encode cbor " + A: lambda: new(tars(), cbor2.loads),
    T + "--encode arrow shards-000.tar new/": lambda: same(arrow(NODE, *raw()), map(plain, tars(0))),
    "ffconvert cbor --encode raw:image shapes.cbors new/": lambda: same(raw(), [x["image"] for x in cbors()]),
    "ffconvert get out/ '#3'": lambda: same([msgpack.unpackb(BYTES)], tars(0)[3:4]),
    "ffconvert inspect out/": inspected,
    "ffconvert ffr out/ more/ new/": lambda: new(tars(0, 1, 2, 3) + photos()),
    "ffconvert ffr --slice 0:20 out/ new/": lambda: new(tars(0, 1)[:20]),
    "ffconvert pack -v photos/ new.ffr": lambda: same(packed("new.ffr"), files("photos")),
    "ffconvert pack photos/ new.ffr": lambda: same(packed("new.ffr"), files("photos")),
    "ffconvert unpack images.ffr new/": lambda: same(files("new"), files("photos")),
    "ffconvert ls -R images.ffr": lambda: same(listed(OUT), [(name, len(data)) for name, data in files("photos")]),
    "ffconvert cat images.ffr circle/000.jpg > 000.jpg": lambda: same([pathlib.Path("000.jpg").read_bytes()], [pathlib.Path("photos/circle/000.jpg").read_bytes()]),
    T + "--shards 4 " + A: lambda: (new(tars()), same([len(shards())], [4])),
    T + "--dry-run " + A: lambda: (said("shards       1", "samples      120"), same([os.path.exists("new")], [False])),
    F + "--tensor jpg --tensor size=64x64 --encode raw:jpg photos/ new/":
        lambda: near([numpy.frombuffer(r, numpy.uint8).reshape(64, 64, 3) for r in raw()], [pixels(s["jpg"], (64, 64)) for s in photos()]),
    F + "photos/ new/": lambda: new(photos()),
    F + "--encode raw:jpg photos/ new/": lambda: same(raw(), [s["jpg"] for s in photos()]),
    "ffconvert bench read out/ --batch 128 --jobs 4 --batches 100": lambda: said("12,800 samples", "100 batches"),
    F + "--split train,val imagenet/ new/": lambda: [same(records("new/" + side), [{**s, "__key__": f"{side}/{s['__key__']}"} for s in photos("imagenet/" + side, "imagenet/train")]) for side in ("train", "val")],
    T + "--nested ILSVRC2012_img_train.tar new/": lambda: new(nested("ILSVRC2012_img_train.tar")),
    T + "--add-field cls=val.csv ILSVRC2012_img_val.tar new/": lambda: new([{**s, "cls": cls} for s, cls in zip(webdataset("ILSVRC2012_img_val.tar"), ground_truth())]),
    F + "--flat --add-field captions=images.jsonl,objects=images.jsonl train2017/ new/": lambda: new(coco()),
    F + r"--pair 'images/training/(.*)\.jpg=annotations/training/\1.png' ADEChallengeData2016/ new/": lambda: new(side_by_side("images/training/",
        ("jpg", "ADEChallengeData2016/images/training", ".jpg"), ("png", "ADEChallengeData2016/annotations/training", ".png"))),
    F + r"--pair 'image_2/(.*)\.png=label_2/\1.txt' --pair 'image_2/(.*)\.png=calib.txt:calib/\1.txt' --pair 'image_2/(.*)\.png=velodyne/\1.bin' kitti/training/ new/": lambda: new(side_by_side("image_2/",
        ("png", "kitti/training/image_2", ".png"), ("txt", "kitti/training/label_2", ".txt"), ("calib.txt", "kitti/training/calib", ".txt"), ("bin", "kitti/training/velodyne", ".bin"))),
    F + "--flat --group --table columns=id,text,normalized --table delimiter='|' --add-field text=LJSpeech-1.1/metadata.csv,normalized=LJSpeech-1.1/metadata.csv LJSpeech-1.1/wavs/ new/": lambda: new(spoken()),
    F + "--flat --group --unmatched --table columns=key,caption --add-field caption=captions.tsv pictures/ new/": lambda: (new(captioned()), said("1 of its rows", "00000002")),
    F + "--flat --group pairs/ new/": lambda: new(groups("pairs")),
    F + "--flat --group --add-field caption=captions.csv pairs/ new/": lambda: new(added(groups("pairs"), "caption", table("captions.csv")[1:])),
    "ffconvert jsonl described/metadata.jsonl new/": lambda: new([{"__key__": x["file_name"], "file_name": x["file_name"], "jpg": pathlib.Path("described", x["file_name"]).read_bytes(),
        "mask_file_name": x["mask_file_name"], "mask.png": pathlib.Path("described", x["mask_file_name"]).read_bytes()} for x in lines("described/metadata.jsonl")]),
    F + "--split train=0.8,val=0.2 photos/ new/": two_sides,
    F + "--limit 10 photos/ new/": lambda: new(photos()[:10]),
    # WebDataset: sources
    T + "shards-000.tar new/": lambda: new(tars(0)),
    T + "'s3://bucket/train-{000000..000009}.tar' new/": lambda: new(tars()),
    T + "'shards-{000,001}.tar::shards-009.tar' new/": lambda: new(tars(0, 1, 9)),
    T + "@list.txt new/": lambda: new(tars(0, 1, 2)),
    T + "file:shards-000.tar http://host/shards-001.tar new/": lambda: new(tars(0, 1)),
    T + "'gs://images/train-{000000..000001}.tar' 'ais://shards/train-000002.tar' new/": lambda: new(tars(0, 1, 2)),
    T + "--allow-pipe 'pipe:cat shards-000.tar' new/": lambda: new(tars(0)),
    "cat shards-000.tar | ffconvert tar - new/": lambda: new(tars(0)),
    "ffconvert export cbor out/ - > new.cbors": lambda: same(cbors("new.cbors"), tars(0, 1, 2, 3)),
    T + "shards-000.tgz new/": lambda: new(webdataset("shards-000.tgz")),
    "ffconvert cbor shapes.cbors new/": lambda: (new(cbors(), cbor2.loads), same([b"".join(raw())], [pathlib.Path("shapes.cbors").read_bytes()])),
    "ffconvert cbor --format msgpack stream.mp new/": lambda: (new(tars(0, 1, 2, 3)), same([b"".join(raw())], [pathlib.Path("stream.mp").read_bytes()])),
    "ffconvert spec webdataset.yaml new/": lambda: (new(tars(0, 1) + [only(s, "json", "cls") for s in tars(2)]), said("scale", "scaleprob")),
    "ffconvert spec examples/dataset.yaml new/": mixed,
    T + "--nested nested.tar new/": lambda: new([s for s in photos() if s["cls"] == 0]),
    T + "--add-field source=labels.jsonl shards-000.tar new/": lambda: new(added(tars(0), "source", [(x["key"], x["source"]) for x in lines("labels.jsonl")])),
    T + "--cache-dir cache --cache-size 1GiB s3://bucket/train-000000.tar new/": lambda: (new(tars(0)), cached("train-000000.tar", "shards-000.tar")),
    "ffconvert cache ls --cache-dir cache": lambda: (run("ffconvert tar --cache-dir cache shards-000.tgz new"), said("shards-000.tgz", str(os.path.getsize("shards-000.tar")), where=run(COMMAND).decode())),
    "mkdir cache && cp shards-000.tar cache/train-000000.tar && ffconvert tar --cache-dir cache s3://bucket/train-000000.tar new/": lambda: (new(tars(0)), cached("train-000000.tar", "shards-000.tar")),
    # WebDataset: pipeline
    T + A: lambda: new(tars()),
    T + "--shuffle --seed 7 " + A: lambda: (shuffled(records(), tars()), again()),
    T + "--decode " + A: lambda: new(tars(decode=True)),
    T + "--tensor jpg,png --fields 'jpg;png,cls' " + A: lambda: (near([npy(s["npy"]) for s in records()], [pixels(s[picture(s)]) for s in tars()]), same([only(s, "cls") for s in records()], [only(s, "cls") for s in tars()])),
    T + "--fields image --rename 'image=jpg;png' --key '^0=img' shards-000.tar new/": lambda: new([{"__key__": "img" + s["__key__"][1:], "image": s[picture(s)]} for s in tars(0)]),
    T + "--decode --fields cls shards-000.tar new/": lambda: new([only(s, "cls") for s in tars(0, decode=True)]),
    T + "--rename 'image=jpg;png' --fields image,cls " + A: lambda: new([{"__key__": s["__key__"], "image": s[picture(s)], "cls": s["cls"]} for s in tars()]),
    T + "--fields 'jpg;png,cls' --missing skip " + A: lambda: new([only(s, picture(s), "cls") for s in tars()]),
    T + "--where 'cls<5 and jpg.size>1KiB' " + A: lambda: new([s for s in tars() if int(s["cls"]) < 5 and len(s.get("jpg", b"")) > 1024]),
    T + "--slice 10:40:2 " + A: lambda: new(tars()[10:40:2]),
    T + "--sample 0.5 " + A: lambda: new([s for s in tars() if draw(s["__key__"], purpose="sample") < 0.5]),
    T + "--filter 'python3 examples/clean.py' " + A: lambda: new(cleaned()),
    "ffconvert check tar --deep 'shards-{000..009}.tar'": checked,
    "ffconvert ls -l out/": lambda: same(re.findall(r"#(\d+)  (\d{6})  label=(\d)  (\w+)=(\d+)", OUT), [(str(i), s["__key__"], s["cls"].decode(), picture(s), str(len(s[picture(s)]))) for i, s in enumerate(tars(0, 1, 2, 3))]),
    # WebDataset: environment
    "WDS_CACHE=cache WDS_CACHE_SIZE=1e9 ffconvert tar shards-000.tgz new/": lambda: (new(tars(0)), cached("shards-000.tgz", "shards-000.tar")),
    "WDS_REWRITE=gs://bucket/=shards- ffconvert tar 'gs://bucket/{000..001}.tar' new/": lambda: new(tars(0, 1)),
    "USE_AIS_FOR=gs:s3 ffconvert tar s3://bucket/train-000000.tar new/": lambda: new(tars(0)),
    "WDS_TRAIN='shards-{000..003}.tar' ffconvert tar '${TRAIN}' new/": lambda: new(tars(0, 1, 2, 3)),
    "WDS_VERBOSE_CACHE=1 WDS_CACHE=cache ffconvert tar http://host/shards-001.tar new/": lambda: (new(tars(1)), cached("shards-001.tar", "shards-001.tar"), said("# downloading http://", "/shards-001.tar", where=ERR)),
    T + "-v shards-000.tgz new/": lambda: (new(tars(0)), said("index: 12 samples", "PART_00000.ffr: 12 samples", where=ERR)),
    # WebDataset: making shards, tarp, wids
    "tar --sort=name -chf x.tar photos && ffconvert tar x.tar new/": lambda: new([{"__key__": "photos/" + s["__key__"], "jpg": s["jpg"]} for s in photos()]),
    "ffconvert export tar --max-count 7 out/ 'new/train-%06d.tar'": lambda: pieces("new/train-*.tar", 7),
    "ffconvert export tar --max-count 10 out/ 'new/x-%06d.tar'": lambda: pieces("new/x-*.tar", 10),
    F + "--list recipe.txt photos/ new/": lambda: new([{"__key__": "one", "jpg": pathlib.Path("photos/circle/000.jpg").read_bytes(), "cls": b"3"}]),
    "ffconvert export tar out/ more/ 'new/all-%03d.tar'": lambda: same(webdataset(*sorted(glob.glob("new/all-*.tar"))), tars(0, 1, 2, 3) + [{**s, "cls": b"%d" % s["cls"]} for s in photos()]),
    T + "--sort key 'shards-{009..000}.tar' new/": lambda: new(sorted(tars(), key=lambda s: s["__key__"])),
    r"ffconvert ls out/ | head": lambda: same(re.findall(r"^ *\d+  (\d+)  label=(\d)$", OUT, re.M), [(s["__key__"], s["cls"].decode()) for s in tars(0)[:10]]),
    "ffconvert get out/ 000003 cls": lambda: same([BYTES], [tars(0)[3]["cls"]]),
    T + "--decode 'shards-{000..003}.tar' new && ffconvert export jsonl --columns cls new - > lines.json": lambda: same(lines("lines.json"), [only(s, "cls") for s in tars(0, 1, 2, 3, decode=True)]),
    "ffconvert export arrow --columns cls out/ - > new.arrow": lambda: same(arrow(NODE, pathlib.Path("new.arrow").read_bytes()), [plain(only(s, "cls")) for s in tars(0, 1, 2, 3)]),
    "ffconvert get out/ '#5' --format text": lambda: said("#5  000005", *[f"{name}" for name in list(tars(0)[5])[1:]], f"{len(tars(0)[5]['jpg']):,} bytes", where=OUT),
    "ffconvert plan tar " + A: planned,
    # OneFlow
    "ffconvert ofrecord ofrecords/ new/": lambda: new(ofrecords()),
    "ffconvert ofrecord --part count=2 --part prefix=part- --part digits=-1 ofrecords/ new/": lambda: new(ofrecords()),
    "ffconvert ofrecord --continued testdata/ofrecords-cut new/": lambda: new(ofrecords()),
    "ffconvert ofrecord --shuffle --seed 7 ofrecords/ new/": lambda: (shuffled(records(), ofrecords()), again()),
    "ffconvert spec oneflow.yaml new/": lambda: shuffled([list(numpy.frombuffer(r)) for r in raw()], points()),
    "ffconvert csv --dtype float64 points/ new/": lambda: same([list(numpy.frombuffer(r)) for r in raw()], points()),
    "ffconvert csv --columns x,y,z --encode msgpack points/ new/": lambda: new([dict(zip("xyz", row)) for row in points()]),
    "ffconvert ofrecord --lists box,class/label ofrecords/ new/": lambda: new(ofrecords(cls=lambda c: [c])),
    "ffconvert ofrecord --encode raw:encoded ofrecords/ new/": lambda: same(raw(), [data for _, _, data in shapes()]),
    "ffconvert ofrecord --tensor encoded --tensor size=64x64 ofrecords/ new/": lambda: (near([npy(s["encoded.npy"]) for s in records()], [pixels(data, (64, 64)) for _, _, data in shapes()]),
        same([{**s, "encoded.npy": 0} for s in records()], ofrecords("encoded.npy", lambda _: 0))),
    F + "--flat --add-field cls=cls.csv --shards 5 photos/ new/": lambda: (new([{"__key__": name, "jpg": data, "cls": int(dict(table("cls.csv"))[name])} for name, data in files("photos")]), same([len(shards())], [5])),
    "ffconvert ofrecord ofrecords/ new && ffconvert export jsonl new - > lines.json": lambda: same(lines("lines.json"), ofrecords(make=lambda b: {"$bytes": base64.b64encode(b).decode()})),
    r"ffconvert ls -l out/ | head -n 20": lambda: same([len(OUT.splitlines())], [20]),
    "ffconvert jsonl lines.jsonl new/": lambda: new(lines("lines.jsonl")),
    "ffconvert tfrecord --lists image/object/bbox 'tfrecords/shapes-*-of-00002' new/": lambda: new(tfrecords()),
    "ffconvert tfrecord tfrecords/ new/": lambda: new(tfrecords()),
    "ffconvert export jsonl out/ - > new.jsonl": lambda: same(lines("new.jsonl"), [{k: v if k == "__key__" else {"$bytes": base64.b64encode(v).decode()} for k, v in s.items()} for s in tars(0, 1, 2, 3)]),
    "ffconvert ffr --shards 10 out/ new/": lambda: (new(tars(0, 1, 2, 3)), same([len(shards())], [10])),
    # in passing
    "PATH=$PWD/examples:$PATH ffconvert idx images.gz labels.gz new/": lambda: new(idx()),
    "ffconvert parquet images.parquet new/": lambda: new([{"image": b"one", "image.path": "1.jpg", "label": 0}, {"image": b"two", "image.path": "2.jpg", "label": 1}]),
    "ffconvert arrow saved/train new/": lambda: new([{"image": s["jpg"], "image.path": os.path.basename(s["__key__"]) + ".jpg", "label": s["cls"], "box": [s["cls"] / 2, 1.5]} for i, s in enumerate(photos()) if i % 4 < 3]),
}


def check(directory, command, out, err, node):
    """Returns what is wrong, "" if nothing is."""
    global OUT, ERR, NODE, COMMAND, BYTES
    OUT, ERR, NODE, COMMAND, BYTES = out.decode(errors="replace"), err.decode(errors="replace"), node, command, out
    os.chdir(directory)
    if command not in ROWS:
        return "testdata/coverage/rows.py has no check for this command"
    try:
        ROWS[command]()
    except Exception as e:
        return str(e) if isinstance(e, AssertionError) else traceback.format_exc()
    return ""
