//! Every number of a STATUS answer has a reference of its own, to evidence that has the number.

use countersign_contract::expr::Expr;
use serde_json::{Value, json};

use super::protocol::{WORKFLOW, read};

/// The rule as the workflow has it.
fn rule() -> Expr {
    let workflow = read(WORKFLOW);
    let ways = workflow["transitions"].as_array().unwrap();
    let way = ways.iter().find(|way| way["from"] == "draft" && way["to"] == "rules").unwrap();
    let changes = way["apply"].as_array().unwrap();
    let mut values = changes.iter().filter_map(|change| change["set"]["value"].as_str());
    let value = values.find(|value| value.contains("'contract.numbers'")).unwrap();
    Expr::compile(value, &["state"]).unwrap()
}

/// The numbers of a draft that nothing stands for.
fn uncited(rule: &Expr, request_type: &str, draft: &str) -> Vec<String> {
    let state = json!({
        "request_type": request_type,
        "findings": [],
        "draft_answer": draft,
        "architect_spec": { "required_sections": ["Answer", "Top 3"] },
        "evidence": [
            { "snippet": "project: ATLAS; tasks: 20; done: 9; late: 1; completion_percent: 45" },
            { "snippet": "id: A-16; due: 2026-11-13; title: Attachments up to 20 MB" },
            { "snippet": "planned: 310000; spent: 168400" },
        ],
    });
    let found = rule.eval(&[Some(&state)]).unwrap().to_json().unwrap();
    let detail = found.pointer("/0/detail").and_then(Value::as_array).cloned().unwrap_or_default();
    detail.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_number_in_a_status_answer_carries_a_reference_to_evidence_that_has_it() {
    let rule = rule();
    for (draft, expected) in [
        ("1 task is late [1].", &[][..]),
        ("1 task is late.", &["1"]),
        ("1 task is late, from the database.", &["1"]),
        ("1 task is late [2].", &["1"]),
        ("1 task is late [7].", &["1"]),
        ("1 task is late [0].", &["1"]),
        ("1 task is late [x].", &["1"]),
        ("[1] 1 task is late.", &["1"]),
        ("1 task is late\n[1].", &["1"]),
        ("Of 20 tasks 9 are done [1].", &[]),
        ("Of 20 tasks 8 are done [1].", &["8"]),
        ("9 are done [1], and 12 are not.", &["12"]),
        ("9 are done [1], and 1 is late [3].", &["1"]),
        ("9 are done [3][1].", &[]),
        ("9 are done [3], [1].", &[]),
        ("9 are done [3] and so on [1].", &["9"]),
        ("45% are done [1], 45 percent [1].", &[]),
        ("168,400 of 310 000 euros [3].", &[]),
        ("168.4 euros [3].", &["168.4"]),
        ("A-16 is late since 2026-11-13 [2].", &[]),
        ("| ATLAS | 9 | 20 | [1] |", &[]),
        ("9건이 완료되었다 [1].", &[]),
        ("8건이 완료되었다 [1].", &["8"]),
        ("1. The first [1]\n2. 9 are done [1]\n3. The last", &[]),
        ("1) The first\n2) 9 are done", &["9"]),
        ("57. tasks are late", &["57"]),
        ("1. A list\n3. that skips", &["3"]),
        ("## Answer\n## Top 3\nNothing.", &[]),
        ("## 57 tasks are late", &["57"]),
        ("Top 3", &["3"]),
        ("No number at all.", &[]),
    ] {
        assert_eq!(uncited(&rule, "STATUS_METRIC", draft), expected, "{draft}");
        assert!(uncited(&rule, "DESIGN_ARCH", draft).is_empty(), "only STATUS answers: {draft}");
    }
}
