//! Names of fields other than the declared ones, so that a declared field cannot come again untyped.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::literal;

/// Characters of all declared names together; with more the rule would be larger than it is worth.
const MAX_CHARS: usize = 600;
/// Characters of one name: the rule nests as deep.
const MAX_NAME: usize = 48;

/// A string that is none of these names; `None` where they are too many or hold unusual characters.
pub(super) fn other_names(names: &BTreeSet<&str>) -> Option<String> {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-.:$@/".contains(sign);
    if names.iter().map(|name| name.len()).sum::<usize>() > MAX_CHARS
        || !names.iter().all(|name| name.len() <= MAX_NAME && name.chars().all(plain))
    {
        return None;
    }
    let mut tree = Letters::default();
    for name in names {
        let mut node = &mut tree;
        for sign in name.chars() {
            node = node.next.entry(sign).or_default();
        }
        node.ends = true;
    }
    Some(format!(r#""\"" {} "\"""#, tree.rule()))
}

/// The names by their letters.
#[derive(Default)]
struct Letters {
    next: BTreeMap<char, Letters>,
    /// Whether a name ends here.
    ends: bool,
}

impl Letters {
    fn rule(&self) -> String {
        if self.next.is_empty() {
            // Only a longer name is another one.
            return "char char*".to_owned();
        }
        let mut class = String::new();
        for sign in self.next.keys() {
            class += &format!("\\x{:02X}", u32::from(*sign));
        }
        let mut ways = vec![
            format!(r#"[^"\\\x00-\x1F{class}] char*"#),
            r#""\\" ["\\/bfnrt] char*"#.to_owned(),
        ];
        for (sign, next) in &self.next {
            ways.push(format!("{} {}", literal(&sign.to_string()), next.rule()));
        }
        let all = format!("( {} )", ways.join(" | "));
        if self.ends { all } else { format!("{all}?") }
    }
}
