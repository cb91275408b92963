"""A page of the built site, opened in a browser of its own."""

from autograder.lesson import list_lessons

LANGS = ("zh", "en")


class Visit:
    """A page opened in a context of its own; remembers requests to other hosts, failed loads and console errors."""

    def __init__(self, site, path, width=1300, scheme="light", **options):
        self.address, browser = site
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        self.page = self.context.new_page()
        self.outside, self.errors = [], []
        self.page.on(
            "request",
            lambda r: self.outside.append(r.url) if not r.url.startswith((self.address, "data:", "blob:")) else None,
        )
        self.page.on("response", lambda r: self.errors.append(f"{r.status} {r.url}") if r.status >= 400 else None)
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.goto(self.address + path)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.context.close()


def all_pages(lang):
    """Every page of a language but the kernels' sources, of which there are two kinds."""
    return (
        [f"{lang}/{page}.html" for page in ("index", "404", "kernels/index", "kernels/gemm_cuh")]
        + [f"{lang}/{page}/index.html" for page in ("overview", "foreign", "write", "claims", "glossary")]
        + [f"{lang}/{p.name}/{page}.html" for p in list_lessons() for page in ("index", "accuracy")]
    )
