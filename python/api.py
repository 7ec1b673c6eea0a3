"""Prints docs/python.md, the public names of the package ffconvert: python3 python/api.py >docs/python.md, or make python-page.

It reads the sources and imports nothing, so every Python from 3.9 on prints the same. A public name without a docstring is an error."""
import ast
import pathlib
import re
import sys
import textwrap

HEAD = """# The Python package

What `import ffconvert` has, by the docstrings of its sources: `make python-page` writes this page.
[training.md](training.md) shows how to use it. An argument after `*` is given by its name.
"""


class Module:
    """A module: the nodes of its names, and where those that it imports are from."""
    loaded = {}

    def __init__(self, name):
        self.loaded[name] = self
        self.source = (pathlib.Path(__file__).parent / "ffconvert" / (name + ".py")).read_text(encoding="utf-8")
        self.lines, self.nodes, self.imports = self.source.splitlines(), {}, {}
        self.add(ast.parse(self.source).body)

    def add(self, body):
        for node in body:
            if isinstance(node, ast.ImportFrom):
                self.imports.update((alias.asname or alias.name, (node, alias.name)) for alias in node.names)
            elif isinstance(node, (ast.If, ast.Try)):  # for types alone, and modules that may be missing
                self.add(node.body)
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                self.nodes[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.nodes[node.targets[0].id] = node

    def find(self, name):
        """The module and the node of a name, which is None if it is not of this package."""
        node, (where, original) = self.nodes.get(name), self.imports.get(name, (None, ""))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            return self.find(node.value.id)
        if node is not None or where is None or not where.level or where.module is None:
            return self, node
        return (self.loaded.get(where.module) or Module(where.module)).find(original)

    def text(self, node):
        return " ".join(ast.get_source_segment(self.source, node).split())

    def comment(self, node):
        """The lines #: above a node."""
        above = re.search(r"(?:^ *#:.*\n)*\Z", "".join(line + "\n" for line in self.lines[:node.lineno - 1]), re.M)[0]
        return " ".join(above.replace("#:", "").split())

    def mention(self, text):
        """Adds to the page what a signature or a type names of this package, and returns the text."""
        found = {name: self.find(name) for name in re.findall(r"\b[A-Z]\w+", text)}
        page.update((name, at) for name, at in found.items() if at[1] is not None and name not in page)
        return text

    def call(self, node, name=""):
        """How a function is called, in one line or a line for each argument. A class has a name, and no result."""
        source = "\n".join(self.lines[node.lineno - 1:node.end_lineno])
        arguments, result = re.match(r"\s*def \w+\((?:self|cls)?(?:, )?(.*?)\)( -> .*?)?:\s*(?:#.*)?$", source, re.S | re.M).groups()
        arguments, end = self.mention(" ".join(arguments.split())), ")" if name else self.mention(")" + (result or "").replace('"', ""))
        line = (name or node.name) + "(" + arguments + end
        return line if len(line) < 120 else line.split("(")[0] + "(\n    " + re.sub(r", (?=\*|\w+:)", ",\n    ", arguments) + "\n" + end


def prose(text, indent=""):
    """A docstring as Markdown: paragraphs are filled, what begins with >>> is code."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        if not block.startswith(">>>"):
            plain = "".join(part if part[:1] == "`" else re.sub(r"([_*<\[\]|])", r"\\\1", part) for part in re.split(r"(`[^`]*`)", " ".join(block.split())))
            block = textwrap.fill(plain, 116, break_long_words=False, break_on_hyphens=False)
        blocks.append(textwrap.indent(block, indent + "    " * block.startswith(">>>")))
    return "\n\n".join(blocks)


def doc(name, node):
    return ast.get_docstring(node) or sys.exit("%s has no docstring" % name)


def inherited(module, node):
    """Where the classes of this package are that a class is made from."""
    return [at for at in (module.find(module.text(base)) for base in node.bases) if at[1] is not None]


def members(module, node, known=frozenset()):
    """What each attribute, property and method of a class is, and its text; those that it inherits in this package, too."""
    for method in (n for n in node.body if isinstance(n, ast.FunctionDef) and n.name not in known):
        if method.name == "__init__":
            for n in ast.walk(method):
                if isinstance(n, ast.AnnAssign) and module.comment(n):
                    yield n.target.attr + ": " + module.mention(module.text(n.annotation)), module.comment(n)
        elif not method.name.startswith("_") or method.name.endswith("__") and ast.get_docstring(method):
            shown = " ".join(module.call(method).split())
            yield shown.replace("() ->", ":") if method.decorator_list else shown, doc(node.name + "." + method.name, method)
    for at in inherited(module, node):
        yield from members(*at, known.union(n.name for n in node.body if isinstance(n, ast.FunctionDef)))


def entry(name, module, node):
    if name != node.name:
        return "Another name of [%s](#%s).\n" % (node.name, node.name.lower())
    if isinstance(node, ast.FunctionDef):
        return "```python\n%s\n```\n\n%s\n" % (module.call(node), prose(doc(name, node)))
    bases = [re.sub(r"^_\w+", lambda m: "%s.%s" % (module.imports[m[0]][0].module, module.imports[m[0]][1]), module.text(b)) for b in node.bases if module.find(module.text(b))[1] is None]
    head = "class " + name + "(%s)" % ", ".join(bases) * bool(bases)
    calls = [module.call(n, name) + "\n" for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    items = ["\n- `%s`:\n%s\n" % ("`\n  `".join(textwrap.wrap(what, 114)), prose(text, "  ")) for what, text in members(module, node)]
    return "```python\n%s\n%s```\n\n%s\n%s" % (head, "".join(calls), prose(doc(name, node)), "".join(items))


init = Module("__init__")
page = {name: init.find(name) for name in sorted(ast.literal_eval(init.nodes["__all__"].value), key=str.lower)}
rows, sections, types = [], [], []
while len(rows) + len(types) < len(page):  # it grows by the types that it names
    name, (module, node) = list(page.items())[len(rows) + len(types)]
    if isinstance(node, ast.Assign):
        types.append("- `%s`:\n%s\n" % (module.text(node), prose(module.comment(node), "  ")))
    else:
        sections.append("## %s\n\n%s" % (name, entry(name, module, node)))
        rows.append("| [%s](#%s) | %s |" % (name, name.lower(), prose(re.split(r"(?<=\.)\s", doc(name, node))[0]).replace("\n", " ")))
lines = [HEAD, "| name | what it is |", "| --- | --- |", *rows, "", *sections, "## Types and limits\n", *types]
sys.stdout.buffer.write("\n".join(lines).encode())
