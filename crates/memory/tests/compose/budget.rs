//! What a packet may cost, and what happens when not everything fits.

use super::rows::*;
use countersign_memory::compose::{ComposeError, compose_packet};
use countersign_memory::policy::{InjectionStrength, MemoryPolicy};
use countersign_memory::render::render_packet;
use countersign_memory::tokens::{CharCounter, TiktokenCounter, TokenCounter as _};
use countersign_memory::{BudgetOverride, Candidates, PacketRequest, ScoredRow};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::meta::{PacketPurpose, SectionBudgets};
use serde_json::json;

#[test]
fn a_budget_below_the_least_is_refused() {
    let request = PacketRequest { budget: Some(tokens(255)), ..request(PacketPurpose::Planner) };
    let error =
        compose_packet(&request, &policy(), &Candidates::default(), &CharCounter).unwrap_err();
    assert_eq!(error, ComposeError::Budget { minimum: 256, found: 255 });
    assert_eq!(error.to_string(), "a packet needs at least 256 tokens, found 255");
}

#[test]
fn the_floor_is_given_or_nothing_is() {
    let mut found = Candidates {
        working_memory: Some(working(json!({
            "goal": "word ".repeat(300), "slots": {"a": 1}, "constraints": {}, "state_version": 3
        }))),
        ..Candidates::default()
    };
    let small = PacketRequest { budget: Some(tokens(256)), ..request(PacketPurpose::Planner) };
    let error = compose_packet(&small, &policy(), &found, &TiktokenCounter::o200k()).unwrap_err();
    let ComposeError::StateFloor { needed, allowed: 256 } = error else { panic!("{error}") };
    let enough = PacketRequest { budget: Some(tokens(needed)), ..request(PacketPurpose::Planner) };
    let packet = composed(&enough, &found);
    assert_eq!(packet.budget_report.used_tokens_est, needed);
    assert_eq!(packet.short_term.working_state.state_version, 3);

    // More than its share is fine; more than what the caller allows is not.
    found.working_memory =
        Some(working(json!({ "goal": "word ".repeat(100), "state_version": 0 })));
    composed(&small, &found);
    let per_section = SectionBudgets {
        working_state: 50,
        facts: 100,
        procedures: 0,
        short_term_summary: 0,
        episodes: 0,
        insights: 0,
    };
    let budget = Some(BudgetOverride { max_tokens: 1_000, per_section: Some(per_section) });
    let hard = PacketRequest { budget, ..request(PacketPurpose::Planner) };
    let error = compose_packet(&hard, &policy(), &found, &TiktokenCounter::o200k()).unwrap_err();
    assert!(matches!(error, ComposeError::StateFloor { allowed: 50, .. }), "{error}");
}

#[test]
fn sections_of_the_caller_are_kept_to_and_cut_in_proportion() {
    let facts = (0..40).map(|it| fact(&format!("f{it}"), &format!("k{it}"), "some value of it"));
    let found = with_facts(facts.collect());
    let per_section = SectionBudgets {
        working_state: 600,
        facts: 300,
        procedures: 300,
        short_term_summary: 0,
        episodes: 0,
        insights: 0,
    };
    let budget = Some(BudgetOverride { max_tokens: 400, per_section: Some(per_section) });
    let packet = composed(&PacketRequest { budget, ..request(PacketPurpose::Planner) }, &found);
    let applied = packet.meta.budget.per_section;
    assert_eq!((applied.working_state, applied.facts, applied.procedures), (200, 100, 100));
    assert!(packet.budget_report.section_usage["facts"] <= 100);
    assert_eq!(packet.explain.filters["budget"], "sections of the request");
}

