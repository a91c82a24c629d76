//! Writes strings in a grammar, by length or by a simple pattern.

use serde_json::{Map, Value};

use crate::sample::RegexNode;

/// The maximum count in a repetition; llama.cpp refuses larger counts or becomes slow.
const MAX_COUNTED_CHARS: u64 = 1000;

/// Returns the rule for a string of the required length, and the bounds that are too large to
/// express.
pub(super) fn render_length_rule(keywords: &Map<String, Value>) -> (String, Vec<&'static str>) {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
    let unsaid = |keyword: &&str| bound(keyword).is_some_and(|bound| bound > MAX_COUNTED_CHARS);
    let least = bound("minLength").unwrap_or(0).min(MAX_COUNTED_CHARS);
    let body = match bound("maxLength") {
        Some(most) if most <= MAX_COUNTED_CHARS => format!(r#""\"" char{{{least},{most}}} "\"""#),
        _ if least == 0 => "string".to_owned(),
        _ => format!(r#""\"" char{{{least},}} "\"""#),
    };
    (body, ["minLength", "maxLength"].into_iter().filter(unsaid).collect())
}

/// Returns the rule for a string with a pattern that is anchored at both ends and needs no JSON
/// escapes; `None` for other patterns.
pub(super) fn render_pattern_rule(pattern: &str) -> Option<String> {
    let inside = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let node = RegexNode::parse(inside)?;
    // An unescaped dot or a negated class matches more than the parsed node contains.
    if inside.replace("\\.", "").contains('.')
        || inside.contains("[^")
        || inside.contains("\\s")
        || inside.contains("\\w")
    {
        return None;
    }
    // With alternatives at the top level, the anchors would belong to single alternatives only.
    if matches!(node, RegexNode::Alternatives(_)) {
        return None;
    }
    Some(format!(r#""\"" {} "\"""#, render_node(&node)?))
}

fn render_node(node: &RegexNode) -> Option<String> {
    Some(match node {
        RegexNode::Anchor => return None,
        RegexNode::CharClass(ranges) => {
            let mut class = String::from("[");
            for (low, high) in ranges {
                let sign = |sign: char| match sign {
                    '"' | '\\' => None,
                    sign if !sign.is_ascii() || sign.is_ascii_control() => None,
                    '[' | ']' | '^' | '-' => Some(format!("\\x{:02X}", u32::from(sign))),
                    sign => Some(sign.to_string()),
                };
                let (from, to) = (sign(*low)?, sign(*high)?);
                // A range must not include characters that JSON escapes.
                if low != high && (*low..=*high).any(|sign| sign == '"' || sign == '\\') {
                    return None;
                }
                class.push_str(&from);
                if low != high {
                    class.push('-');
                    class.push_str(&to);
                }
            }
            class.push(']');
            class
        }
        RegexNode::Sequence(parts) if parts.is_empty() => "\"\"".to_owned(),
        RegexNode::Sequence(parts) => {
            parts.iter().map(render_node).collect::<Option<Vec<_>>>()?.join(" ")
        }
        RegexNode::Alternatives(parts) => {
            format!(
                "( {} )",
                parts.iter().map(render_node).collect::<Option<Vec<_>>>()?.join(" | ")
            )
        }
        RegexNode::Repeat(part, least, most) => {
            if most.unwrap_or(*least) as u64 > MAX_COUNTED_CHARS {
                return None;
            }
            let bounds =
                most.map_or_else(|| format!("{{{least},}}"), |most| format!("{{{least},{most}}}"));
            format!("( {} ){bounds}", render_node(part)?)
        }
    })
}
