//! Strings in a grammar: by length, or by a simple pattern.

use serde_json::{Map, Value};

use crate::contract::sample::PatternNode as Node;

/// Beyond this llama.cpp refuses to count, or takes long over it.
const COUNTED: u64 = 1000;

/// A string of the asked length, and the bounds that were too high to be said.
pub(super) fn of_length(keywords: &Map<String, Value>) -> (String, Vec<&'static str>) {
    let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_u64);
    let unsaid = |keyword: &&str| bound(keyword).is_some_and(|bound| bound > COUNTED);
    let least = bound("minLength").unwrap_or(0).min(COUNTED);
    let body = match bound("maxLength") {
        Some(most) if most <= COUNTED => format!(r#""\"" char{{{least},{most}}} "\"""#),
        _ if least == 0 => "string".to_owned(),
        _ => format!(r#""\"" char{{{least},}} "\"""#),
    };
    (body, ["minLength", "maxLength"].into_iter().filter(unsaid).collect())
}

/// A string of a pattern that is anchored at both ends and needs no escapes in JSON.
pub(super) fn of_pattern(pattern: &str) -> Option<String> {
    let inside = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let node = Node::parse(inside)?;
    // An unescaped dot or a barred class stands for more than the sampler makes of it.
    if inside.replace("\\.", "").contains('.')
        || inside.contains("[^")
        || inside.contains("\\s")
        || inside.contains("\\w")
    {
        return None;
    }
    // Alternatives at the top would take the anchors for themselves.
    if matches!(node, Node::Either(_)) {
        return None;
    }
    Some(format!(r#""\"" {} "\"""#, written(&node)?))
}

fn written(node: &Node) -> Option<String> {
    Some(match node {
        Node::Anchor => return None,
        Node::OneOf(ranges) => {
            let mut class = String::from("[");
            for (low, high) in ranges {
                let sign = |sign: char| match sign {
                    '"' | '\\' => None,
                    sign if !sign.is_ascii() || sign.is_ascii_control() => None,
                    '[' | ']' | '^' | '-' => Some(format!("\\x{:02X}", u32::from(sign))),
                    sign => Some(sign.to_string()),
                };
                let (from, to) = (sign(*low)?, sign(*high)?);
                // A range must not pass over what JSON escapes.
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
        Node::Sequence(parts) if parts.is_empty() => "\"\"".to_owned(),
        Node::Sequence(parts) => parts.iter().map(written).collect::<Option<Vec<_>>>()?.join(" "),
        Node::Either(parts) => {
            format!("( {} )", parts.iter().map(written).collect::<Option<Vec<_>>>()?.join(" | "))
        }
        Node::Repeat(part, least, most) => {
            if most.unwrap_or(*least) as u64 > COUNTED {
                return None;
            }
            let bounds =
                most.map_or_else(|| format!("{{{least},}}"), |most| format!("{{{least},{most}}}"));
            format!("( {} ){bounds}", written(part)?)
        }
    })
}