#[test]
fn under_pressure_the_ladder_is_written_down() {
    let rows = (0..30).map(|it| {
        fact(&format!("f{it:02}"), &format!("key{it}"), format!("{it} {}", "word ".repeat(60)))
    });
    let mut found = with_facts(rows.collect());
    found.episodes = (0..6)
        .map(|it| {
            ScoredRow::from_row(episode(
                &format!("e{it}"),
                it,
                &format!("{it} {}", "thing ".repeat(90)),
            ))
        })
        .collect();
    found.insights = (0..10)
        .map(|it| {
            let mut row = insight(
                &format!("i{it}"),
                InsightValidationState::Unvalidated,
                &format!("{it} {}", "guess ".repeat(50)),
            );
            row.confidence = f64::from(it) / 10.0;
            ScoredRow::from_row(row)
        })
        .collect();
    let request = PacketRequest { budget: Some(tokens(900)), ..request(PacketPurpose::Planner) };
    let packet = composed(&request, &found);
    let actions: Vec<(&str, &str)> = packet
        .budget_report
        .degradations
        .iter()
        .map(|it| (it.section.as_str(), it.action.as_str()))
        .collect();
    for step in [
        ("facts", "stronger_compression"),
        ("facts", "fewer_items"),
        ("episodes", "tighter_window"),
        ("insights", "dropped_low_confidence"),
    ] {
        assert!(actions.contains(&step), "{step:?} in {actions:?}");
    }
    assert!(packet.insight.hypotheses.iter().any(|it| it.id == "i9"));
    assert_eq!(reason(&packet, "i0").as_deref(), Some("budget"));
    let refs = packet.long_term.facts.iter().filter(|it| it.value == "…");
    assert!(refs.count() > 0);

    let mut tiny = policy();
    (tiny.longest_item, tiny.short_item) = (200, 100);
    found.facts.clear();
    found.episodes.clear();
    let budget = Some(BudgetOverride {
        max_tokens: 256,
        per_section: Some(SectionBudgets {
            working_state: 0,
            facts: 0,
            procedures: 0,
            short_term_summary: 0,
            episodes: 0,
            insights: 20,
        }),
    });
    let packet = composed_by(&PacketRequest { budget, ..request }, &tiny, &found);
    let last = packet.budget_report.degradations.last().unwrap();
    assert_eq!(
        (last.action.as_str(), last.reason.as_str()),
        ("dropped_section", "no insight of 10 fits")
    );
}

#[test]
fn of_facts_that_answer_alike_the_least_sure_go_first() {
    let rows = (0..12).map(|it| {
        let mut row = fact(&format!("f{it:02}"), &format!("key{it}"), "word ".repeat(40));
        // The newer, the less sure.
        (row.confidence, row.recorded_at) =
            (1.0 - f64::from(it) / 20.0, NOW.plus_millis(-DAY + i64::from(it)));
        row
    });
    let mut found = with_facts(rows.collect());
    let small = PacketRequest { budget: Some(tokens(256)), ..request(PacketPurpose::Planner) };
    let packet = composed(&small, &found);
    let given = facts(&packet);
    assert!(given.len() < 12 && given.contains(&"f00") && !given.contains(&"f11"), "{given:?}");
    let steps = |packet: &MemoryPacket| -> Vec<String> {
        packet.budget_report.degradations.iter().map(|it| it.action.clone()).collect()
    };
    assert!(steps(&packet).contains(&"dropped_low_confidence".to_owned()));

    // What answers goes in before what is sure.
    found.facts[11].score.total = 1_000_000;
    let packet = composed(&small, &found);
    assert!(facts(&packet).contains(&"f11"));
    assert!(steps(&packet).contains(&"fewer_items".to_owned()));
}

#[test]
fn what_has_no_key_of_its_own_is_charged_to_another() {
    let mut policy = policy();
    policy.matrix.planner.window = InjectionStrength::Weak;
    let charged = |found: &Candidates, section: &str| {
        let packet = composed_by(&request(PacketPurpose::Planner), &policy, found);
        let report = &packet.budget_report;
        let text = render_packet(&packet, PacketPurpose::Planner).unwrap();
        let tokens = TiktokenCounter::o200k();
        let counted: u64 = text.split_inclusive('\n').map(|line| tokens.count(line)).sum();
        assert!(counted > 0);
        assert_eq!(report.section_usage[section], counted, "{text}");
        assert_eq!(report.used_tokens_est, counted, "{text}");
    };
    let mut row = working(json!({ "state_version": 1 }));
    let open = json!({ "question": "who signs?", "status": "open" });
    row.open_loops = vec![serde_json::from_value(open).unwrap()];
    charged(&Candidates { working_memory: Some(row), ..Candidates::default() }, "working_state");
    let row = working(json!({
        "tool_evidence": [{ "ref": "t1", "summary": "it rains" }], "state_version": 1
    }));
    charged(&Candidates { working_memory: Some(row), ..Candidates::default() }, "working_state");
    let window = vec![event("w1", 1, "good morning")];
    charged(&Candidates { window, ..Candidates::default() }, "short_term_summary");
    let quotes = vec![scored(event("q1", 1, "good night"), 1_000_000)];
    charged(&Candidates { quotes, ..Candidates::default() }, "short_term_summary");
}

