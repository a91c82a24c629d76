//! Texts in several languages, and the choice of one of them for a run.

/// A text, or a value made from one, in each of its languages. A plain text has a single version
/// with an empty language tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Localized<T> {
    /// Language tag and version, in file order. Never empty.
    versions: Vec<(String, T)>,
}

impl<T> Localized<T> {
    /// Wraps a text that is the same in every language.
    #[must_use]
    pub fn from_plain(text: T) -> Self {
        Self { versions: vec![(String::new(), text)] }
    }

    /// Wraps the versions of a text; `None` if there are none.
    #[must_use]
    pub fn from_versions(versions: Vec<(String, T)>) -> Option<Self> {
        if versions.is_empty() { None } else { Some(Self { versions }) }
    }

    /// Selects the version for a language, else for its primary language, else English, else the
    /// first.
    #[must_use]
    pub fn version_for(&self, language: Option<&str>) -> &T {
        let find = |wanted: &str| {
            let same = |(name, _): &&(String, T)| tags_equal(name, wanted);
            self.versions.iter().find(same).map(|(_, text)| text)
        };
        let exact = language.and_then(find);
        let primary = || language.map(primary_subtag).and_then(find);
        exact.or_else(primary).or_else(|| find("en")).unwrap_or(&self.versions[0].1)
    }

    /// Iterates over language tag and version; the tag of a plain text is empty.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &T)> {
        self.versions.iter().map(|(language, text)| (language.as_str(), text))
    }

    /// Whether any version has a language tag.
    #[must_use]
    pub fn has_languages(&self) -> bool {
        self.versions.iter().any(|(language, _)| !language.is_empty())
    }

    /// Converts each version and keeps its language tag.
    #[must_use]
    pub fn map<U>(&self, mut make: impl FnMut(&T) -> U) -> Localized<U> {
        let versions = self.versions.iter().map(|(language, text)| (language.clone(), make(text)));
        Localized { versions: versions.collect() }
    }
}

/// Whether a text is a language tag as files use them: two or three letters and an optional region.
#[must_use]
pub fn is_language_tag(text: &str) -> bool {
    let (language, region) =
        text.split_once('-').map_or((text, None), |(one, two)| (one, Some(two)));
    let letters =
        (2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase());
    let region = region.is_none_or(|region| {
        (2..=4).contains(&region.len()) && region.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    letters && region
}

/// Returns `ru` for `ru-RU` and for `ru_RU`.
fn primary_subtag(language: &str) -> &str {
    language.split(['-', '_']).next().unwrap_or(language)
}

/// Whether two tags are equal; `pt_BR`, `pt-br` and `pt-BR` are.
fn tags_equal(one: &str, other: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    one.len() == other.len() && one.bytes().map(plain).eq(other.bytes().map(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(versions: &[&str], language: Option<&str>, expected: &str) {
        let versions = versions.iter().map(|one| ((*one).to_owned(), (*one).to_owned())).collect();
        assert_eq!(Localized::from_versions(versions).unwrap().version_for(language), expected);
    }

    #[test]
    fn the_nearest_language_is_taken() {
        check(&["en", "ru", "pt-BR"], Some("ru"), "ru");
        check(&["en", "ru", "pt-BR"], Some("ru-RU"), "ru");
        check(&["en", "pt", "pt-BR"], Some("pt_br"), "pt-BR");
        check(&["en", "pt-BR"], Some("pt"), "en");
        check(&["de", "en"], Some("zh"), "en");
        check(&["de", "fr"], Some("zh"), "de");
        check(&["de", "en"], None, "en");
        check(&["", "ru"], Some("ru"), "ru");
        check(&["", "ru"], Some("en"), "");
        check(&[""], Some("ru"), "");
    }

    #[test]
    fn languages_are_two_or_three_letters() {
        for good in ["en", "ru", "yue", "pt-BR", "zh-Hans", "es-419"] {
            assert!(is_language_tag(good), "{good}");
        }
        for bad in ["", "e", "EN", "engl", "en-", "en-US-x", "p1", "en_US", "md"] {
            assert_eq!(is_language_tag(bad), bad == "md", "{bad}");
        }
    }
}
