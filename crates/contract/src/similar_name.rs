//! Suggests the known name that is closest to a misspelled one.

use crate::limits::MAX_SIMILAR_NAME_STEPS;

/// Number of leading characters that are compared.
const MAX_COMPARED_CHARS: usize = 64;
/// Maximum length of a compared name, in bytes. A longer name has no similar name.
const MAX_NAME_BYTES: usize = 1_024;

/// Returns the candidate closest to `name`, if at most a third of its characters differ. The search
/// is bounded by [`MAX_SIMILAR_NAME_STEPS`]: with very many candidates, only the first are
/// compared.
#[must_use]
pub fn find_similar_name<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let (wanted, name_length) = (to_compared_start(name), name.chars().count());
    let wanted_length = wanted.chars().count();
    let mut steps_left = MAX_SIMILAR_NAME_STEPS;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let Some(left) = steps_left.checked_sub(1) else { break };
        steps_left = left;
        if candidate.len() > MAX_NAME_BYTES {
            continue;
        }
        let (start, length) = (to_compared_start(candidate), candidate.chars().count());
        // Accept only a candidate that is closer than the best one so far.
        let longest = name_length.max(length);
        let most = match best {
            Some((0, _)) => break,
            Some((least, _)) => (longest / 3).min(least - 1),
            None => longest / 3,
        };
        let compared = start.chars().count();
        if wanted_length.abs_diff(compared) > most {
            continue;
        }
        let Some(left) = steps_left.checked_sub(wanted_length * compared) else { break };
        steps_left = left;
        let distance = strsim::osa_distance(&wanted, &start);
        if distance <= most {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn to_compared_start(name: &str) -> String {
    name.chars().flat_map(char::to_lowercase).take(MAX_COMPARED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["phases", "transitions", "include"];
        assert_eq!(find_similar_name("phase", known), Some("phases"));
        assert_eq!(find_similar_name("Transition", known), Some("transitions"));
        assert_eq!(find_similar_name("inculde", known), Some("include"));
        assert_eq!(find_similar_name("banana", known), None);
        assert_eq!(find_similar_name("", known), None);
        assert_eq!(find_similar_name("phases", known), Some("phases"));
        assert_eq!(
            find_similar_name("include", ["incluse", "include", "includes"]),
            Some("include")
        );
    }

    #[test]
    fn very_many_candidates_are_not_all_compared() {
        let known: Vec<String> = (0..100_000).map(|n| format!("some_long_name_{n:06}")).collect();
        let near = find_similar_name("some_long_name_000007x", known.iter().map(String::as_str));
        assert_eq!(near, Some("some_long_name_000007"));
        let far = find_similar_name("some_long_name_099999x", known.iter().map(String::as_str));
        assert_ne!(far, Some("some_long_name_099999"));
    }
}