#[test]
fn of_too_many_in_all_the_least_needed_kinds_give_way() {
    let mut found = with_facts(vec![fact("f1", "a", 1), fact("f2", "b", 2)]);
    found.procedures = vec![ScoredRow::from_row(procedure("p1", &["ask"]))];
    found.quotes =
        vec![scored(event("q1", 1, "one"), 2_000_000), scored(event("q2", 2, "two"), 1_000_000)];
    found.episodes = vec![ScoredRow::from_row(episode("e1", 1, "A call."))];
    found.insights = vec![ScoredRow::from_row(insight(
        "i1",
        InsightValidationState::Unvalidated,
        "They may leave.",
    ))];
    let mut policy = policy();
    policy.candidates.total = 4;
    let packet = composed_by(&request(PacketPurpose::Planner), &policy, &found);
    assert_eq!((facts(&packet), quotes(&packet)), (vec!["f1", "f2"], vec!["q1"]));
    assert_eq!(packet.long_term.procedures.len(), 1);
    let omissions = packet.budget_report.omissions.as_ref().unwrap();
    for item in ["q2", "e1", "i1"] {
        assert_eq!(reason(&packet, item).as_deref(), Some("candidates"), "{item}");
        assert!(omissions.iter().any(|it| it.item == item && it.reason == "candidates"), "{item}");
    }
}

#[test]
fn what_is_complete_passes_the_rest_on() {
    let quotes = (0..60).map(|it| {
        scored(event(&format!("q{it:02}"), it, &format!("{it} {}", "said ".repeat(30))), 1_000_000)
    });
    let mut found = Candidates { quotes: quotes.collect(), ..Candidates::default() };
    let mut policy = policy();
    (policy.caps.quotes, policy.candidates.per_kind) = (60, 60);
    let alone = composed_by(&request(PacketPurpose::Planner), &policy, &found);
    found.facts = vec![ScoredRow::from_row(fact("f1", "city", "Rome"))];
    let with_fact = composed_by(&request(PacketPurpose::Planner), &policy, &found);
    let used = |packet: &MemoryPacket| packet.budget_report.section_usage["short_term_summary"];
    assert!(used(&alone) > 1_300, "{}", used(&alone));
    assert!(used(&with_fact) > 1_300, "{}", used(&with_fact));
    // The budget is the policy's, whatever there is to give.
    assert_eq!(with_fact.meta.budget, alone.meta.budget);
    let per_section = with_fact.meta.budget.per_section;
    assert_eq!(
        (per_section.facts, per_section.insights),
        (481, 120),
        "4 and 1 of 17 parts of 2,048"
    );
    assert!(with_fact.budget_report.section_usage["facts"] < 20);
}

#[test]
fn space_is_used_while_something_waits() {
    for (words, budget) in [(55, 256), (90, 256), (20, 300), (140, 1_000)] {
        let rows = (0..30).map(|it| {
            fact(
                &format!("f{it:02}"),
                &format!("the key of fact number {it:02}"),
                "word ".repeat(words),
            )
        });
        let asked =
            PacketRequest { budget: Some(tokens(budget)), ..request(PacketPurpose::Planner) };
        let packet = composed(&asked, &with_facts(rows.collect()));
        let report = &packet.budget_report;
        assert!(!report.omissions.as_ref().unwrap().is_empty(), "some wait");
        assert!(
            report.used_tokens_est * 100 >= budget * 88,
            "{words}: {} used",
            report.used_tokens_est
        );
        let forms: Vec<usize> =
            packet.long_term.facts.iter().map(|it| it.value.as_str().map_or(0, str::len)).collect();
        assert!(
            forms.is_sorted_by(|one, next| one >= next),
            "the first ones are longer: {forms:?}"
        );
    }
}

#[test]
fn a_larger_budget_buys_more_quotes() {
    let said = |it: u32| format!("{it} {}", "we talked about the garden and its trees ".repeat(3));
    let quotes = (0..300).map(|it| scored(event(&format!("q{it:03}"), it, &said(it)), 1_000_000));
    let found = Candidates { quotes: quotes.collect(), ..Candidates::default() };
    let mut before = (0, 0);
    for budget in [256, 1_000, 2_000, 4_000, 8_000] {
        let request =
            PacketRequest { budget: Some(tokens(budget)), ..request(PacketPurpose::Planner) };
        let packet = composed(&request, &found);
        let now = (quotes_of(&packet), packet.budget_report.used_tokens_est);
        assert!(now.0 > before.0 && now.1 > before.1, "{budget}: {now:?} after {before:?}");
        // Shortened quotes and references have a share of their own.
        assert!(now.1 * 10 >= budget.min(4_000) * 4, "{budget}: {now:?}");
        before = now;
    }
}

