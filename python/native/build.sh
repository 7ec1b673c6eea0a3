#!/bin/sh
# Builds the native helper: python/native/build.sh PLATFORM FILE [FLAGS]
#
# PLATFORM is linux-amd64 or linux-arm64. FLAGS go to the compiler, such as -fsanitize=address. It needs gcc and libdeflate.a of that
# machine: of Debian libdeflate-dev, and for another machine crossbuild-essential-arm64 and libdeflate-dev:arm64 (or amd64).
# Equal tools make equal bytes. No C library is named in FILE, so that any Linux loads it.
set -eu
platform=$1 file=$2
shift 2
case $platform in
linux-amd64) machine=x86_64-linux-gnu complete=-Wl,-z,defs ;;
linux-arm64) machine=aarch64-linux-gnu complete=-mno-outline-atomics ;; # not complete: there libdeflate reads /proc/self/auxv, by open and read of the process, glibc's or musl's
*) echo "$platform: there is no native helper for it" >&2; exit 1 ;;
esac
compiler=$machine-gcc
command -v "$compiler" >/dev/null || { echo "$compiler is missing: install gcc for $machine, of Debian gcc-$(echo $machine | tr _ -)" >&2; exit 1; }
library=$("$compiler" -print-file-name=libdeflate.a)
[ -f "$library" ] || { echo "libdeflate.a for $machine is missing: install libdeflate-dev of Debian, for another machine with its name behind a colon" >&2; exit 1; }
sanitized=no
case "$*" in *-fsanitize*) sanitized=yes ;; esac
if [ $sanitized = no ]; then
	set -- -nostdlib -fno-stack-protector -ffreestanding -s "$@"
fi
"$compiler" -std=gnu11 -O3 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -Wl,--build-id=none -Wl,--exclude-libs,ALL -Wl,-z,noexecstack $complete \
	-o "$file" "$(dirname "$0")/read.c" "$library" "$@"
