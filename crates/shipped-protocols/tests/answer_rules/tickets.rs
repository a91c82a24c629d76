//! Tickets: no retrieval without a plan, no draft without a specification, no final answer without PASS.

use countersign_protocol::{Protocol, check_protocol};
use countersign_run::{ForkOrigin, RunStart};
use serde_json::json;

use super::protocol::{ask_question, begin, edited, replied, shipped};

/// What `check` says about skipped tickets.
fn skipped(protocol: &Protocol) -> Vec<String> {
    let findings =
        check_protocol(protocol).into_iter().filter(|finding| finding.code == "ticket_skipped");
    findings.map(|finding| finding.message).collect()
}

#[track_caller]
fn refused(old: &str, new: &str, phase: &str, ticket: &str) {
    let found = skipped(&edited(old, new));
    let mentions = |text: &String| {
        text.contains(&format!("`{phase}`")) && text.contains(&format!("`{ticket}`"))
    };
    assert!(found.iter().any(mentions), "{phase} without {ticket}: {found:#?}");
}

const LAST: &str = "  - { from: lookup, to: retrieve }\n";

#[test]
fn a_way_around_a_stage_is_an_error_of_the_protocol() {
    assert_eq!(skipped(&shipped()), [] as [String; 0]);
    let around = |way: &str| format!("{LAST}  - {way}\n");
    let ways = [
        ("{ from: permit, to: lookup, priority: 9 }", "lookup", "analyst_plan"),
        ("{ from: classify, to: retrieve, priority: 9 }", "retrieve", "analyst_plan"),
        ("{ from: lookup, to: draft, priority: 9 }", "draft", "architect_spec"),
        ("{ from: retrieve, to: rules, priority: 9 }", "rules", "draft"),
        ("{ from: rules, to: answered, priority: 9 }", "answered", "guardian_pass"),
        ("{ from: guardian, to: answered, priority: 9 }", "answered", "guardian_pass"),
        ("{ from: permit, to: answered, priority: 9 }", "answered", "guardian_pass"),
    ];
    for (way, phase, ticket) in ways {
        refused(LAST, &around(way), phase, ticket);
    }
}

#[test]
fn a_fallback_that_goes_on_gives_no_ticket() {
    refused(
        "      then: { goto: default_plan }\n",
        "      then: go_on\n",
        "lookup",
        "analyst_plan",
    );
    refused(
        "      then: { goto: default_spec }\n",
        "      then: go_on\n",
        "draft",
        "architect_spec",
    );
}

#[test]
fn a_run_does_not_start_behind_a_ticket() {
    let protocol = shipped();
    let whole = (*ask_question(&protocol, "How many tasks of ATLAS are late?").document).clone();
    for (phase, ticket) in [
        ("lookup", "analyst_plan"),
        ("retrieve", "analyst_plan"),
        ("architect", "analyst_plan"),
        ("draft", "analyst_plan"),
        ("rules", "draft"),
        ("light", "draft"),
        ("guardian", "draft"),
        ("answered", "guardian_pass"),
    ] {
        let start = |fork: Option<ForkOrigin>, tickets: &[&str]| RunStart {
            phase: Some(phase.to_owned()),
            document: Some(whole.clone()),
            fork,
            tickets: tickets.iter().map(|one| (*one).to_owned()).collect(),
            ..RunStart::default()
        };
        let fork = || {
            Some(serde_json::from_value(json!({ "run": "r0", "version": 3, "hash": "x" })).unwrap())
        };
        for start in [start(None, &[]), start(fork(), &[])] {
            let rejection = begin(&protocol, start).unwrap_err();
            assert_eq!(rejection.code(), "cannot_start", "{phase}");
            assert!(rejection.to_string().contains(ticket), "{phase}: {rejection}");
        }
        let rejection = begin(&protocol, start(None, &[ticket])).unwrap_err();
        assert_eq!(rejection.code(), "cannot_start", "only a fork has tickets: {phase}");
    }
}

#[test]
fn tickets_are_given_stage_by_stage() {
    let protocol = shipped();
    let state = ask_question(&protocol, "How many tasks of ATLAS are late?");
    assert!(state.tickets.is_empty());
    let plan = json!({
        "intent": "count", "request_type": "STATUS_METRIC", "track": "QUALITY", "required_sources": ["db"],
        "missing_info_questions": [], "expected_output_schema": "answer_v1_markdown",
    });
    let state = replied(&protocol, &state, &plan);
    assert_eq!(state.phase, "lookup");
    assert_eq!(state.tickets.iter().collect::<Vec<_>>(), ["analyst_plan"]);
}
