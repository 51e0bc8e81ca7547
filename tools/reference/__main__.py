"""Write the reference pages, or with ``--check`` say which are out of date."""

import sys
from pathlib import Path

from tools.reference.pages import pages

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


def main() -> int:
    made = pages()
    stale = [name for name, text in made.items() if not _is(FOLDER / name, text)]
    extra = [file for file in FOLDER.glob("*.md") if file.name not in made]
    if "--check" in sys.argv[1:]:
        print("\n".join([*stale, *(file.name for file in extra)]) or "up to date")
        return 1 if stale or extra else 0
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(made[name], encoding="utf-8", newline="\n")
    for file in extra:
        file.unlink()
    print(f"{len(made)} pages, {len(stale)} changed, {len(extra)} removed")
    return 0


def _is(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
