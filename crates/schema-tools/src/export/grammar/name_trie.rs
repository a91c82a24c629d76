//! Builds a rule for field names other than the declared ones, so that a declared field cannot be
//! repeated without its type.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar_builder::quote_literal;

/// The maximum number of characters in all declared names; for more, the rule would be too large.
const MAX_ALL_NAME_CHARS: usize = 600;
/// The maximum number of characters in one name, because the rule nests equally deep.
const MAX_NAME_CHARS: usize = 48;

/// Returns a rule for a string that is none of these names; `None` if they are too many or contain
/// unusual characters.
pub(super) fn build_other_names_rule(names: &BTreeSet<&str>) -> Option<String> {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-.:$@/".contains(sign);
    if names.iter().map(|name| name.len()).sum::<usize>() > MAX_ALL_NAME_CHARS
        || !names.iter().all(|name| name.len() <= MAX_NAME_CHARS && name.chars().all(plain))
    {
        return None;
    }
    let mut tree = NameTrie::default();
    for name in names {
        let mut node = &mut tree;
        for sign in name.chars() {
            node = node.children.entry(sign).or_default();
        }
        node.is_name_end = true;
    }
    Some(format!(r#""\"" {} "\"""#, tree.render_rule()))
}

/// The names as a prefix tree of their characters.
#[derive(Default)]
struct NameTrie {
    children: BTreeMap<char, NameTrie>,
    /// Whether a name ends at this node.
    is_name_end: bool,
}

impl NameTrie {
    fn render_rule(&self) -> String {
        if self.children.is_empty() {
            // Only a longer name differs.
            return "char char*".to_owned();
        }
        let mut class = String::new();
        for sign in self.children.keys() {
            class += &format!("\\x{:02X}", u32::from(*sign));
        }
        let mut ways = vec![
            format!(r#"[^"\\\x00-\x1F{class}] char*"#),
            r#""\\" ["\\/bfnrt] char*"#.to_owned(),
        ];
        for (sign, next) in &self.children {
            ways.push(format!("{} {}", quote_literal(&sign.to_string()), next.render_rule()));
        }
        let all = format!("( {} )", ways.join(" | "));
        if self.is_name_end { all } else { format!("{all}?") }
    }
}
