//! What goes into a packet, what stays out, and what is told about it: a case a rule.

use super::rows::*;
use countersign_contract::Timestamp;
use countersign_memory::compose::compose_packet;
use countersign_memory::policy::{CitationMarkerStyle, InjectionStrength};
use countersign_memory::record::{
    FactEvidence, MemoryEventKind, MemoryExpiry, MemoryOrigin, SpeakerRole,
};
use countersign_memory::render::{measure_common_prefix, render_packet};
use countersign_memory::tokens::{CharCounter, TiktokenCounter};
use countersign_memory::{Candidates, ScoredRow};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::{CueTimeRange, PacketPurpose};
use serde_json::json;

#[test]
fn an_empty_memory_is_an_empty_packet() {
    for purpose in [PacketPurpose::Planner, PacketPurpose::Tool, PacketPurpose::Responder] {
        let packet = composed(&request(purpose), &Candidates::default());
        assert_eq!(packet.budget_report.used_tokens_est, 0);
        assert_eq!(packet.budget_report.max_tokens, 2_048);
        assert_eq!(render_packet(&packet, purpose).unwrap(), "");
    }
}

#[test]
fn only_facts_that_hold_now_go_in() {
    let mut ends_now = fact("now", "a", 1);
    ends_now.valid_to = Some(NOW);
    let mut ended = fact("ended", "b", 1);
    ended.valid_to = Some(NOW.plus_millis(-1));
    let mut begins = fact("begins", "c", 1);
    begins.valid_from = Some(NOW.plus_millis(1));
    let mut deprecated = fact("old", "d", "before");
    (deprecated.status, deprecated.superseded_by) =
        (FactStatus::Deprecated, Some("new".to_owned()));
    let new = fact("new", "d", "after");
    let packet = composed(
        &request(PacketPurpose::Planner),
        &with_facts(vec![ends_now, ended, begins, deprecated, new]),
    );
    assert_eq!(facts(&packet), ["now", "new"]);
    assert_eq!(reason(&packet, "ended").as_deref(), Some("expired"));
    assert_eq!(reason(&packet, "begins").as_deref(), Some("not_yet_valid"));
    assert_eq!(reason(&packet, "old").as_deref(), Some("deprecated"));
    let conflict = &packet.explain.conflicts[0];
    assert_eq!(conflict.kind, "superseded");
    assert_eq!(conflict.fact_ids, Some(vec!["old".to_owned(), "new".to_owned()]));
}

#[test]
fn what_was_replaced_is_given_for_the_time_before() {
    let mut old = fact("old", "city", "Paris");
    (old.status, old.superseded_by) = (FactStatus::Deprecated, Some("new".to_owned()));
    let mut new = fact("new", "city", "Rome");
    new.valid_from = Some(NOW);
    // One that was wrong from the beginning held never.
    let mut wrong = fact("wrong", "job", "smith");
    (wrong.status, wrong.superseded_by) = (FactStatus::Deprecated, Some("right".to_owned()));
    let found = with_facts(vec![old, new, wrong, fact("right", "job", "baker")]);
    let mut asked = request(PacketPurpose::Responder);
    assert_eq!(facts(&composed(&asked, &found)), ["new", "right"]);
    asked.as_of = NOW.plus_millis(-1);
    let before = composed(&asked, &found);
    assert_eq!(facts(&before), ["old", "right"]);
    assert_eq!(before.long_term.facts[0].status, FactStatus::Active);
    assert_eq!(reason(&before, "new").as_deref(), Some("not_yet_valid"));
    assert_eq!(reason(&before, "wrong").as_deref(), Some("deprecated"));
}

#[test]
fn a_dispute_is_of_the_time_in_which_both_hold() {
    let mut one = fact("one", "city", "Paris");
    let mut two = fact("two", "city", "Rome");
    (one.status, two.status) = (FactStatus::Disputed, FactStatus::Disputed);
    two.valid_from = Some(NOW);
    let found = with_facts(vec![one, two]);
    let mut asked = request(PacketPurpose::Responder);
    assert!(facts(&composed(&asked, &found)).is_empty());
    asked.as_of = NOW.plus_millis(-1);
    let before = composed(&asked, &found);
    assert_eq!(facts(&before), ["one"]);
    assert_eq!(before.long_term.facts[0].status, FactStatus::Active);
    assert!(before.explain.conflicts.is_empty());
}

