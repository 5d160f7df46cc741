"""examples.py ROOT FOLDER: writes each C++ block of the documentation into FOLDER as a source file.

A block that does not compile on its own follows an invisible comment with the code around it:

    <!-- around:
    #include <proteus/client.hpp>
    void example(proteus::client::McpServer& server) {
    ...
    }
    -->

where "..." is the place of the block. A comment <!-- not compiled: it needs … --> excludes a block.
"""

import pathlib
import re
import sys

BLOCK = re.compile(
    r"(?:^<!-- around:\n(?P<around>.*?)-->\n+|^<!-- not compiled: (?P<why>[^\n]*) -->\n+)?^```cpp\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PLACE = "...\n"


def main() -> None:
    root, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.cpp"):
        old.unlink()
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = page.read_text()
        for block in BLOCK.finditer(text):
            if block["why"]:
                continue
            line = text.count("\n", 0, block.start("code")) + 1
            code = f'#line {line} "{page}"\n{block["code"]}'
            if block["around"]:
                before, place, after = block["around"].partition(PLACE)
                if not place:
                    sys.exit(f"{page}:{line}: what stands around the block has no place for it")
                code = f"{before}{code}{after}"
            (folder / f"{page.stem}_{line}.cpp").write_text(code)


main()
