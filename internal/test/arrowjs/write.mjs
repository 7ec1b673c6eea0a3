// Writes files of odd rows with libraries of others, and the rows in words.
//   node write.mjs WHAT ROWS DIR
// WHAT is parquet, flat, or arrow. The libraries are found from the working directory.
import { createRequire } from "node:module"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [what, count, dir] = process.argv.slice(2)
const require = createRequire(join(process.cwd(), "x.js"))
const N = Number(count)

// Random numbers that are the same in every run.
let seed = 12345
const random = () => {
	seed = (seed + 0x6d2b79f5) | 0
	let x = Math.imul(seed ^ (seed >>> 15), seed | 1)
	x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
	return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
}
const below = n => Math.floor(random() * n)
const pick = list => list[below(list.length)]

const letters = ["a", "Z", "0", " ", "é", "ß", "漢", "字", "🙂", "\u0000", "\n", "\"", "\u202e", "e\u0301"]
const text = (most = 12) => Array.from({ length: below(most) }, () => pick(letters)).join("")
const bytes = n => Uint8Array.from({ length: n }, () => below(256))
const blob = () => { const d = below(1000); return d < 2 ? bytes(200000 + below(100000)) : d < 100 ? bytes(0) : bytes(below(40)) }
const int = bits => () => { // extreme numbers and small ones
	const most = 1n << BigInt(bits - 1)
	return pick([0n, 1n, -1n, most - 1n, -most, BigInt(below(100)) % most, BigInt(below(100))  - 50n])
}
const uint = bits => () => pick([0n, 1n, (1n << BigInt(bits)) - 1n, 1n << BigInt(bits - 1), BigInt(below(100))])
const small = f => () => Number(f())
const doubles = [0, -0, 1, -1.5, Math.PI, 1e308, -1e308, 5e-324, Infinity, -Infinity, 2 ** 53 + 2]
const floats = doubles.map(Math.fround)
const halves = [0, 1, -1.5, 65504, 2 ** -24, Infinity]

// Words of values, one way for each.
const hex = b => Buffer.from(b).toString("hex")
const w = {
	int: v => "i" + v,
	float: v => { const b = Buffer.alloc(8); b.writeDoubleBE(v); return "f" + hex(b) },
	text: v => "t" + hex(v),
	bytes: v => "b" + hex(v),
	bool: v => String(v),
	list: of => v => "[" + v.map(x => word(of, x)).join(",") + "]",
	struct: of => v => "{" + Object.keys(of).map(k => "t" + hex(k) + ":" + word(of[k], v[k])).join(",") + "}",
	map: of => v => "{" + [...v].map(([k, x]) => "t" + hex(k) + ":" + word(of, x)).join(",") + "}",
}
const word = (f, v) => v === null || v === undefined ? "null" : f(v)

// maybe makes a value null now and then.
const maybe = f => () => random() < 0.15 ? null : f()
const list = (f, most = 4) => () => Array.from({ length: below(most) }, f)

