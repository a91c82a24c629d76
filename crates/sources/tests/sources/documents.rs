//! Documents as a source: what is found in four languages, what is skipped by name, and limits.

use std::path::Path;

use crate::asking::{Asking, refs};
use countersign_runtime::effect::EffectErrorKind;
use serde_json::{Value, json};

fn put(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn source(folder: &Path) -> Asking {
    Asking::of("doc", "documents", &json!({ "path": "docs" }), folder)
}

/// A PDF of one page whose content stream is given, with the filter that it names.
fn pdf(filter: &str, content: &[u8]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    let mut add = |out: &mut Vec<u8>, body: &[u8]| {
        offsets.push(out.len());
        out.extend(format!("{} 0 obj\n", offsets.len()).bytes());
        out.extend(body);
        out.extend(b"\nendobj\n");
    };
    add(&mut out, b"<< /Type /Catalog /Pages 2 0 R >>");
    add(&mut out, b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>");
    add(
        &mut out,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    );
    add(
        &mut out,
        b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
    );
    let length = content.len();
    let head = format!("<< /Length {length}{filter} >>\nstream\n");
    let stream = [head.as_bytes(), content, b"\nendstream"];
    add(&mut out, &stream.concat());
    let start = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).bytes());
    for offset in &offsets {
        out.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    let size = offsets.len() + 1;
    out.extend(
        format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes(),
    );
    out
}

#[tokio::test]
async fn passages_are_evidence() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "docs/rules/leave.md",
        "# Leave\n\nIntro.\n\n## Holidays\n\nEverybody has thirty holidays a year.\n",
    );
    put(folder.path(), "docs/notes.txt", "Nothing here.\n\nHolidays are booked in March.\n");
    put(folder.path(), "docs/table.csv", "holidays\n");
    put(folder.path(), "docs/.git/x.md", "holidays\n");
    let source = source(folder.path());
    let answer =
        source.ask(json!("How many holidays does everybody have in a year?")).await.unwrap();
    assert_eq!(refs(&answer)[0], "rules/leave.md#holidays");
    assert_eq!(
        answer["items"][0]["snippet"],
        "## Holidays\n\nEverybody has thirty holidays a year."
    );
    assert_eq!(answer["data"][0]["path"], "rules/leave.md");
    assert_eq!(answer["data"][0]["headings"], json!(["Leave", "Holidays"]));
    assert_eq!(answer["items"][0]["confidence"], 1.0);
    let answer = source.ask(json!({ "text": "march", "limit": 1 })).await.unwrap();
    assert_eq!(refs(&answer), ["notes.txt#line=1"]);
    let nothing = source.ask(json!("unicorn")).await.unwrap();
    assert_eq!(nothing, json!({ "items": [], "data": [], "truncated": false, "skipped": [] }));
    let one = source.ask(json!({ "text": "holidays", "limit": 1 })).await.unwrap();
    assert_eq!(one["truncated"], true);
}

#[tokio::test]
async fn what_changes_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "docs/a.md", "alpha");
    let source = source(folder.path());
    let found = async |word: &str| {
        let answer = source.ask(json!(word)).await.unwrap();
        refs(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("alpha").await, ["a.md"]);
    // The same length, and perhaps the same time.
    put(folder.path(), "docs/a.md", "gamma");
    assert_eq!((found("alpha").await, found("gamma").await), (vec![], vec!["a.md".to_owned()]));
    put(folder.path(), "docs/b.md", "gamma");
    assert_eq!(found("gamma").await.len(), 2);
    std::fs::remove_file(folder.path().join("docs/a.md")).unwrap();
    assert_eq!(found("gamma").await, ["b.md"]);
    // An old file that is put in place of another keeps its old time.
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for text in ["delta", "epsilon"] {
        put(folder.path(), "docs/b.md", text);
        let file =
            std::fs::File::options().write(true).open(folder.path().join("docs/b.md")).unwrap();
        file.set_modified(old).unwrap();
        assert_eq!(found(text).await, ["b.md"]);
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_named_and_the_rest_is_found() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "docs/good.md", "alpha");
    put(folder.path(), "docs/broken.pdf", "%PDF-1.7 and nothing more");
    put(folder.path(), "docs/empty.pdf", pdf("", b""));
    put(folder.path(), "docs/latin.txt", b"caf\xe9 alpha");
    put(folder.path(), "docs/large.md", "alpha ".repeat(800_000));
    put(folder.path(), "docs/text.pdf", pdf("", b"BT /F1 12 Tf (alpha in a file) Tj ET"));
    let answer = source(folder.path()).ask(json!("alpha")).await.unwrap();
    let mut found = refs(&answer);
    found.sort_unstable();
    assert_eq!(found, ["good.md", "latin.txt#line=1", "text.pdf#page=1"]);
    assert_eq!(
        answer["skipped"],
        json!([
            { "ref": "broken.pdf", "reason": "is a damaged PDF: couldn't parse input" },
            { "ref": "empty.pdf", "reason": "is a PDF without text: its 1 page is images, such as a scan; images are not read" },
            { "ref": "large.md", "reason": "is larger than 4 MiB" },
        ])
    );
}

