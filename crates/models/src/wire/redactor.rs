//! Removes keys from everything that is kept or reported.

use std::borrow::Cow;

use zeroize::Zeroizing;

use crate::ProviderKey;

/// Text that replaces a key.
const REDACTED: &str = "…";
/// Shorter texts are not treated as secrets, because that would redact half of every text.
const MIN_SECRET_BYTES: usize = 8;
/// Maximum length of a provider's message in an error.
const MAX_MESSAGE_CHARS: usize = 300;

/// Every secret text, in the forms in which a provider may return it.
pub(crate) struct SecretRedactor(Vec<Zeroizing<String>>);

impl SecretRedactor {
    /// Creates a redactor for the secrets of these keys.
    pub(crate) fn new<'k>(keys: impl IntoIterator<Item = &'k ProviderKey>) -> Self {
        let mut forms: Vec<Zeroizing<String>> = Vec::new();
        for key in keys {
            let text = key.reveal();
            if text.len() < MIN_SECRET_BYTES {
                continue;
            }
            let quoted = serde_json::Value::from(text).to_string();
            let quoted = quoted[1..quoted.len() - 1].to_owned();
            let slashed = quoted.replace('/', "\\/");
            for form in [text.to_owned(), quoted, slashed] {
                if !forms.iter().any(|known| **known == form) {
                    forms.push(Zeroizing::new(form));
                }
            }
        }
        // Longest first, because one key may be a prefix of another.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self(forms)
    }

    /// Removes secrets from bytes.
    pub(crate) fn redact_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.0.iter().fold(bytes, |bytes, form| match find_bytes(&bytes, form.as_bytes(), 0) {
            Some(first) => replace_bytes(&bytes, form.as_bytes(), first),
            None => bytes,
        })
    }

    /// Removes secrets from a text.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, form| {
            if text.contains(form.as_str()) {
                Cow::Owned(text.replace(form.as_str(), REDACTED))
            } else {
                text
            }
        })
    }

    /// Prepares a provider's message for an error: no secrets, one line, limited length.
    pub(crate) fn sanitize_message(&self, text: &str) -> String {
        let blotted = self.redact(text);
        let words: Vec<&str> =
            blotted.split(|sign: char| sign.is_whitespace() || sign.is_control()).collect();
        let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MAX_MESSAGE_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

fn find_bytes(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    let tail = bytes.get(from..)?;
    tail.windows(wanted.len()).position(|window| window == wanted).map(|at| at + from)
}

fn replace_bytes(bytes: &[u8], wanted: &[u8], first: usize) -> Vec<u8> {
    let (mut out, mut done, mut next) = (Vec::with_capacity(bytes.len()), 0, Some(first));
    while let Some(at) = next {
        out.extend_from_slice(&bytes[done..at]);
        out.extend_from_slice(REDACTED.as_bytes());
        done = at + wanted.len();
        next = find_bytes(bytes, wanted, done);
    }
    out.extend_from_slice(&bytes[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(text: &str) -> ProviderKey {
        ProviderKey::parse(text).unwrap()
    }

    #[test]
    fn every_form_of_every_key_is_blotted_out() {
        let keys = [key_of("sk-1234567"), key_of("sk-1234567-long"), key_of("a/b\"c\\def")];
        let secrets = SecretRedactor::new(&keys);
        let text = "x sk-1234567-long y sk-1234567sk-1234567 a/b\"c\\def a/b\\\"c\\\\def a\\/b\\\"c\\\\def";
        assert_eq!(secrets.redact(text), "x … y …… … … …");
        let bytes = [text.as_bytes(), b"\xFF"].concat();
        let blotted = secrets.redact_bytes(bytes);
        assert_eq!(blotted, ["x … y …… … … …".as_bytes(), b"\xFF"].concat());
    }

    #[test]
    fn what_is_too_short_for_a_secret_stays() {
        let secrets = SecretRedactor::new(&[key_of("none")]);
        assert_eq!(secrets.redact("none of it"), "none of it");
    }

    #[test]
    fn messages_are_one_short_line_and_no_key_is_cut_in_half() {
        let secrets = SecretRedactor::new(&[key_of("sk-1234567")]);
        assert_eq!(secrets.sanitize_message("a\r\n\tb\u{1b}[31m  c"), "a b [31m c");
        let long = "д".repeat(295) + "sk-1234567";
        assert_eq!(secrets.sanitize_message(&long), "д".repeat(295) + "…");
        let longer = "д".repeat(400);
        assert_eq!(secrets.sanitize_message(&longer), "д".repeat(300) + "…");
    }
}
