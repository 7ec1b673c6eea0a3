#!/bin/sh
# Builds ffconvert from a checkout, and checks, converts and verifies the tars of data/: for any CI that has Go and git.
# FFCONVERT_SOURCE is the repository, a URL or a directory; FFCONVERT_COMMIT is a commit or a tag of it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet "${FFCONVERT_SOURCE:-https://github.com/ffconvert/ffconvert}" "$work/source"
git -C "$work/source" checkout --quiet --detach "${FFCONVERT_COMMIT:-HEAD}"
(cd "$work/source" && CGO_ENABLED=0 go build -trimpath -o "$work/ffconvert" ./cmd/ffconvert)
"$work/ffconvert" check tar --format junit 'data/*.tar' > check.xml
"$work/ffconvert" tar --progress plain 'data/*.tar' out/
"$work/ffconvert" verify --format junit out/ > verify.xml
