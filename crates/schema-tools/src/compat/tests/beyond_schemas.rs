//! Tests how defaults, rules, intake and repairs affect the outcome.

use serde_json::json;

use super::{check, check_with, closed};

#[test]
fn defaults_count_where_a_field_is_required() {
    let with = |default: Option<&str>| {
        let mut field = json!({"type": "string"});
        if let Some(default) = default {
            field["default"] = json!(default);
        }
        closed(json!({"a": field}), json!(["a"]))
    };
    check(with(None), with(Some("x")), "yes", "no: {}", &["/a: default none became \"x\""]);
    check(with(Some("x")), with(Some("y")), "yes", "yes", &["/a: default \"x\" became \"y\""]);
    let optional = closed(json!({"a": {"type": "string", "default": "x"}}), json!([]));
    check(with(Some("x")), optional, "yes", "yes", &["/a: field `a` became optional"]);
}

const POSITIVE: &str =
    "rules: [{id: positive, then: reply.a > 0, at: /a, says: a is above nought}]";

#[test]
fn rules_count_too() {
    let schema = || closed(json!({"a": {"type": "integer", "minimum": 0}}), json!(["a"]));
    check_with(
        (schema(), ""),
        (schema(), POSITIVE),
        "no: {\"a\":0}",
        "yes",
        &[": rule `positive` was added: a is above nought"],
    );
    check_with(
        (schema(), POSITIVE),
        (schema(), ""),
        "yes",
        "no: {\"a\":0}",
        &[": rule `positive` was removed: a is above nought"],
    );
    let reworded = POSITIVE.replace("a is above nought", "a counts something");
    check_with((schema(), POSITIVE), (schema(), &reworded), "yes", "yes", &[]);
    let rare = "rules: [{id: rare, then: reply.a !== 7654321, says: not that one}]";
    check_with(
        (schema(), ""),
        (schema(), rare),
        "unknown: rule `rare` was added",
        "yes",
        &[": rule `rare` was added: not that one"],
    );
    let state = "rules: [{id: grows, then: reply.a > state.a, says: a grows}]";
    check_with(
        (schema(), ""),
        (schema(), state),
        "unknown: rule `grows` was added",
        "yes",
        &[": rule `grows` was added: a grows"],
    );
    let changed = POSITIVE.replace("> 0", "> 1");
    check_with(
        (schema(), POSITIVE),
        (schema(), &changed),
        "no: {\"a\":1}",
        "unknown: rule `positive` was changed",
        &[": rule `positive` was changed: a is above nought"],
    );
}

#[test]
fn intake_and_repairs_count_as_text() {
    let schema = || closed(json!({"a": {"type": "integer"}}), json!([]));
    check_with(
        (schema(), "intake: fenced"),
        (schema(), "intake: strict\nrepairs: lossless"),
        "no, as text: ```json\n{}\n```",
        "yes",
        &[": intake is stricter: fenced became strict"],
    );
    check_with(
        (schema(), "intake: strict"),
        (schema(), "intake: strict\nrepairs: lossless"),
        "yes",
        "no, as text: { // a comment\n}",
        &[": repairs is looser: none became lossless"],
    );
}