#[test]
fn the_nearest_level_has_the_key() {
    let mut tenant = fact("tenant", "tone", "formal");
    tenant.level = ScopeLevel::Tenant;
    let mut agent = fact("agent", "tone", "brief");
    agent.level = ScopeLevel::Agent;
    let mut other = fact("other", "currency", "EUR");
    other.level = ScopeLevel::Tenant;
    let user = fact("user", "tone", "warm");
    let found = with_facts(vec![tenant, agent, other, user]);
    let packet = composed(&request(PacketPurpose::Responder), &found);
    assert_eq!(facts(&packet), ["other", "user"]);
    for hidden in ["tenant", "agent"] {
        let omitted = packet.explain.omitted.iter().find(|it| it.item == hidden).unwrap();
        assert_eq!(
            (omitted.reason.as_str(), &omitted.extra["overridden_by"]),
            ("overridden", &json!("user"))
        );
    }
}

#[test]
fn what_is_disputed_goes_to_the_planner_whole_or_not_at_all() {
    let mut one = fact("one", "city", "Paris");
    let mut two = fact("two", "city", "Rome");
    (one.status, two.status) = (FactStatus::Disputed, FactStatus::Disputed);
    let found = with_facts(vec![one, two]);
    let packet = composed(&request(PacketPurpose::Planner), &found);
    assert!(facts(&packet).is_empty(), "a dispute is no fact");
    let [conflict] = &packet.explain.conflicts[..] else { panic!("one conflict") };
    assert_eq!(conflict.kind, "disputed");
    let shown = conflict.list_shown_facts();
    let shown: Vec<_> = shown.iter().map(|it| (&*it.fact_id, &it.value, it.status)).collect();
    let (paris, rome) = (json!("Paris"), json!("Rome"));
    let disputed = FactStatus::Disputed;
    assert_eq!(shown, [("one", &paris, disputed), ("two", &rome, disputed)]);
    let cited: Vec<&str> = packet.citations.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(cited, ["m1"], "the sources of both resolve");
    let text = render_packet(&packet, PacketPurpose::Planner).unwrap();
    assert_eq!(text, "# Disputed, not settled\n- city: Paris\n- city: Rome\n");
    for purpose in [PacketPurpose::Tool, PacketPurpose::Responder] {
        let packet = composed(&request(purpose), &found);
        assert!(facts(&packet).is_empty());
        assert_eq!(reason(&packet, "one").as_deref(), Some("disputed"));
        let told = serde_json::to_string(&packet).unwrap();
        assert!(!told.contains("Paris") && !told.contains("Rome"), "{told}");
    }
}

#[test]
fn of_two_in_dispute_only_the_one_without_evidence_is_called_so() {
    let mut one = fact("one", "city", "Paris");
    let mut two = fact("two", "city", "Rome");
    (one.status, two.status) = (FactStatus::Disputed, FactStatus::Disputed);
    one.evidence = vec![FactEvidence { event: "e1".to_owned(), quote: None }];
    two.evidence = vec![FactEvidence { event: "gone".to_owned(), quote: None }];
    let mut found = with_facts(vec![one, two]);
    found.quotes = vec![ScoredRow::from_row(event("e1", 1, "I live in Paris."))];
    let packet = composed(&request(PacketPurpose::Planner), &found);
    let told = packet.explain.selected.iter().filter(|line| line.contains("|fact,"));
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["one|fact,disputed,valid", "two|fact,disputed,valid,unsupported"]
    );
}

