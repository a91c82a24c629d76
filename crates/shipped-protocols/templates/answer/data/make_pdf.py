"""Writes documents/run-book.pdf: a small PDF of plain ASCII, so that it can be read in a diff.

Run it in this folder after changing the text. Nothing else is needed.
"""

PAGES = [
    """Run book: partner data exchange

For operations. Valid from the hand-over.

Starting and stopping
The exchange server is started with the service exchange and stopped
with the same. Stop it only between 20:00 and 06:00: partners send
files during the day.

Disk space
Files are kept for 30 days and then deleted by the nightly job.
When the disk is more than 85 percent full, run the job by hand.""",
    """When a file is late

1. Look whether the companion file with the ending done is there.
2. If it is not, call the partner's help desk. The number hangs next
   to the phone in the control room.
3. If it is, read the arrival log. A file that was refused is listed
   with all its faulty rows.

Escalation
After two hours without a file the head of operations is called.
After four hours the project manager informs the sponsor.""",
]


def escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def content(page: str) -> str:
    lines = "\n".join(f"({escaped(line)}) Tj T*" for line in page.splitlines())
    return f"BT\n/F1 11 Tf\n14 TL\n72 760 Td\n{lines}\nET"


def main() -> None:
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(PAGES)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(PAGES)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, page in enumerate(PAGES):
        text = content(page)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    with open("documents/run-book.pdf", "w", encoding="ascii", newline="\n") as file:
        file.write(out)


if __name__ == "__main__":
    main()