function columns(a) {
	const f = (name, type, words, make, nullable = true) => ({ name, type, words, make: nullable ? maybe(make) : make, nullable })
	const field = (name, type, nullable = true) => new a.Field(name, type, nullable)
	const listOf = (type, name = "item") => new a.List(field(name, type))
	const media = new a.Struct([field("bytes", new a.Binary()), field("path", new a.Utf8())])
	const point = new a.Struct([field("x", new a.Float64()), field("tags", listOf(new a.Utf8()))])
	const pair = new a.Struct([field("a", new a.Int32()), field("b", new a.Utf8())])
	const cols = [
		f("i8", new a.Int8(), w.int, small(int(8))), f("i16", new a.Int16(), w.int, small(int(16))),
		f("i32", new a.Int32(), w.int, small(int(32))), f("i64", new a.Int64(), w.int, int(64)),
		f("u8", new a.Uint8(), w.int, small(uint(8))), f("u16", new a.Uint16(), w.int, small(uint(16))),
		f("u32", new a.Uint32(), w.int, small(uint(32))), f("u64", new a.Uint64(), w.int, uint(64)),
		f("f32", new a.Float32(), w.float, () => pick(floats)), f("f64", new a.Float64(), w.float, () => pick(doubles)),
		f("flag", new a.Bool(), w.bool, () => random() < 0.5), f("text", new a.Utf8(), w.text, text),
		f("need", new a.Int32(), w.int, small(int(32)), false), f("blob", new a.Binary(), w.bytes, blob),
		f("five", new a.FixedSizeBinary(5), w.bytes, () => bytes(5)),
		f("day", new a.DateDay(), v => w.int(Math.floor(v.getTime() / 86400000)), () => new Date(86400000 * (below(40000) - 20000))),
		f("when", new a.TimestampMillisecond(), w.int, () => below(2 ** 31) * 1000 + below(1000)),
		f("word", new a.Dictionary(new a.Utf8(), new a.Int32()), w.text, () => pick(["", "cat", "dog", "漢"])),
		f("ints", listOf(new a.Int32()), w.list(w.int), list(maybe(small(int(32))))),
		f("lists", listOf(listOf(new a.Float64())), w.list(w.list(w.float)), list(maybe(list(maybe(() => pick(doubles)))))),
		f("pair", pair, w.struct({ a: w.int, b: w.text }), () => ({ a: maybe(small(int(32)))(), b: maybe(text)() })),
		f("points", listOf(point), w.list(w.struct({ x: w.float, tags: w.list(w.text) })),
			list(maybe(() => ({ x: maybe(() => pick(doubles))(), tags: maybe(list(maybe(text)))() })))),
		f("table", new a.Map_(new a.Field("entries", new a.Struct([field("key", new a.Utf8(), false), field("value", new a.Int64())]), false)),
			w.map(w.int), () => new Map(Array.from({ length: below(4) }, (_, i) => ["k" + i, maybe(int(64))()]))),
		f("image", media, null, () => ({ bytes: blob(), path: maybe(() => text(6) + ".jpg")() })),
	]
	return cols
}

// rows makes the values of columns, and the file of words: a JSON list of "name:word" a line, the key first.
function rows(cols) {
	const all = cols.map(() => [])
	const keys = []
	const lines = []
	for (let i = 0; i < N; i++) {
		const line = ["k" + i + text(3)]
		keys.push(line[0])
		cols.forEach((c, j) => {
			const v = c.make()
			all[j].push(v)
			if (c.words) line.push(c.name + ":" + word(c.words, v))
			else line.push(c.name + ":" + word(w.bytes, v?.bytes), c.name + ".path:" + word(w.text, v?.path))
		})
		lines.push(JSON.stringify(line))
	}
	writeFileSync(join(dir, "rows"), lines.join("\n") + "\n")
	return { all, keys }
}

const features = JSON.stringify({ info: { features: { need: { names: ["cat", "dog"], _type: "ClassLabel" } } } })

function table(a) {
	const cols = columns(a)
	const { all, keys } = rows(cols)
	const fields = [new a.Field("__key__", new a.Utf8(), false), ...cols.map(c => new a.Field(c.name, c.type, c.nullable))]
	const vectors = [a.vectorFromArray(keys, new a.Utf8()), ...cols.map((c, j) => a.vectorFromArray(all[j], c.type))]
	const schema = new a.Schema(fields, new Map([["huggingface", features]]))
	const data = vectors.map(v => v.data)
	const batches = []
	for (let i = 0; i < data[0].length; i++) {
		const children = data.map(d => d[i])
		batches.push(new a.RecordBatch(schema, a.makeData({ type: new a.Struct(schema.fields), length: children[0].length, nullCount: 0, children })))
	}
	return new a.Table(schema, batches)
}

if (what === "arrow") {
	const a = require("apache-arrow")
	const t = table(a)
	// Several batches, so that runs begin inside them.
	const parts = []
	for (let at = 0; at < N; at += 700) parts.push(t.slice(at, Math.min(N, at + 700)))
	const batches = parts.flatMap(p => p.batches)
	const many = new a.Table(t.schema, batches)
	for (const form of ["file", "stream"]) writeFileSync(join(dir, form + ".arrow"), a.tableToIPC(many, form))
	writeFileSync(join(dir, "whole.arrow"), a.tableToIPC(t, "file"))
	// Written again by Apache's arrow of Rust, which aligns buffers otherwise.
	const p = require("parquet-wasm")
	writeFileSync(join(dir, "rust.arrow"), p.Table.fromIPCStream(a.tableToIPC(many, "stream")).intoIPCStream())
}

