//! The files of the page, as they lie in the binary. Not here: who asks for them.

use std::borrow::Cow;

use rust_embed::Embed;

/// Everything in `crates/server/web`. A program that is not optimised reads the folder instead, so that a change
/// of the page needs no build.
#[derive(Embed)]
#[folder = "web/"]
struct Files;

/// A file of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its bytes.
    pub bytes: Cow<'static, [u8]>,
    /// What it is.
    pub content_type: &'static str,
    /// Changes when the bytes do.
    pub etag: String,
}

/// A file by its path in the folder.
#[must_use]
pub fn asset(path: &str) -> Option<Asset> {
    let content_type = content_type(path)?;
    let file = Files::get(path)?;
    let hash = file.metadata.sha256_hash();
    let etag = hash[..12].iter().fold("\"".to_owned(), |tag, byte| format!("{tag}{byte:02x}"));
    Some(Asset { bytes: file.data, content_type, etag: etag + "\"" })
}

/// The paths of all files.
pub fn assets() -> impl Iterator<Item = Cow<'static, str>> {
    Files::iter()
}

/// A closed list: a file of a kind that the page does not need is not served.
fn content_type(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_can_be_served() {
        let all: Vec<_> = assets().collect();
        assert!(all.len() > 30, "only {} files", all.len());
        for path in all {
            assert!(asset(&path).is_some(), "{path} has no content type");
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_a_file_of_it() {
        for path in ["../Cargo.toml", "js/../../src/lib.rs", "/etc/passwd", "", "js", "nothing.js"]
        {
            assert_eq!(asset(path), None, "{path}");
        }
    }

    #[test]
    fn a_tag_is_that_of_the_bytes() {
        let (page, mark) = (asset("index.html").unwrap(), asset("mark.svg").unwrap());
        assert_ne!(page.etag, mark.etag);
        assert_eq!(page.etag.len(), 26);
        assert_eq!(asset("index.html").unwrap(), page);
    }
}
