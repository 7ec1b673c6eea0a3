// Writes the pictures of shapes/ as save_to_disk of Hugging Face's datasets lays them out, by npm's apache-arrow: saved/ is a
// DatasetDict of train, two streams and a file that map has left, and test, a file.
//   cd ~/.cache/ffconvert-node && node …/generate/arrow.mjs DIR
import { createRequire } from "node:module"
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

const dir = process.argv[2]
const a = createRequire(join(process.cwd(), "x.js"))("apache-arrow")
const classes = ["circle", "glyphs", "stripes"]
const pictures = classes.flatMap((name, label) => readdirSync(join(dir, "shapes", name)).sort().map(f =>
	({ image: { bytes: readFileSync(join(dir, "shapes", name, f)), path: basename(f) }, label: BigInt(label), box: [label / 2, 1.5] })))
const features = { image: { _type: "Image" }, label: { names: classes, _type: "ClassLabel" }, box: { feature: { dtype: "float32", _type: "Value" }, _type: "Sequence" } }

const media = new a.Struct([new a.Field("bytes", new a.Binary(), true), new a.Field("path", new a.Utf8(), true)])
const types = { image: media, label: new a.Int64(), box: new a.List(new a.Field("item", new a.Float32(), true)) }
const schema = new a.Schema(Object.entries(types).map(([k, t]) => new a.Field(k, t, true)), new Map([["huggingface", JSON.stringify({ info: { features } })]]))

function write(path, rows, form) {
	const batches = []
	for (let at = 0; at < rows.length; at += 5) {
		const some = rows.slice(at, at + 5)
		const children = Object.entries(types).map(([k, t]) => a.vectorFromArray(some.map(r => r[k]), t).data[0])
		batches.push(new a.RecordBatch(schema, a.makeData({ type: new a.Struct(schema.fields), length: some.length, nullCount: 0, children })))
	}
	writeFileSync(path, a.tableToIPC(new a.Table(schema, batches), form))
}

function save(split, form, ...parts) {
	const to = join(dir, "saved", split)
	mkdirSync(to, { recursive: true })
	const names = parts.map((_, i) => `data-${String(i).padStart(5, "0")}-of-${String(parts.length).padStart(5, "0")}.arrow`)
	parts.forEach((rows, i) => write(join(to, names[i]), rows, form))
	const state = { _data_files: names.map(filename => ({ filename })), _fingerprint: "0123456789abcdef", _format_columns: null, _format_kwargs: {}, _format_type: null, _output_all_columns: false, _split: split }
	writeFileSync(join(to, "state.json"), JSON.stringify(state, null, 2))
	writeFileSync(join(to, "dataset_info.json"), JSON.stringify({ citation: "", description: "", features, homepage: "", license: "" }, null, 2))
}

const even = pictures.filter((_, i) => i % 4 < 3), rest = pictures.filter((_, i) => i % 4 === 3)
save("train", "stream", even.slice(0, 11), even.slice(11))
save("test", "file", rest)
write(join(dir, "saved/train/cache-0123456789abcdef.arrow"), pictures.slice(0, 1), "stream")
writeFileSync(join(dir, "saved/dataset_dict.json"), JSON.stringify({ splits: ["train", "test"] }))
