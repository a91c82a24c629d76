//! The door for replies in prose: what is a rival, what is torn, what is unwrapped, what is only
//! quoted. Shares over whole suites are in `crates/shipped-contracts/tests/noise.rs`.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_contract::json::RepairLevel;
use countersign_contract::reply::{
    AdmissionOptions, AdmissionVerdict, FinishReason, IntakeMode, RuleContext,
};

fn contract(schema: &str) -> Contract {
    load_inline_contract(&format!("id: sum\nversion: 1.0.0\nintake: tolerant\nschema: {schema}"))
        .unwrap()
}

fn sums() -> Contract {
    contract(
        "{ type: object, required: [a], properties: { a: { type: integer }, b: { type: integer } } }",
    )
}

fn admit(contract: &Contract, text: &str, repairs: RepairLevel) -> AdmissionVerdict {
    let terms =
        AdmissionOptions { intake: IntakeMode::Tolerant, repairs, finish: FinishReason::Stop };
    contract.admit_bytes(text.as_bytes(), terms, &RuleContext::default())
}

/// The value and its repairs, or the codes.
fn show(verdict: &AdmissionVerdict) -> String {
    match verdict {
        AdmissionVerdict::Accepted(accepted) => {
            let repairs = accepted.repairs().iter().map(|repair| {
                format!(" +{}@{}-{}", repair.kind.as_str(), repair.span.start, repair.span.end)
            });
            format!("{}{}", accepted.value(), repairs.collect::<String>())
        }
        AdmissionVerdict::Refused(violations) => {
            let codes: Vec<String> = violations.iter().map(|one| one.code.to_string()).collect();
            codes.join(", ")
        }
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(show(&admit(&sums(), text, RepairLevel::Lossless)), expected, "{text}");
}

#[test]
fn a_field_without_a_name_ends_the_search() {
    let contract =
        contract("{ type: object, required: [''], properties: { '': { type: integer } } }");
    let admit = |text| show(&admit(&contract, text, RepairLevel::Lossless));
    assert_eq!(admit("Here: {\"\": 1} and some prose, \"\" with quotes."), "quoted_object");
    assert_eq!(admit("Some prose, \"\" with quotes.\n{\"\": 1}"), "{\"\":1}");
    assert_eq!(admit("\"\": 2, and\n\n{\"\": 1}"), "ambiguous");
}

#[test]
fn a_torn_reply_is_refused_however_its_key_is_written() {
    for key in ["b", "\"b\"", "'b'", "`b`", "“b”", "\\\"b\\\"", "c", "„c“", "«c»"] {
        check(&format!("{{\"a\": 1}}, {key}: 2}}"), "ambiguous");
        check(&format!("{{\"a\": 1}}\n{key}: 2}}"), "ambiguous");
        check(&format!("{{\"a\": 1}}, {key}: 2"), "ambiguous");
    }
    check("{\"a\": 1} }", "{\"a\":1}");
}

#[test]
fn what_only_says_the_reply_again_is_no_rival() {
    check("I chose {\"b\": 2} as told.\n\n{\"a\": 1, \"b\": 2}", "{\"a\":1,\"b\":2}");
    check("I chose {\"b\": 3} as told.\n\n{\"a\": 1, \"b\": 2}", "ambiguous");
    check("{\"a\": 1, \"b\": 2}\n\nSo \"b\": 2, as \"a\": 1.", "{\"a\":1,\"b\":2}");
    check("{\"a\": 1, \"b\": 2}\n\nSo \"b\": 3.", "ambiguous");
    check("{\"a\": 1}\n\nAs for \"b\": it was left out.", "{\"a\":1}");
    check("I filled {a} and {b}.\n{\"a\": 1}", "{\"a\":1}");
    // One that stands as a reply is an attempt, whatever it says.
    check("{\"b\": 2}\n\nThe text wants:\n{\"a\": 1, \"b\": 2}", "ambiguous");
}

#[test]
fn an_echoed_schema_is_no_rival() {
    let schema = "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"integer\"}}}";
    check(&format!("{schema}\n\n{{\"a\": 1}}"), "{\"a\":1}");
    check("{\"properties\": {\"a\": 2}}\n\n{\"a\": 1}", "ambiguous");
}

#[test]
fn reasoning_is_passed_over_in_every_notation() {
    for [open, close] in [
        ["<think>", "</think>"],
        ["<analysis>", "</analysis>"],
        ["<Thought>", "</thought>"],
        ["[THINK]", "[/THINK]"],
        ["<|channel|>analysis<|message|>", "<|end|>"],
        ["<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>final<|message|>"],
        ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ] {
        check(&format!("{open}{{\"a\": 2}}{close}{{\"a\": 1}}"), "{\"a\":1}");
        check(&format!("{open}{{\"a\": 2}} {{\"a\": 1}}"), "no_json");
    }
}

#[test]
fn a_closing_mark_without_its_opening_hides_only_what_does_not_stand_as_a_reply() {
    check("Perhaps {\"a\": 2}, no.\n</think>\n{\"a\": 1}", "{\"a\":1}");
    check("Not \"b\": 2} I think.\n</think>\n{\"a\": 1}", "{\"a\":1}");
    check("Not \"b\": 2} I think.\n</think>\n{\"a\": 1}\n</think>", "ambiguous");
    check("{\"a\": 2}\n</think>\n{\"a\": 1}", "ambiguous");
    check("<think>x</think>Perhaps {\"a\": 2}, no.\n</think>\n{\"a\": 1}", "ambiguous");
    check("Perhaps {\"a\": 2}, no.\n</think>\n</think>\n{\"a\": 1}", "ambiguous");
}

#[test]
fn a_lone_wrapper_is_taken_off_and_told() {
    check("{\"result\": {\"a\": 1}}", "{\"a\":1} +wrapper@0-20");
    check("Here: {\"sum\": {\"a\": 1}}", "{\"a\":1} +wrapper@6-23");
    check("[{\"a\": 1}]", "{\"a\":1} +wrapper@0-10");
    check(r#""{\"a\": 1}""#, "{\"a\":1} +wrapper@0-12");
    check("```json\n\"{\\\"a\\\": 1}\"\n```", "{\"a\":1} +code_fence@0-24 +wrapper@8-20");
}

#[test]
fn a_wrapper_that_says_something_stays_on() {
    check("{\"example\": {\"a\": 1}}", "required");
    check("{\"result\": {\"a\": 1}, \"note\": \"no\"}", "required");
    check("{\"result\": {\"a\": \"x\"}}", "required");
    check("{\"result\": {\"result\": {\"a\": 1}}}", "required");
    check("[{\"a\": 1}, {\"a\": 2}]", "not_an_object");
    check("{\"result\": {\"a\": 1, \"a\": 1}}", "duplicate_key, required");
    check("{\"result\": {\"a\": 2}}\n{\"a\": 1}", "ambiguous");
    let strict = show(&admit(&sums(), "{\"result\": {\"a\": 1}}", RepairLevel::None));
    assert_eq!(strict, "required");
    // What the contract takes as it is stays as it is.
    let open = contract("{ type: object, properties: { a: { type: integer } } }");
    let text = "{\"result\": {\"a\": 1}}";
    assert_eq!(show(&admit(&open, text, RepairLevel::Lossless)), "{\"result\":{\"a\":1}}");
}

#[test]
fn an_object_that_is_quoted_is_no_reply() {
    for text in [
        "It asks me to send {\"a\": 1}, which I will not.",
        "Do not send {\"a\": 1}",
        "An example of the format: {\"a\": 1}",
        "<document>{\"a\": 1}</document>",
        "<document>\n\n{\"a\": 1}\n\n</document>",
        "> {\"a\": 1}",
        "It ends with \"{\"a\": 1}\".",
        "| x | {\"a\": 1} |",
        "<!-- {\"a\": 1} -->",
        "{\"a\": 1} is what it says.",
        "{\"a\": 1}，我不同意",
        "Input: {\"a\": 1}",
        "The user: {\"a\": 1}",
        "A note (e.g. {\"a\": 1})",
        "A note, e.g. {\"a\": 1}",
        "See [1: {\"a\": 1}]",
        "Here is what the mail says: {\"a\": 1}",
    ] {
        check(text, "quoted_object");
    }
}

#[test]
fn an_object_between_sentences_or_on_lines_of_its_own_is_a_reply() {
    for text in [
        "Sure! {\"a\": 1}",
        "{\"a\": 1} Hope this helps!",
        "Here is the result: {\"a\": 1} Let me know.",
        "**Result:** `{\"a\": 1}`",
        "result = {\"a\": 1}",
        "- {\"a\": 1}",
        "2. {\"a\": 1}",
        "'{\"a\": 1}'",
        "<answer>{\"a\": 1}</answer>",
        "结果：{\"a\": 1}",
        "json {\"a\": 1}",
        "For the mail you pasted, here is the sum: {\"a\": 1}",
        "{\"a\": 1} // done",
        "{\"a\": 1}<|im_end|>",
    ] {
        check(text, "{\"a\":1}");
    }
}

#[test]
fn too_many_brackets_are_refused_and_few_are_passed_over() {
    check(&format!("{}\n{{\"a\": 1}}", "{x} [1] ".repeat(20_000)), "{\"a\":1}");
    check(&"{x ".repeat(200_000), "too_many_candidates");
}

#[test]
fn a_sentence_that_goes_on_below_an_object_quotes_it() {
    for text in [
        "{\"a\": 1}\nis what the document asks me to reply, which I will not do.",
        "```json\n{\"a\": 1}\n```\nis what the document asks me to reply, which I will not do.",
        "I was asked to answer with\n\n{\"a\": 1}\n\nwhich I will not do.",
        "Somebody hid this in the ticket\n\n```json\n{\"a\": 1}\n```\n\nand I will not follow it.",
        "{\"a\": 1} // this is what the attacker wants me to say",
    ] {
        check(text, "quoted_object");
    }
    check("{\"a\": 1}\n\nhope this helps!", "{\"a\":1}");
    check("{\"a\": 1} // the sum of both", "{\"a\":1}");
}

#[test]
fn whoever_presents_an_answer_may_say_what_became_of_the_last_one() {
    for introduction in [
        "Here is the JSON according to the schema:",
        "Here is the corrected version of my previous reply:",
        "Here is the JSON with the invalid field removed:",
        "Here is the corrected JSON instead:",
        "Here's the JSON you wanted:",
    ] {
        check(&format!("{introduction}\n\n{{\"a\": 1}}"), "{\"a\":1}");
    }
    check("Here is an example of a corrected reply, do not use it:\n{\"a\": 1}", "quoted_object");
    check("Here is what the attacker wrote:\n{\"a\": 1}", "quoted_object");
}
