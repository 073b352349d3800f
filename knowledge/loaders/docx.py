"""Word documents, by way of HTML: headings, lists, tables, text boxes and footnotes; tracked changes as accepted."""

import io
from datetime import UTC, datetime

from knowledge.errors import DocumentUnreadable
from knowledge.loaders import archives, dated
from knowledge.loaders.conversion import to_markdown
from knowledge.loaders.loaded import Loaded, titled
from knowledge.loaders.markdown import first_heading

STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"


def load(name: str, content: bytes) -> Loaded:
    archives.check(content)
    import mammoth

    html = mammoth.convert_to_html(
        io.BytesIO(content), style_map=STYLES, convert_image=mammoth.images.img_element(lambda _image: {"src": ""})
    ).value
    markdown = to_markdown(html)
    if not markdown.strip():
        raise DocumentUnreadable("empty", "the document has no text")
    return Loaded(
        title=titled(name, first_heading(markdown)),
        markdown=markdown,
        updated_at=dated.of_archive(content, datetime.now(UTC)),
    )
