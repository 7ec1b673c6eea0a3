#!/bin/sh
# Makes the datasets of testdata. Needs go, GNU tar, bsdtar, python3 with protobuf and crc32c, gzip, zstd, node
# with apache-arrow as internal/test/need installs it.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C TZ=UTC

go run ./generate .
/usr/bin/python3 generate/tfrecord.py .
/usr/bin/python3 generate/ofrecord.py .
(data=$PWD; cd "${XDG_CACHE_HOME:-$HOME/.cache}/ffconvert-node" && node "$data/generate/arrow.mjs" "$data")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$work" <<'PY'
import os, sys
root = sys.argv[1]
long = "a-directory-whose-name-is-long/" * 4
files = {
    "train/n01/0001.jpg": b"\xff\xd8" + b"first" * 60,
    "train/n01/0001.cls": b"1",
    "train/n01/0002.JPG": b"\xff\xd8" + b"second" * 200,
    "train/n01/0002.cls": b"1",
    "train/n01/0002.seg.png": b"",
    "train/n01/.DS_Store": b"hidden",
    "train/n02/gr\u00fc\u00df-\u6f22\u5b57.jpg": b"\xff\xd8" + b"third" * 100,
    "train/n02/gr\u00fc\u00df-\u6f22\u5b57.cls": b"2",
    "train/n02/README": b"no key",
    long + "0004.jpg": b"\xff\xd8" + b"fourth" * 100,
    long + "0004.cls": b"2",
    "__meta__/info.json": b"{}",
}
with open(os.path.join(root, "..", os.path.basename(root) + ".list"), "w") as out:
    for name, data in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        os.utime(path, (1600000000, 1600000000))
        out.write(name + "\n")
os.symlink("0001.jpg", os.path.join(root, "train/n01/0003.jpg"))
PY
list=$work.list
trap 'rm -rf "$work" "$list"' EXIT
(echo train/n01; cat "$list"; echo train/n01/0003.jpg) > "$list.all" && mv "$list.all" "$list"
find "$work" -exec touch -h -d @1600000000 {} +

plain="--owner=root:0 --group=root:0 --mode=u=rwX,go=rX --mtime=@1600000000 --no-recursion"
for format in gnu oldgnu posix; do
    options=
    test $format != posix || options='--pax-option=delete=atime,delete=ctime,exthdr.name=%d/PaxHeaders/%f'
    tar -C "$work" --format=$format $plain $options -cf tars/gnutar-$format.tar -T "$list"
done
grep -v a-directory "$list" | tar -C "$work" --format=v7 $plain -cf tars/gnutar-v7.tar -T -
for format in ustar gnutar; do
    bsdtar -C "$work" --format=$format --uid 0 --gid 0 --uname root --gname root -n \
        --no-xattrs --no-acls --no-fflags -cf tars/bsdtar-$format.tar -T "$list"
done
# By way of another tar, for want of a way to leave out the time of the last change. In
# the C locale bsdtar cannot tell UTF-8 and writes hdrcharset=BINARY.
LC_ALL=C.UTF-8 bsdtar --format=pax -cf tars/bsdtar-pax.tar @tars/bsdtar-gnutar.tar
bsdtar --format=pax -cf tars/bsdtar-binary.tar @tars/bsdtar-gnutar.tar 2> "$work/warnings" || true
python3 - "$work" "$list" <<'PY'
import os, sys, tarfile
root, names = sys.argv[1], open(sys.argv[2]).read().split("\n")[:-1]
def plain(info):
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
for name, format in (("pax", tarfile.PAX_FORMAT), ("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT)):
    with tarfile.open("tars/python-%s.tar" % name, "w", format=format) as out:
        for n in names:
            out.add(os.path.join(root, n), n, recursive=False, filter=plain)
PY
gzip -9nc shards-000.tar > tars/shards-000.tgz
zstd -19qfc shards-000.tar > tars/shards-000.tar.zst
