"""Take pictures of pages of the site in headless Chromium, on a wide and on a narrow screen.

    sphinx-build docs docs/_build/html
    python docs/make_screenshots.py [--site FOLDER] [--out FOLDER] [PAGE …]

Needs the extra `browser` and Debian's package chromium. Pages are named as in the site, such as
`tour` or `api/lang`, or are HTML files, such as `tilec --emit html` writes. The site is
`docs/_build/html` by default, and the pictures go to `docs/_build/screenshots`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

PAGES = ("index", "tour", "pass_tour", "gallery", "layouts", "api/lang")
SIZES = {"wide": {"width": 1400, "height": 900}, "narrow": {"width": 390, "height": 800}}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def take(pages: dict[str, Path], folder: Path, browser: str) -> None:
    """Write a PNG of each page for each size of screen, light and dark."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (an extra)

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, size in SIZES.items():
            for scheme in ("light", "dark"):
                view = running.new_page(viewport=size, color_scheme=scheme)
                for page, file in pages.items():
                    view.goto(file.resolve().as_uri())
                    view.screenshot(path=str(folder / f"{page}-{name}-{scheme}.png"))
        running.close()


def main() -> int:
    """Take them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", default=list(PAGES))
    parser.add_argument("--site", type=Path, default=Path("docs/_build/html"))
    parser.add_argument("--out", type=Path, default=Path("docs/_build/screenshots"))
    arguments = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("error: no chromium: Debian's package chromium has it", file=sys.stderr)
        return 1
    pages: dict[str, Path] = {}
    for page in arguments.pages:
        given = Path(page)
        if given.suffix == ".html":
            pages[given.stem] = given
        else:
            pages[page.replace("/", "-")] = arguments.site / f"{page}.html"
    if missing := [str(file) for file in pages.values() if not file.exists()]:
        print(f"error: there is no {missing[0]}; run sphinx-build first", file=sys.stderr)
        return 1
    take(pages, arguments.out, browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
