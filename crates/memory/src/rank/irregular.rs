//! Irregular English forms, so that a query for `buy` finds `bought`.
//!
//! Forms that are also words of their own (`rose`, `leaves`) are left unchanged.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use countersign_contract::text::split_words;

/// Each base word followed by its forms.
const FORMS: &str = "
    become became, begin began begun, bite bit bitten, blow blew blown, break broke broken,
    bring brought, build built, buy bought, catch caught, choose chose chosen, come came,
    deal dealt, dig dug, draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten,
    fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown,
    forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, get got gotten,
    give gave given, go went gone, grow grew grown, hang hung, hear heard, hide hid hidden,
    hold held, keep kept, know knew known, lead led, leave left, lend lent, lose lost, make made,
    mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise risen, run ran,
    say said, see saw seen, sell sold, send sent, shake shook shaken, shoot shot, show shown,
    sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood,
    steal stole stolen, stick stuck, swear swore sworn, swim swam swum, take took taken,
    teach taught, tear tore torn, tell told, think thought, throw threw thrown,
    understand understood, wake woke woken, wear wore worn, win won, write wrote written,
    child children, person people, man men, woman women, foot feet, tooth teeth, mouse mice,
    wife wives, knife knives
";

static STEMS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut stems = BTreeMap::new();
    for entry in FORMS.split(',') {
        let mut entry = split_words(entry).into_iter();
        let base = entry.next().unwrap_or_default();
        stems.extend(entry.map(|form| (form, base.clone())));
    }
    stems
});

/// Returns the base form of a stem; the stem itself if it is not an irregular form.
pub(super) fn to_base_form(stem: String) -> String {
    STEMS.get(&stem).cloned().unwrap_or(stem)
}

/// Returns the irregular forms of a word.
pub(super) fn list_irregular_forms(base: &str) -> impl Iterator<Item = &'static str> {
    STEMS.iter().filter(move |(_, of)| *of == base).map(|(form, _)| form.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::function_words::is_function_word;
    use super::*;

    #[test]
    fn a_form_is_its_word() {
        for (form, expected) in [("bought", "buy"), ("children", "child"), ("written", "write")] {
            let stem = split_words(form).remove(0);
            assert_eq!(to_base_form(stem), split_words(expected)[0], "{form}");
        }
        assert_eq!(to_base_form("rose".to_owned()), "rose");
        assert!(STEMS.values().all(|stem| !stem.is_empty()));
        let ours = |stem: &&String| is_function_word(stem);
        assert_eq!(STEMS.keys().chain(STEMS.values()).find(ours), None, "no term");
    }
}