#[test]
fn rows_without_a_score_of_the_store_are_put_in_order_by_what_was_asked() {
    let mut found = with_facts(vec![fact("f1", "rent", 900), fact("f2", "train", "to Lyon")]);
    found.episodes = ["A long tale.", "The train was late."]
        .iter()
        .zip(["e1", "e2"])
        .map(|(text, id)| ScoredRow::from_row(episode(id, 1, text)))
        .collect();
    let guesses = [("i1", "Rents rise."), ("i2", "The train is late.")];
    let guess =
        |(id, text)| ScoredRow::from_row(insight(id, InsightValidationState::Unvalidated, text));
    found.insights = guesses.into_iter().map(guess).collect();
    let steps = [("p1", "Pay."), ("p2", "Book the trains.")];
    found.procedures =
        steps.into_iter().map(|(id, step)| ScoredRow::from_row(procedure(id, &[step]))).collect();
    let mut asks = request(PacketPurpose::Planner);
    asks.message = Some("When does the train leave?".to_owned());
    let packet = composed(&asks, &found);
    let told: Vec<&str> = packet.explain.selected.iter().map(String::as_str).collect();
    let expected = [
        "p2|procedure,task_type,priority:0,message:1/2",
        "p1|procedure,task_type,priority:0",
        "i2|insight,unvalidated,confidence:0.3,message:1/2",
        "i1|insight,unvalidated,confidence:0.3",
        "f2|fact,active,valid,message:1/2",
        "f1|fact,active,valid",
        "e2|episode,recent,message:1/2",
        "e1|episode,recent",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_keyword_finds_by_the_names_of_a_row_and_by_every_form_of_a_word() {
    let mut tagged = episode("e1", 20, "We talked.");
    tagged.tags = vec!["allergy".to_owned()];
    let mut found =
        Candidates { episodes: vec![ScoredRow::from_row(tagged)], ..Candidates::default() };
    found.episodes.push(ScoredRow::from_row(episode("e2", 20, "They went by tram.")));
    let told = |words: &[&str]| {
        let packet = composed(&asking(PacketPurpose::Planner, words, &[], &[]), &found);
        episodes(&packet).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&["Allergies"]), ["e1"]);
    assert_eq!(told(&["going by tram"]), ["e2"]);
    assert!(told(&["the"]).is_empty(), "a word that finds nothing is no cue");
}

#[test]
fn a_fact_without_evidence_says_so() {
    let mut found = with_facts(vec![fact("f1", "a", 1)]);
    let mut unsupported = fact("f2", "b", 2);
    unsupported.evidence[0].event = "gone".to_owned();
    found.facts.push(ScoredRow::from_row(unsupported));
    let packet = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!(packet.long_term.facts[0].sources, ["m1"]);
    assert!(packet.long_term.facts[1].sources.is_empty());
    assert_eq!(
        packet.explain.selected,
        ["f1|fact,active,valid", "f2|fact,active,valid,unsupported"]
    );
    assert_eq!(packet.citations.len(), 1);
    assert_eq!(packet.citations[0].summary.as_deref(), Some("user: the price is 100"));
}

#[test]
fn what_a_fact_says_in_the_same_words_is_not_quoted_too() {
    let stated = |id: &str, value: &str, event: &str| {
        let mut row = fact(id, id, value);
        row.evidence = vec![FactEvidence { event: event.to_owned(), quote: None }];
        row
    };
    let mut found =
        with_facts(vec![stated("f1", "Ann is vegetarian", "e1"), stated("f2", "vegetarian", "e2")]);
    found.quotes = vec![
        scored(event("e1", 1, "Ann is vegetarian"), 2_000_000),
        scored(event("e2", 2, "Yes, vegetarian!"), 1_000_000),
    ];
    let packet = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!((facts(&packet), quotes(&packet)), (vec!["f1", "f2"], vec!["e2"]));
    let omitted = packet.explain.omitted.iter().find(|it| it.item == "e1").unwrap();
    assert_eq!(
        (omitted.reason.as_str(), &omitted.extra["duplicate_of"]),
        ("duplicate", &json!("f1"))
    );
    let cited: Vec<&str> = packet.citations.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(cited, ["e1", "e2"], "it is still the evidence");
}

#[test]
fn preferences_are_facts_counted_and_written_once() {
    let mut tone = fact("tone", "tone", "warm");
    tone.preference = true;
    let found = with_facts(vec![tone, fact("city", "city", "Rome")]);
    let packet = composed(&request(PacketPurpose::Responder), &found);
    assert_eq!(facts(&packet), ["city", "tone"]);
    assert_eq!(packet.long_term.preferences.as_ref().unwrap().len(), 1);
    let text = render_packet(&packet, PacketPurpose::Responder).unwrap();
    assert_eq!(text, "# Known facts\n- city: Rome\n# Preferences\n- tone: warm\n");
    let used = TiktokenCounter::o200k();
    let counted: u64 = text
        .split_inclusive('\n')
        .map(|line| countersign_memory::tokens::TokenCounter::count(&used, line))
        .sum();
    assert_eq!(packet.budget_report.used_tokens_est, counted);
}

#[test]
fn cues_decide_which_facts_come_first() {
    let rows = (0..40).map(|it| fact(&format!("f{it:02}"), &format!("k{it}"), "plain"));
    let mut found = with_facts(rows.collect());
    found.facts.push(ScoredRow::from_row(fact("z", "price", "one hundred")));
    let packet = composed(&asking(PacketPurpose::Planner, &["prices"], &[], &[]), &found);
    assert_eq!(packet.explain.selected[0], "z|fact,active,valid,keyword:prices");
    assert_eq!(facts(&packet).len(), 30);
    assert_eq!(reason(&packet, "f39").as_deref(), Some("cap"));
    let omissions = packet.budget_report.omissions.unwrap();
    assert_eq!(omissions.iter().filter(|it| it.reason == "cap").count(), 11);
}

#[test]
fn procedures_are_those_of_the_task_by_priority() {
    let mut found = Candidates::default();
    let mut first = procedure("p1", &["ask", "write"]);
    first.priority = 5;
    let mut other_task = procedure("p2", &["bake"]);
    other_task.task_type = "cake".to_owned();
    let mut for_tools = procedure("p3", &["call"]);
    for_tools.applicability.insert("purposes".to_owned(), json!(["tool"]));
    let mut tagged = procedure("p4", &["hurry"]);
    tagged.applicability.insert("tags".to_owned(), json!(["urgent"]));
    let mut used = procedure("p5", &["sign"]);
    used.usage = 9;
    let rows = [procedure("p6", &["read"]), used, tagged, for_tools, other_task, first];
    found.procedures = rows.into_iter().map(ScoredRow::from_row).collect();
    let ids = |packet: &MemoryPacket| -> Vec<String> {
        packet.long_term.procedures.iter().map(|it| it.procedure_id.clone()).collect()
    };
    let packet = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!(ids(&packet), ["p1", "p5", "p6"]);
    assert_eq!(reason(&packet, "p2").as_deref(), Some("task_type"));
    assert_eq!(reason(&packet, "p3").as_deref(), Some("not_applicable"));
    let urgent = composed(&asking(PacketPurpose::Tool, &[], &[], &["Urgent"]), &found);
    assert_eq!(ids(&urgent), ["p1", "p5", "p4", "p3", "p6"].map(str::to_owned));
    let responder = composed(&request(PacketPurpose::Responder), &found);
    assert_eq!(reason(&responder, "p1").as_deref(), Some("purpose"));
}

#[test]
fn episodes_age() {
    let mut acme = episode("strong", 60, "the audit");
    acme.entities = vec!["Acme".to_owned()];
    let mut straddling = episode("edge", 7, "over the edge of the week");
    straddling.start = NOW.plus_millis(-20 * DAY);
    let mut later = episode("later", 0, "is still to come");
    (later.start, later.end) = (NOW.plus_millis(1), NOW.plus_millis(2));
    let rows = vec![
        episode("young", 6, "a call"),
        straddling,
        episode("old", 8, "a visit about the price"),
        episode("older", 31, "a letter about the price"),
        acme,
        episode("oldest", 91, "the price of Acme"),
        later,
    ];
    let found = Candidates {
        episodes: rows.into_iter().map(ScoredRow::from_row).collect(),
        ..Candidates::default()
    };
    let plain = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!(episodes(&plain), ["edge", "young"]);
    for (id, why) in [
        ("old", "no_cue"),
        ("older", "window"),
        ("strong", "window"),
        ("oldest", "aged"),
        ("later", "window"),
    ] {
        assert_eq!(reason(&plain, id).as_deref(), Some(why), "{id}");
    }
    let cued = composed(&asking(PacketPurpose::Planner, &["price"], &["acme"], &[]), &found);
    assert_eq!(episodes(&cued), ["strong", "edge", "old", "young"]);
    assert_eq!(reason(&cued, "older").as_deref(), Some("window"));

    let mut request = asking(PacketPurpose::Planner, &["price"], &[], &[]);
    let range = CueTimeRange { start: Some("2025-12-01T00:00:00+03:00".to_owned()), end: None };
    request.cues.as_mut().unwrap().time_range = Some(range);
    let two_kinds = composed(&request, &found);
    assert!(episodes(&two_kinds).contains(&"older"));
}

#[test]
fn a_time_range_finds_what_lies_in_it_at_any_age() {
    let june = |day: u32| Timestamp::parse(&format!("2025-06-{day:02}T12:00:00Z")).unwrap();
    let mut visit = episode("visit", 0, "A visit to the plant.");
    (visit.start, visit.end) = (june(10), june(11));
    (visit.entities, visit.tags) = (vec!["Acme".to_owned()], vec!["audit".to_owned()]);
    let mut long = episode("long", 0, "The move to the new office.");
    (long.start, long.end) = (june(29), june(29).plus_millis(20 * DAY));
    let mut may = episode("may", 0, "The kick-off.");
    (may.start, may.end) = (june(1).plus_millis(-9 * DAY), june(1).plus_millis(-8 * DAY));
    may.entities = vec!["Acme".to_owned()];
    let rows = [visit, long, may, episode("young", 2, "A call.")];
    let found = Candidates {
        episodes: rows.into_iter().map(ScoredRow::from_row).collect(),
        ..Candidates::default()
    };
    let mut asked = asking(PacketPurpose::Planner, &[], &["acme"], &["audit"]);
    assert_eq!(reason(&composed(&asked, &found), "visit").as_deref(), Some("aged"));
    let (start, end) = ("2025-06-01T00:00:00Z", "2025-06-30T23:59:59Z");
    let range = CueTimeRange { start: Some(start.to_owned()), end: Some(end.to_owned()) };
    asked.cues.as_mut().unwrap().time_range = Some(range.clone());
    let packet = composed(&asked, &found);
    assert_eq!(episodes(&packet), ["visit", "long", "young"]);
    assert_eq!(reason(&packet, "may").as_deref(), Some("aged"), "the range is not that wide");
    let rule = "visit|episode,in_time_range,entity:acme,tag:audit,time,milestone";
    assert_eq!(packet.explain.selected[0], rule);
    assert_eq!(packet.explain.filters["time_range"]["from"], "2025-06-01T00:00:00.000Z");

    // The range alone is enough.
    let mut asked = asking(PacketPurpose::Responder, &[], &[], &[]);
    asked.cues.as_mut().unwrap().time_range = Some(range);
    assert_eq!(episodes(&composed(&asked, &found)), ["visit", "long", "young"]);
}

#[test]
fn a_time_that_is_none_is_refused() {
    let mut request = asking(PacketPurpose::Planner, &[], &[], &[]);
    let mut range = |start: &str, end: Option<&str>| {
        let (start, end) = (Some(start.to_owned()), end.map(str::to_owned));
        request.cues.as_mut().unwrap().time_range = Some(CueTimeRange { start, end });
        compose_packet(&request, &policy(), &Candidates::default(), &CharCounter)
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(
        range("yesterday", None).to_string(),
        "`cues.time_range.start` must be an RFC 3339 date-time"
    );
    assert_eq!(
        range("2026-01-02T00:00:00Z", Some("2026-01-01T00:00:00Z")).to_string(),
        "`cues.time_range.end` must be no earlier than `start`"
    );
}

#[test]
fn quotes_answer_the_question_or_are_kept_by_the_summary() {
    let mut kept = summary("They talked about tea.");
    kept.quotes = vec!["m4".to_owned()];
    let mut over = event("m5", 5, "only in that run");
    (over.scope, over.expires) = (
        countersign_memory::MemoryScope::new("t", "u", "a", "s", "before").unwrap(),
        Some(MemoryExpiry::RunEnd),
    );
    let mut reply = event("m3", 3, "It costs 100.");
    (reply.role, reply.origin) = (SpeakerRole::Assistant, MemoryOrigin::Model);
    let found = Candidates {
        quotes: vec![
            scored(event("m1", 1, "What does it cost?"), 2_000_000),
            scored(event("m2", 2, "Nice weather."), 0),
            scored(reply, 3_000_000),
            scored(event("m4", 4, "Remember the tea."), 0),
            scored(over, 9_000_000),
            scored(event("m6", 6, "what does it COST"), 1_000_000),
        ],
        summary: Some(kept),
        ..Candidates::default()
    };
    let packet = composed(&asking(PacketPurpose::Responder, &["cost"], &[], &[]), &found);
    assert_eq!(quotes(&packet), ["m1", "m3", "m4"]);
    assert_eq!(reason(&packet, "m2").as_deref(), Some("no_match"));
    assert_eq!(reason(&packet, "m5").as_deref(), Some("expired"));
    assert_eq!(reason(&packet, "m6").as_deref(), Some("duplicate"));
    assert_eq!(
        render_packet(&packet, PacketPurpose::Responder).unwrap(),
        "# The conversation so far\nThey talked about tea.\n# What was said\n[2026-01-20]\n\
         What does it cost?\nassistant: It costs 100.\nRemember the tea.\n"
    );
    // Nothing was asked: then nothing needs to answer.
    let idle = composed(&request(PacketPurpose::Responder), &found);
    assert!(quotes(&idle).contains(&"m2"));
}

#[test]
fn the_window_is_off_until_a_policy_turns_it_on() {
    let window = (1..=9).map(|it| event(&format!("w{it}"), it, &format!("message {it}"))).collect();
    let found = Candidates { window, ..Candidates::default() };
    let off = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!(off.short_term.conversation_window, Some(vec![]));
    assert_eq!(reason(&off, "w9").as_deref(), Some("purpose"));
    let mut policy = policy();
    policy.matrix.planner.window = InjectionStrength::Weak;
    let on = composed_by(&request(PacketPurpose::Planner), &policy, &found);
    let window = on.short_term.conversation_window.as_ref().unwrap();
    let ids: Vec<&str> = window.iter().map(|it| it.evidence_id.as_str()).collect();
    assert_eq!(ids, ["w5", "w6", "w7", "w8", "w9"]);
    assert_eq!(on.citations.len(), 5);
}

#[test]
fn the_working_state_is_given_by_purpose() {
    let mut row = working(json!({
        "goal": "sign the contract", "constraints": {"tone": "formal"}, "slots": {"client": "Acme"},
        "plan": [{"step": "read", "status": "done"}, {"step": "sign", "status": "todo"}],
        "decisions": [{"statement": "pay in euro", "evidence_id": "m1"}],
        "risks": [{"risk": "late", "mitigation": "call"}],
        "tool_evidence": [{"ref": "t1", "summary": "one"}, {"ref": "t2", "summary": "two"},
            {"ref": "t3", "summary": "three"}, {"ref": "t4", "summary": "four"}],
        "mood": "good", "state_version": 7
    }));
    let open = json!({"question": "who signs?", "status": "open", "owner": "user"});
    row.open_loops = vec![serde_json::from_value(open).unwrap()];
    let mut found = Candidates { working_memory: Some(row), ..Candidates::default() };
    found.evidence.insert("m1".to_owned(), cited("in euro, please"));
    let planner = composed(&request(PacketPurpose::Planner), &found);
    assert_eq!(
        render_packet(&planner, PacketPurpose::Planner).unwrap(),
        "# Where things stand\n- goal: sign the contract\n- must: tone: formal\n- client: Acme\n\
         - mood: good\n- decided: pay in euro\n- done: read\n- to do: sign\n\
         - risk: late (against it: call)\n- open (user): who signs?\n- tool result t2: two\n\
         - tool result t3: three\n- tool result t4: four\n"
    );
    assert_eq!(reason(&planner, "tool_evidence.0").as_deref(), Some("cap"));
    let responder = composed(&request(PacketPurpose::Responder), &found);
    assert_eq!(
        render_packet(&responder, PacketPurpose::Responder).unwrap(),
        "# Where things stand\n- goal: sign the contract\n- must: tone: formal\n- client: Acme\n\
         - decided: pay in euro\n- open (user): who signs?\n"
    );
    assert_eq!(reason(&responder, "plan.0").as_deref(), Some("purpose"));
}

#[test]
fn tool_results_stand_first_for_a_tool() {
    let mut row = working(json!({
        "plan": [{"step": "call it", "status": "todo"}],
        "decisions": [{"statement": "pay in euro"}],
        "tool_evidence": [{"ref": "t1", "summary": "older"}, {"ref": "t2", "summary": "newer"}],
        "state_version": 1
    }));
    let open = json!({"question": "who pays?", "status": "open"});
    row.open_loops = vec![serde_json::from_value(open).unwrap()];
    let found = Candidates { working_memory: Some(row), ..Candidates::default() };
    let order = |purpose| -> Vec<String> {
        let packet = composed(&request(purpose), &found);
        let ids = packet.explain.selected.iter().filter_map(|it| it.split('|').next());
        ids.map(str::to_owned).collect()
    };
    let tool = ["tool_evidence.1", "tool_evidence.0", "plan.0", "open_loops.0", "decisions.0"];
    assert_eq!(order(PacketPurpose::Tool), tool);
    let planner = ["plan.0", "open_loops.0", "decisions.0", "tool_evidence.1", "tool_evidence.0"];
    assert_eq!(order(PacketPurpose::Planner), planner);
}

#[test]
fn evidence_is_numbered_where_the_policy_says_so() {
    let mut policy = policy();
    policy.render.evidence = CitationMarkerStyle::Numbers;
    let found = with_facts(vec![fact("f1", "city", "Rome")]);
    let packet = composed_by(&request(PacketPurpose::Responder), &policy, &found);
    assert_eq!(
        render_packet(&packet, PacketPurpose::Responder).unwrap(),
        "# Known facts\n- city: Rome [1]\n"
    );
}

#[test]
fn a_citation_shows_what_it_is_and_where_it_came_from() {
    let cases = [
        (MemoryEventKind::Message, MemoryOrigin::User, "message", "user: "),
        (MemoryEventKind::Message, MemoryOrigin::Model, "message", "model: "),
        (MemoryEventKind::Message, MemoryOrigin::Imported, "message", "imported: "),
        (MemoryEventKind::ToolResult, MemoryOrigin::Tool, "tool_result", "tool: "),
        (MemoryEventKind::ToolResult, MemoryOrigin::Web, "tool_result", "web: "),
        (MemoryEventKind::Decision, MemoryOrigin::User, "decision", "user: "),
        (MemoryEventKind::StatePatch, MemoryOrigin::System, "state_patch", "system: "),
    ];
    for (kind, origin, shown, source) in cases {
        let mut found = with_facts(vec![fact("f1", "city", "Rome")]);
        let cited = found.evidence.get_mut("m1").unwrap();
        (cited.kind, cited.origin) = (kind, origin);
        let packet = composed(&request(PacketPurpose::Responder), &found);
        assert_eq!(packet.citations[0].kind, shown);
        let summary = packet.citations[0].summary.as_deref().unwrap();
        assert!(summary.starts_with(source) && summary.len() > source.len(), "{summary}");
    }
}

#[test]
fn a_packet_says_how_it_was_made() {
    let packet = composed(&request(PacketPurpose::Planner), &Candidates::default());
    let told = packet.explain.determinism.unwrap();
    assert_eq!(told["policy_id"], "default");
    assert_eq!(told["policy_digest"], policy().compute_digest());
    assert_eq!(told["tokenizer"], "o200k_base");
    assert_eq!(told["as_of"], "2026-01-21T12:00:00.000Z");
    assert_eq!(packet.meta.generated_at, "2026-01-21T12:00:00.000Z", "no clock is asked");
    let facts = json!(["score desc", "confidence desc", "recorded_at desc", "fact_id"]);
    assert_eq!(told["sort_keys"]["facts"], facts);
    assert_eq!(packet.explain.filters["caps"]["facts"], 30);
    assert_eq!(packet.explain.filters["episode_window"]["from"], "2025-12-22T12:00:00.000Z");
}

#[test]
fn a_prompt_cache_survives_a_turn() {
    let rows =
        (0..12).map(|it| fact(&format!("f{it}"), &format!("key{it}"), format!("value {it}")));
    let mut found = with_facts(rows.collect());
    found.procedures =
        vec![ScoredRow::from_row(procedure("p1", &["ask who signs", "write it down"]))];
    found.summary = Some(summary("They talked about the contract and its price."));
    found.quotes = (0..6)
        .map(|it| scored(event(&format!("q{it}"), it, &format!("turn {it} about it")), 1_000_000))
        .collect();
    found.working_memory = Some(working(json!({ "goal": "answer", "state_version": 1 })));
    let before =
        render_packet(&composed(&request(PacketPurpose::Planner), &found), PacketPurpose::Planner)
            .unwrap();

    // A turn later: another message, another version of the state, facts in another order of merit.
    found.quotes.push(scored(event("q6", 6, "turn 6 about it"), 2_000_000));
    found.working_memory = Some(working(json!({ "goal": "answer at last", "state_version": 2 })));
    for (place, fact) in found.facts.iter_mut().enumerate() {
        fact.score.total = place as i64;
    }
    let after =
        render_packet(&composed(&request(PacketPurpose::Planner), &found), PacketPurpose::Planner)
            .unwrap();
    let common = measure_common_prefix(&before, &after);
    assert_eq!(common.total_bytes, before.len());
    assert!(common.share() > 0.9, "{common:?}\n{before}\n{after}");
}
