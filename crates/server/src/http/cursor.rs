//! Page cursors: opaque tokens that are valid only for the list and filter they came from.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_contract::json::sha256_hex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ApiError;

/// Number of items on a page if the request sets no limit.
pub(crate) const DEFAULT_PAGE_SIZE: usize = 50;

/// Maximum number of items on a page.
pub(crate) const MAX_PAGE_SIZE: usize = 500;

#[derive(Debug, Serialize, Deserialize)]
struct CursorToken<P> {
    /// Digest of the list's filter, to reject a cursor of another list.
    filter_digest: String,
    position: P,
}

/// Encodes a position in a list. `filter` contains everything that selects the items of the list.
pub(crate) fn encode_cursor<P: Serialize>(filter: &impl Serialize, position: P) -> String {
    let carried = CursorToken { filter_digest: digest_filter(filter), position };
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(&carried).expect("a cursor serializes to JSON"))
}

/// Decodes a cursor, which must come from the same list with the same filter.
pub(crate) fn decode_cursor<P: DeserializeOwned>(
    filter: &impl Serialize,
    cursor: &str,
) -> Result<P, ApiError> {
    let wrong = || {
        ApiError::bad_request(
            "bad_cursor",
            "the cursor does not belong to this list with this filter",
        )
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| wrong())?;
    let carried: CursorToken<P> = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
    if carried.filter_digest == digest_filter(filter) { Ok(carried.position) } else { Err(wrong()) }
}

/// Returns the page size: the requested one, or the default. Rejects values out of range.
pub(crate) fn resolve_limit(requested: Option<usize>) -> Result<usize, ApiError> {
    match requested {
        None => Ok(DEFAULT_PAGE_SIZE),
        Some(limit @ 1..=MAX_PAGE_SIZE) => Ok(limit),
        Some(other) => Err(ApiError::bad_request(
            "bad_query",
            format!("`limit` must be from 1 to {MAX_PAGE_SIZE}, found {other}"),
        )),
    }
}

fn digest_filter(filter: &impl Serialize) -> String {
    let text = serde_json::to_vec(filter).expect("a filter serializes to JSON");
    sha256_hex(&[&text])[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_list_and_no_other() {
        let here = encode_cursor(&("runs", Some("waiting")), (5_i64, "r"));
        assert_eq!(
            decode_cursor::<(i64, String)>(&("runs", Some("waiting")), &here).unwrap(),
            (5, "r".into())
        );
        for (filter, cursor) in [
            (("runs", Some("failed")), here.as_str()),
            (("inbox", Some("waiting")), here.as_str()),
            (("runs", Some("waiting")), "zz"),
            (("runs", Some("waiting")), "!"),
            (("runs", Some("waiting")), ""),
        ] {
            let error = decode_cursor::<(i64, String)>(&filter, cursor).unwrap_err();
            assert_eq!(error.problem().code, "bad_cursor");
        }
    }

    #[test]
    fn a_page_is_neither_empty_nor_endless() {
        assert_eq!(resolve_limit(None).unwrap(), DEFAULT_PAGE_SIZE);
        assert_eq!(resolve_limit(Some(500)).unwrap(), 500);
        assert!(resolve_limit(Some(0)).is_err() && resolve_limit(Some(501)).is_err());
    }
}
