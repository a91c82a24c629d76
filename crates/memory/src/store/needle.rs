//! The byte forms in which a searched text can be stored.

/// The minimum length at which half of a needle counts as residue too, because a long text can be
/// split at the end of a page.
const MIN_SPLIT_BYTES: usize = 32;

/// Returns the forms of a needle: verbatim, escaped as in JSON, and in halves.
pub(super) fn list_needle_forms(needle: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![needle.to_vec()];
    if let Ok(text) = std::str::from_utf8(needle)
        && let Ok(quoted) = serde_json::to_string(text)
    {
        let inside = quoted.as_bytes()[1..quoted.len() - 1].to_vec();
        if inside != needle {
            forms.push(inside);
        }
    }
    if needle.len() >= MIN_SPLIT_BYTES {
        let (first, second) = needle.split_at(needle.len() / 2);
        forms.extend([first.to_vec(), second.to_vec()]);
    }
    forms.retain(|form| !form.is_empty());
    forms
}
