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
    let (wanted, name_length) = (to_compared_chars(name), name.chars().count());
    let mut steps_left = MAX_SIMILAR_NAME_STEPS;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let Some(left) = steps_left.checked_sub(1) else { break };
        steps_left = left;
        if candidate.len() > MAX_NAME_BYTES {
            continue;
        }
        let candidate_chars = to_compared_chars(candidate);
        let longest = name_length.max(candidate.chars().count());
        // Accept only a candidate that is closer than the best one so far.
        let most = match best {
            Some((0, _)) => break,
            Some((least, _)) => (longest / 3).min(least - 1),
            None => longest / 3,
        };
        let cells = wanted.len() * (2 * most + 1).min(candidate_chars.len());
        let Some(left) = steps_left.checked_sub(cells) else { break };
        steps_left = left;
        if let Some(distance) = edit_distance_within(&wanted, &candidate_chars, most) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn to_compared_chars(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).take(MAX_COMPARED_CHARS).collect()
}

/// Returns the edit distance between two words if it is at most `most`; a swap of two neighbouring
/// characters counts as one edit. Only the table cells that such a short edit path can cross are
/// computed.
fn edit_distance_within(left: &[char], right: &[char], most: usize) -> Option<usize> {
    const FAR: usize = usize::MAX / 2;
    if left.len().abs_diff(right.len()) > most {
        return None;
    }
    let mut before = vec![FAR; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut row = vec![FAR; right.len() + 1];
    for (i, a) in left.iter().enumerate() {
        let (from, to) = ((i + 1).saturating_sub(most), (i + 1 + most).min(right.len()));
        row.fill(FAR);
        if from == 0 {
            row[0] = i + 1;
        }
        let mut nearest_yet = row[0];
        for j in from.max(1)..=to {
            let b = right[j - 1];
            let mut cost =
                (last[j - 1] + usize::from(*a != b)).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 0 && j > 1 && *a == right[j - 2] && left[i - 1] == b {
                cost = cost.min(before[j - 2] + 1);
            }
            row[j] = cost;
            nearest_yet = nearest_yet.min(cost);
        }
        if nearest_yet > most {
            return None;
        }
        // Rotate the rows: the next iteration overwrites the oldest one.
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    Some(last[right.len()]).filter(|distance| *distance <= most)
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
    fn distances_are_those_of_the_whole_table() {
        let words = ["", "a", "ab", "ba", "abc", "acb", "phases", "phsaes", "hpases", "phase"];
        for one in words {
            for other in words {
                let (left, right) = (to_compared_chars(one), to_compared_chars(other));
                let whole = edit_distance_within(&left, &right, 64);
                for most in 0..8 {
                    let expected = whole.filter(|distance| *distance <= most);
                    assert_eq!(
                        edit_distance_within(&left, &right, most),
                        expected,
                        "{one} {other}"
                    );
                }
            }
        }
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
