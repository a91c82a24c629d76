//! The files of the web page, embedded in the binary.

use std::borrow::Cow;
use std::sync::LazyLock;

use countersign_contract::json::sha256_hex;
use rust_embed::Embed;

/// All files of `crates/server/web`. A debug build reads them from the folder instead, so that
/// changes of the page need no build.
#[derive(Embed)]
#[folder = "web/"]
struct WebFiles;

/// A file of the web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAsset {
    /// The contents of the file.
    pub bytes: Cow<'static, [u8]>,
    /// The media type of the file.
    pub content_type: &'static str,
    /// The entity tag, derived from the contents.
    pub etag: String,
}

/// Finds a file by its path in the folder.
#[must_use]
pub fn find_asset(path: &str) -> Option<WebAsset> {
    let content_type = content_type(path)?;
    let file = WebFiles::get(path)?;
    let hash = file.metadata.sha256_hash();
    let etag = hash[..12].iter().fold("\"".to_owned(), |tag, byte| format!("{tag}{byte:02x}"));
    Some(WebAsset { bytes: file.data, content_type, etag: etag + "\"" })
}

/// Digest of all files. It is part of their URLs, so that a browser can cache them forever, and
/// another version of the program has other URLs.
pub static ASSETS_DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut all: Vec<_> = asset_paths().collect();
    all.sort_unstable();
    let tagged = all.iter().filter_map(|path| Some(format!("{path} {}\n", find_asset(path)?.etag)));
    sha256_hex(&[tagged.collect::<String>().as_bytes()])[..16].to_owned()
});

/// Renders the page. Its links contain the digest of the files, and it preloads every script:
/// otherwise a browser discovers each script only after it has parsed the one that imports it.
#[must_use]
pub fn render_index() -> Option<WebAsset> {
    let WebAsset { bytes, content_type, .. } = find_asset("index.html")?;
    let mut scripts: Vec<_> = asset_paths().filter(|path| path.ends_with(".js")).collect();
    scripts.sort_unstable();
    let ahead =
        |path: &Cow<'_, str>| format!("<link rel=\"modulepreload\" href=\"/assets/{path}\">\n");
    let ahead: String = scripts.iter().map(ahead).collect();
    let page = String::from_utf8_lossy(&bytes).replace("<script ", &(ahead + "<script "));
    let page = page.replace("/assets/", &format!("/assets/{}/", *ASSETS_DIGEST)).into_bytes();
    let etag = format!("\"{}\"", &sha256_hex(&[&page])[..24]);
    Some(WebAsset { bytes: Cow::Owned(page), content_type, etag })
}

/// Lists the paths of all files.
pub fn asset_paths() -> impl Iterator<Item = Cow<'static, str>> {
    WebFiles::iter()
}

/// Returns the media type by file extension. Files with any other extension are not served.
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
        let all: Vec<_> = asset_paths().collect();
        assert!(all.len() > 30, "only {} files", all.len());
        for path in all {
            assert!(find_asset(&path).is_some(), "{path} has no content type");
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_a_file_of_it() {
        for path in ["../Cargo.toml", "js/../../src/lib.rs", "/etc/passwd", "", "js", "nothing.js"]
        {
            assert_eq!(find_asset(path), None, "{path}");
        }
    }

    #[test]
    fn the_page_names_every_script_and_the_edition_of_all_files() {
        let page = String::from_utf8(render_index().unwrap().bytes.into_owned()).unwrap();
        for path in asset_paths().filter(|path| path.ends_with(".js")) {
            let link =
                format!("<link rel=\"modulepreload\" href=\"/assets/{}/{path}\">", *ASSETS_DIGEST);
            assert_eq!(page.matches(&link).count(), 1, "{path}");
        }
        let addresses = page.matches("/assets/").count();
        assert_eq!(page.matches(&format!("/assets/{}/", *ASSETS_DIGEST)).count(), addresses);
        assert_eq!(ASSETS_DIGEST.len(), 16);
    }

    #[test]
    fn a_tag_is_that_of_the_bytes() {
        let (page, mark) = (find_asset("index.html").unwrap(), find_asset("mark.svg").unwrap());
        assert_ne!(page.etag, mark.etag);
        assert_eq!(page.etag.len(), 26);
        assert_eq!(find_asset("index.html").unwrap(), page);
    }
}