if (what === "parquet") {
	const a = require("apache-arrow")
	const p = require("parquet-wasm")
	const ipc = a.tableToIPC(table(a), "stream")
	const write = (name, set) => {
		const props = set(new p.WriterPropertiesBuilder().setKeyValueMetadata(new Map([["huggingface", features]]))).build()
		writeFileSync(join(dir, name + ".parquet"), p.writeParquet(p.Table.fromIPCStream(ipc), props))
	}
	const { Compression: C, Encoding: E, WriterVersion: V } = p
	write("plain", b => b.setCompression(C.UNCOMPRESSED).setDictionaryEnabled(false).setMaxRowGroupSize(1300).setDataPageSizeLimit(20000).setWriteBatchSize(64))
	write("plain2", b => b.setCompression(C.UNCOMPRESSED).setDictionaryEnabled(false).setWriterVersion(V.V2).setDataPageSizeLimit(20000).setWriteBatchSize(64))
	write("words", b => b.setCompression(C.UNCOMPRESSED).setMaxRowGroupSize(1300).setDataPageSizeLimit(20000).setWriteBatchSize(64))
	write("snappy", b => b.setCompression(C.SNAPPY).setMaxRowGroupSize(3000))
	write("gzip", b => b.setCompression(C.GZIP).setWriterVersion(V.V2).setMaxRowGroupSize(700).setDataPageSizeLimit(4000).setWriteBatchSize(32))
	write("lz4", b => b.setCompression(C.LZ4_RAW).setDictionaryPageSizeLimit(100).setWriteBatchSize(16))
	write("zstd", b => b.setCompression(C.ZSTD).setDictionaryEnabled(false).setWriterVersion(V.V2)
		.setColumnEncoding("i32", E.DELTA_BINARY_PACKED).setColumnEncoding("i64", E.DELTA_BINARY_PACKED).setColumnEncoding("u64", E.DELTA_BINARY_PACKED)
		.setColumnEncoding("need", E.DELTA_BINARY_PACKED).setColumnEncoding("when", E.DELTA_BINARY_PACKED).setColumnEncoding("flag", E.RLE)
		.setColumnEncoding("text", E.DELTA_BYTE_ARRAY).setColumnEncoding("five", E.DELTA_BYTE_ARRAY).setColumnEncoding("word", E.DELTA_BYTE_ARRAY)
		.setColumnEncoding("blob", E.DELTA_LENGTH_BYTE_ARRAY).setColumnEncoding("f64", E.BYTE_STREAM_SPLIT).setColumnEncoding("f32", E.BYTE_STREAM_SPLIT))
	write("brotli", b => b.setCompression(C.BROTLI))
}

if (what === "flat") {
	// hyparquet-writer is an ES module.
	const at = join(process.cwd(), "node_modules", "hyparquet-writer", "src", "index.js")
	const { parquetWriteBuffer } = await import(pathToFileURL(at))
	const f = (name, type, words, make, more = {}) => ({ name, type, words, make: more.nullable === false ? make : maybe(make), more })
	const cols = [
		f("flag", "BOOLEAN", w.bool, () => random() < 0.5), f("i32", "INT32", w.int, small(int(32)), { encoding: "DELTA_BINARY_PACKED" }),
		f("i64", "INT64", w.int, int(64)), f("f32", "FLOAT", w.float, () => pick(floats), { encoding: "BYTE_STREAM_SPLIT" }),
		f("f64", "DOUBLE", w.float, () => pick(doubles) + 0), f("half", "FLOAT16", w.float, () => pick(halves)),
		f("text", "STRING", w.text, text), f("long", "STRING", w.text, () => text(400), { encoding: "DELTA_LENGTH_BYTE_ARRAY" }),
		f("blob", "BYTE_ARRAY", w.bytes, blob), f("need", "INT32", w.int, small(int(32)), { nullable: false }),
		f("when", "TIMESTAMP", v => w.int(v.getTime()), () => new Date(below(2 ** 31) * 1000 + below(1000))),
		f("id", "UUID", w.text, () => "01234567-89ab-cdef-0123-" + String(below(1e12)).padStart(12, "0")),
	]
	const { all, keys } = rows(cols)
	const columnData = [{ name: "__key__", type: "STRING", data: keys, nullable: false }, ...cols.map((c, j) => ({ name: c.name, type: c.type, data: all[j], ...c.more }))]
	writeFileSync(join(dir, "snappy.parquet"), Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: 3000, pageSize: 20000 })))
	writeFileSync(join(dir, "plain.parquet"), Buffer.from(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED", rowGroupSize: [100, 4000] })))
}