fn quotes_of(packet: &MemoryPacket) -> usize {
    quotes(packet).len()
}

#[test]
fn a_long_message_shows_the_piece_that_answers() {
    let lines = |about: &str| format!("- Something to know about {about}.\n").repeat(12);
    let text = format!("{}\n## Grout\nUse epoxy.\n{}", lines("tiles"), lines("joints"));
    let mut row = scored(event("q1", 1, &text), 1_000_000);
    row.score.piece = Some(2);
    let found = Candidates { quotes: vec![row], ..Candidates::default() };
    let packet = composed(&request(PacketPurpose::Planner), &found);
    let quote = &packet.short_term.key_quotes.as_ref().unwrap()[0];
    assert_eq!(quote.evidence_id, "q1", "the message has one id");
    assert!(quote.quote.starts_with("… ## Grout\nUse epoxy."), "{}", quote.quote);
    assert!(packet.explain.selected[0].contains("piece:2/"), "{:?}", packet.explain.selected);
}

#[test]
fn an_item_that_is_too_long_is_shortened_whatever_the_budget() {
    let found = with_facts(vec![fact("f1", "story", "Once upon a time. ".repeat(200))]);
    let request =
        PacketRequest { budget: Some(tokens(100_000)), ..request(PacketPurpose::Planner) };
    let packet = composed(&request, &found);
    let value = packet.long_term.facts[0].value.as_str().unwrap();
    assert!(value.ends_with("a time.…"), "{value}");
    assert_eq!(packet.explain.selected, ["f1|fact,active,valid,shortened"]);
    assert_eq!(packet.budget_report.degradations[0].reason, "`f1` is longer than the longest item");
}

#[test]
fn recall_gives_everything_to_quotes() {
    let mut found = with_facts(vec![fact("f1", "a", 1)]);
    found.quotes = (0..300)
        .map(|it| {
            let mut row = event(&format!("q{it}"), it, &format!("turn number {it} of the talk"));
            row.speaker = Some(if it % 2 == 0 { "Anna" } else { "Boris" }.to_owned());
            scored(row, 1_000_000 + i64::from(it))
        })
        .collect();
    let policy = MemoryPolicy::load_shipped("recall").unwrap();
    let request = PacketRequest {
        budget: Some(tokens(1_000)),
        ..asking(PacketPurpose::Planner, &["talk"], &[], &[])
    };
    let packet = composed_by(&request, &policy, &found);
    assert!(packet.budget_report.used_tokens_est > 980, "{}", packet.budget_report.used_tokens_est);
    assert_eq!(packet.meta.budget.per_section.short_term_summary, 1_000);
    assert!(facts(&packet).is_empty());
    let text = render_packet(&packet, PacketPurpose::Planner).unwrap();
    assert!(text.ends_with("Boris: turn number 299 of the talk\n"), "{text}");
    assert_eq!(text.matches("[2026-01-20]").count(), 1);
}

#[test]
fn a_policy_that_promises_too_much_does_not_break_the_budget() {
    let mut policy = policy();
    (policy.tiers.raw, policy.tiers.short, policy.tiers.reference) = (900, 900, 900);
    let rows =
        (0..30).map(|it| fact(&format!("f{it:02}"), &format!("key{it}"), "word ".repeat(40)));
    let request = PacketRequest { budget: Some(tokens(300)), ..request(PacketPurpose::Planner) };
    composed_by(&request, &policy, &with_facts(rows.collect()));
}

#[test]
fn what_does_not_fit_at_all_is_a_section_dropped() {
    let mut found =
        Candidates { summary: Some(summary(&"word ".repeat(50))), ..Candidates::default() };
    found.quotes = vec![scored(event("q1", 1, &"said ".repeat(50)), 1_000_000)];
    let sections = json!({ "working_state": 0, "facts": 0, "procedures": 0,
        "short_term_summary": 5, "episodes": 0, "insights": 0 });
    let per_section = Some(serde_json::from_value(sections).unwrap());
    let budget = Some(BudgetOverride { max_tokens: 256, per_section });
    let packet = composed(&PacketRequest { budget, ..request(PacketPurpose::Responder) }, &found);
    let last = packet.budget_report.degradations.last().unwrap();
    assert_eq!(last.action, "dropped_section");
    assert_eq!(reason(&packet, "rolling_summary").as_deref(), Some("budget"));
    assert_eq!(reason(&packet, "q1").as_deref(), Some("budget"));
}
