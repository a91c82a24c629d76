//! The files of the page, as they lie in the binary. Not here: who asks for them.

use std::borrow::Cow;
use std::sync::LazyLock;

use countersign_core::json::sha256;
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

/// What all files together are known by: it stands in their addresses, so that a browser which has them need
/// not ask again, and another program has other addresses.
pub static EDITION: LazyLock<String> = LazyLock::new(|| {
    let mut all: Vec<_> = assets().collect();
    all.sort_unstable();
    let tagged = all.iter().filter_map(|path| Some(format!("{path} {}\n", asset(path)?.etag)));
    sha256(&[tagged.collect::<String>().as_bytes()])[..16].to_owned()
});

/// The page itself. It names the files of this edition, and every script at once: otherwise a browser hears of
/// each only when it has read the one that wants it.
#[must_use]
pub fn page() -> Option<Asset> {
    let Asset { bytes, content_type, .. } = asset("index.html")?;
    let mut scripts: Vec<_> = assets().filter(|path| path.ends_with(".js")).collect();
    scripts.sort_unstable();
    let ahead =
        |path: &Cow<'_, str>| format!("<link rel=\"modulepreload\" href=\"/assets/{path}\">\n");
    let ahead: String = scripts.iter().map(ahead).collect();
    let page = String::from_utf8_lossy(&bytes).replace("<script ", &(ahead + "<script "));
    let page = page.replace("/assets/", &format!("/assets/{}/", *EDITION)).into_bytes();
    let etag = format!("\"{}\"", &sha256(&[&page])[..24]);
    Some(Asset { bytes: Cow::Owned(page), content_type, etag })
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
    fn the_page_names_every_script_and_the_edition_of_all_files() {
        let page = String::from_utf8(page().unwrap().bytes.into_owned()).unwrap();
        for path in assets().filter(|path| path.ends_with(".js")) {
            let link = format!("<link rel=\"modulepreload\" href=\"/assets/{}/{path}\">", *EDITION);
            assert_eq!(page.matches(&link).count(), 1, "{path}");
        }
        let addresses = page.matches("/assets/").count();
        assert_eq!(page.matches(&format!("/assets/{}/", *EDITION)).count(), addresses);
        assert_eq!(EDITION.len(), 16);
    }

    #[test]
    fn a_tag_is_that_of_the_bytes() {
        let (page, mark) = (asset("index.html").unwrap(), asset("mark.svg").unwrap());
        assert_ne!(page.etag, mark.etag);
        assert_eq!(page.etag.len(), 26);
        assert_eq!(asset("index.html").unwrap(), page);
    }
}