#[tokio::test]
async fn a_bomb_is_named() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "docs/bomb.pdf", pdf(" /Filter /FlateDecode", &deflated_zeros(64)));
    put(
        folder.path(),
        "docs/nested.pdf",
        pdf("", &[b"[".repeat(200_000), b" TJ".to_vec()].concat()),
    );
    put(folder.path(), "docs/good.md", "alpha");
    let answer = source(folder.path()).ask(json!("alpha")).await.unwrap();
    assert_eq!(refs(&answer), ["good.md"]);
    let skipped: Vec<&str> = answer["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["ref"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["bomb.pdf", "nested.pdf"]);
    assert_eq!(
        answer["skipped"][0]["reason"],
        "is a PDF that unpacks to more than the limits allow: 16 MiB in one stream, 256 MiB in all pages"
    );
}

/// So many MiB of zeros, packed by hand: a zlib stream of one block with fixed codes, in which
/// every step says "the last byte 258 times more".
fn deflated_zeros(mib: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    let mut put = |value: u32, count: u32, high_first: bool| {
        for at in 0..count {
            let shift = if high_first { count - 1 - at } else { at };
            bits.push(value >> shift & 1 == 1);
        }
    };
    // Last block, fixed codes; then the byte 0.
    put(1, 1, false);
    put(1, 2, false);
    put(0x30, 8, true);
    for _ in 0..mib * 1024 * 1024 / 258 {
        // Length 258 is code 285 (eight bits), distance 1 is code 0 (five bits).
        put(0xC5, 8, true);
        put(0, 5, true);
    }
    put(0, 7, true);
    let mut out = vec![0x78, 0x9C];
    for byte in bits.chunks(8) {
        out.push(byte.iter().enumerate().fold(0, |sum, (at, bit)| sum | u8::from(*bit) << at));
    }
    // The sum of zeros: its low half stays 1, its high half counts the bytes.
    let count = 1 + mib * 1024 * 1024 / 258 * 258;
    out.extend(((((count % 65_521) << 16) | 1) as u32).to_be_bytes());
    out
}

#[tokio::test]
async fn a_question_or_a_folder_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "docs/a.md", "alpha");
    let good = source(folder.path());
    for query in [
        json!(null),
        json!(""),
        json!("?!"),
        json!({ "q": "x" }),
        json!({ "text": "x", "more": 1 }),
        json!({ "text": "x", "limit": 51 }),
        json!({ "text": "x", "limit": 0 }),
        json!("x".repeat(3_000)),
    ] {
        assert_eq!(good.refused(query.clone()).await.0, EffectErrorKind::Invalid, "{query}");
    }
    for (settings, said) in [
        (json!({}), "has no `path` or `path_env`; expected a folder"),
        (json!({ "path": "gone" }), "has no folder at its path"),
        (json!({ "path": "docs/a.md" }), "has a folder that cannot be opened"),
        (json!({ "path": "../docs" }), "has a `path` outside the working folder"),
        (json!({ "path": "/etc" }), "has a `path` outside the working folder"),
        (json!({ "path": "docs", "limit": 0 }), "has a `limit` that is not a number from 1 to 50"),
        (json!({ "path": "docs", "paths": "x" }), "did you mean `path`?"),
    ] {
        let (kind, text) =
            Asking::of("doc", "documents", &settings, folder.path()).refused(json!("x")).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured);
        assert!(text.contains(said), "{text}");
    }
}

#[tokio::test]
async fn too_many_files_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..2_001 {
        put(folder.path(), &format!("docs/{number}.md"), "x");
    }
    let (kind, text) = source(folder.path()).refused(json!("x")).await;
    assert_eq!(
        (kind, text.as_str()),
        (EffectErrorKind::TooLarge, "source `doc` has more than 2000 files")
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "secret/s.md", "canary");
    put(folder.path(), "work/docs/a.md", "alpha");
    let work = folder.path().join("work");
    symlink("../../secret/s.md", work.join("docs/link.md")).unwrap();
    symlink(".", work.join("docs/circle")).unwrap();
    symlink(folder.path().join("secret"), work.join("out")).unwrap();
    let nothing = source(&work).ask(json!("canary")).await.unwrap();
    assert_eq!(nothing["items"], Value::Array(vec![]));
    let out = Asking::of("doc", "documents", &json!({ "path": "out" }), &work);
    assert_eq!(out.refused(json!("canary")).await.0, EffectErrorKind::NotConfigured);
}
