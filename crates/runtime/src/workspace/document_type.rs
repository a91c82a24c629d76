//! Compares the content of a document with the type that its name claims, where its first bytes
//! tell.

/// Number of bytes at the beginning of a document that its type is read from.
pub(crate) const TYPE_PROBE_BYTES: usize = 1_024;

/// Signatures of binary formats: extensions, the bytes that the content begins with, and the name
/// of the format. One of the signatures of an extension must match.
const SIGNATURES: [(&[&str], &[u8], &str); 7] = [
    (&["pdf"], b"%PDF", "a PDF document"),
    (&["docx", "xlsx", "pptx", "odt", "ods", "odp", "zip"], b"PK", "a ZIP archive"),
    (&["png"], b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (&["jpg", "jpeg"], b"\xff\xd8\xff", "a JPEG image"),
    (&["gif"], b"GIF8", "a GIF image"),
    (&["doc", "xls", "ppt"], b"\xd0\xcf\x11\xe0", "an Office document of the old format"),
    (&["gz"], b"\x1f\x8b", "a gzip archive"),
];

/// Extensions of text files.
const TEXT_EXTENSIONS: [&str; 10] =
    ["md", "markdown", "txt", "csv", "tsv", "json", "yaml", "yml", "xml", "html"];

/// Why the beginning of a document does not fit its name: what was expected, and what was found.
pub(crate) struct DocumentTypeMismatch {
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// Checks that the first bytes of a document, at most [`TYPE_PROBE_BYTES`], fit the extension of
/// its name. An unknown extension fits everything.
pub(crate) fn check_document_type(name: &str, first: &[u8]) -> Result<(), DocumentTypeMismatch> {
    let Some((_, extension)) = name.rsplit_once('.') else { return Ok(()) };
    let extension = extension.to_ascii_lowercase();
    let mismatch = |what: &str| DocumentTypeMismatch {
        expected: format!("{what}, because the name ends with `.{extension}`"),
        found: describe_content(first).to_owned(),
    };
    if let Some((_, signature, what)) =
        SIGNATURES.iter().find(|(names, ..)| names.contains(&extension.as_str()))
    {
        // Some programs write a few bytes before the header of a PDF, and readers accept that.
        let fits = match *signature {
            b"%PDF" => first.windows(signature.len()).any(|part| part == *signature),
            _ => first.starts_with(signature),
        };
        return if fits { Ok(()) } else { Err(mismatch(what)) };
    }
    // UTF-16 has NULs, and begins with a byte-order mark.
    let is_utf16 = first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff");
    if TEXT_EXTENSIONS.contains(&extension.as_str()) && first.contains(&0) && !is_utf16 {
        return Err(mismatch("a text"));
    }
    Ok(())
}

fn describe_content(first: &[u8]) -> &'static str {
    let known = SIGNATURES.iter().find(|(_, signature, _)| first.starts_with(signature));
    match known {
        Some((.., what)) => what,
        None if first.is_empty() => "an empty file",
        None if first.contains(&0) => "other binary data",
        None => "other content",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, first: &[u8], expected: Option<&str>) {
        let found = check_document_type(name, first).err();
        assert_eq!(found.map(|one| one.found).as_deref(), expected, "{name}");
    }

    #[test]
    fn a_document_is_of_the_type_that_its_name_claims() {
        check("a.pdf", b"%PDF-1.7", None);
        check("a.PDF", b"\xef\xbb\xbf%PDF-1.7", None);
        check("a.pdf", b"# Text", Some("other content"));
        check("a.pdf", b"", Some("an empty file"));
        check("a.docx", b"PK\x03\x04", None);
        check("a.docx", b"%PDF-1.7", Some("a PDF document"));
        check("a.md", "# Дело".as_bytes(), None);
        check("a.md", b"", None);
        check("a.md", b"\xff\xfea\0", None);
        check("a.md", b"\x89PNG\r\n\x1a\n\0", Some("a PNG image"));
        check("a.txt", b"MZ\0\0", Some("other binary data"));
        check("a.dat", b"\0", None);
        check("noextension", b"\0", None);
    }
}
