# ffconvert tar --filter 'python3 examples/clean.py' 'testdata/shards-{000..009}.tar' out/
import sys
import cbor2 # pip install cbor2

while True:
    try:
        sample = cbor2.load(sys.stdin.buffer)
    except cbor2.CBORDecodeEOF:
        break
    label = int(sample["cls"])
    answer = {**sample, "cls": label} if label else [] # class 0 is dropped, of others cls becomes a number
    cbor2.dump(answer, sys.stdout.buffer)
    sys.stdout.buffer.flush()
