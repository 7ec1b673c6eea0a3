// Reads Parquet files with DuckDB, or with Apache's parquet of Rust, and writes their rows in words, a JSON line each: the
// name of the file, then {"error": …} or {"rows": [["name:word", …], …]}. Times are in microseconds.
//   node read.mjs duckdb|rust FILE…
// or those of files of Arrow streams with apache-arrow, each stream behind its size:
//   node read.mjs arrow FILE…
// With "copy" DuckDB runs a statement that writes files:
//   node read.mjs copy SQL
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const [how, ...args] = process.argv.slice(2)
const require = createRequire(join(process.cwd(), "x.js"))

const hex = b => Buffer.from(b).toString("hex")
const float = v => { const b = Buffer.alloc(8); b.writeDoubleBE(v); return "f" + hex(b) }
const scaled = (n, scale) => {
	const digits = String(n < 0n ? -n : n).padStart(scale + 1, "0")
	const cut = digits.length - scale
	return (n < 0n ? "-" : "") + digits.slice(0, cut) + (scale ? "." + digits.slice(cut) : "")
}
const text = s => "t" + hex(s)

// words of a value of DuckDB. Its types say what is a float.
async function duckdb() {
	const d = await import(require.resolve("@duckdb/node-api"))
	const connection = await (await d.DuckDBInstance.create(":memory:")).connect()
	const T = d.DuckDBTypeId
	const words = (t, v) => {
		if (v === null || v === undefined) return "null"
		switch (t.typeId) {
		case T.BOOLEAN: return String(v)
		case T.FLOAT: case T.DOUBLE: return float(v)
		case T.VARCHAR: case T.ENUM: return text(v)
		case T.UUID: return text(v.toString())
		case T.BLOB: return "b" + hex(v.bytes)
		case T.DECIMAL: return text(scaled(v.value, v.scale))
		case T.DATE: return "i" + v.days
		case T.TIME: case T.TIMESTAMP: case T.TIMESTAMP_TZ: return "i" + v.micros
		case T.TIMESTAMP_MS: return "i" + v.millis * 1000n
		case T.TIMESTAMP_NS: case T.TIME_NS: return "i" + v.nanos / 1000n
		case T.LIST: case T.ARRAY: return "[" + v.items.map(x => words(t.valueType, x)).join(",") + "]"
		case T.STRUCT: return "{" + t.entryNames.map((k, i) => text(k) + ":" + words(t.entryTypes[i], v.entries[k])).join(",") + "}"
		case T.MAP: return "{" + v.entries.map(e => words(t.keyType, e.key) + ":" + words(t.valueType, e.value)).join(",") + "}"
		case T.TINYINT: case T.SMALLINT: case T.INTEGER: case T.BIGINT: case T.UTINYINT: case T.USMALLINT: case T.UINTEGER: case T.UBIGINT: return "i" + v
		}
		return "a value of the type " + t
	}
	const read = async path => {
		const r = await connection.runAndReadAll(`SELECT * FROM read_parquet('${path}')`)
		const names = r.columnNames(), types = r.columnTypes()
		return r.getRows().map(row => row.map((v, i) => names[i] + ":" + words(types[i], v)))
	}
	return { read, run: sql => connection.run(sql) }
}

// words of a value of apache-arrow.
function arrowWords(a) {
	const words = (t, v) => {
		if (v === null || v === undefined || a.DataType.isNull(t)) return "null"
		if (a.DataType.isBool(t)) return String(v)
		if (a.DataType.isFloat(t)) return float(v)
		if (a.DataType.isInt(t)) return "i" + v
		if (a.DataType.isUtf8(t)) return text(v)
		if (a.DataType.isBinary(t)) return "b" + hex(v)
		if (a.DataType.isList(t)) return "[" + [...v].map(x => words(t.children[0].type, x)).join(",") + "]"
		if (a.DataType.isStruct(t)) return "{" + t.children.map(f => text(f.name) + ":" + words(f.type, v[f.name])).join(",") + "}"
		if (a.DataType.isMap(t)) {
			const [key, item] = t.children[0].type.children
			return "{" + [...v].map(([k, x]) => words(key.type, k) + ":" + words(item.type, x)).join(",") + "}"
		}
		return "a value of the type " + t
	}
	return table => Array.from({ length: table.numRows }, (_, i) => table.schema.fields.map((f, j) => f.name + ":" + words(f.type, table.getChildAt(j).get(i))))
}

function rust() {
	const a = require("apache-arrow"), p = require("parquet-wasm"), words = arrowWords(a)
	return { read: path => words(a.tableFromIPC(p.readParquet(readFileSync(path)).intoIPCStream())) }
}

// streams reads a file of Arrow streams, each behind its size of 4 bytes, and returns the rows of all.
function streams() {
	const a = require("apache-arrow"), words = arrowWords(a)
	return {
		read: path => {
			const b = readFileSync(path), rows = []
			for (let at = 0; at < b.length;) {
				const n = b.readUInt32LE(at)
				rows.push(...words(a.tableFromIPC(b.subarray(at + 4, at + 4 + n))))
				at += 4 + n
			}
			return rows
		},
	}
}

const reader = how === "rust" ? rust() : how === "arrow" ? streams() : await duckdb()
if (how === "copy") await reader.run(args[0])
else for (const path of args) {
	let says
	try { says = { rows: await reader.read(path) } } catch (e) { says = { error: String(e.message ?? e) || "?" } }
	process.stdout.write(JSON.stringify({ path, ...says }) + "\n")
}
