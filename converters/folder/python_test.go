package folder

// What FORMATS says of folders, by os.walk.
const pythonFolder = `
import json, os, re

def suffix_of(path, flat, group):
    """Key and field of a file."""
    if flat and not group:
        ext = os.path.splitext(path)[1]
        return path, ext[1:].lower() or "data"
    match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]*)$", path)
    return (match.group(1), match.group(2).lower()) if match else (path, "data")

def walk(top, prefix, o):
    """All files below top, and what is skipped for being hidden."""
    files, skipped = [], []
    for where, dirs, names in os.walk(top, followlinks=True):
        here = prefix + (os.path.relpath(where, top) + "/" if where != top else "")
        if not o["hidden"]:
            for d in [d for d in dirs if d.startswith(".")]:
                dirs.remove(d)
                skipped.append("hidden file" if os.path.islink(os.path.join(where, d)) else "hidden directory")
            skipped += ["hidden file" for n in names if n.startswith(".")]
            names = [n for n in names if not n.startswith(".")]
        files += [here + n for n in names]
    return files, skipped

def reply(request):
    o = json.loads(request)
    root = o["root"]
    tops = [(os.path.join(root, s), s + "/") for s in o["splits"]] if o["splits"] else [(root, "")]
    classes = sorted({d for top, _ in tops for d in os.listdir(top)
        if os.path.isdir(os.path.join(top, d)) and (o["hidden"] or not d.startswith("."))})
    samples, skips, waived = [], [], 0
    for top, prefix in tops:
        files, skipped = walk(top, prefix, o)
        skips += skipped
        found, seen = {}, {}
        for path in sorted(files):
            inner = path[len(prefix):]
            if not o["flat"] and "/" not in inner:
                skips.append("file outside a class")
                continue
            if o["ext"] and not any(path.lower().endswith("." + e) for e in o["ext"]):
                skips.append("extension not selected")
                continue
            key, field = suffix_of(path, o["flat"], o["group"])
            stem = "." in os.path.basename(path) and key != path
            with open(os.path.join(root, path), "rb") as f:
                data = f.read().hex()
            if o["group"] and stem and (key, "grouped") in found:
                sample = found[key, "grouped"]
            else:
                if key in seen:
                    if not o["keep"]:
                        return {"error": "duplicate"}
                    waived += 1
                seen[key] = True
                sample = found[key, "grouped" if o["group"] and stem else path] = [key, []]
                samples.append(sample)
            if field in [name for name, _ in sample[1]] or not o["flat"] and field == "cls":
                return {"error": "duplicate"}
            sample[1].append([field, data])
            if len(sample) == 2 and not o["flat"]:
                sample.append(classes.index(inner.split("/")[0]))
    counts = {reason: skips.count(reason) for reason in set(skips)}
    if waived:
        counts["key that came back"] = waived
    return {"samples": samples, "skipped": counts, "classes": [] if o["flat"] else classes}
`
