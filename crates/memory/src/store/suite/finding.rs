//! Cases: what a request retrieves.

use std::sync::Arc;

use countersign_contract::Timestamp;
use countersign_shipped_contracts::memory::meta::CueTimeRange;

use super::sample::{
    NOW, append_user_event, build_request, build_scope, build_user_event, episode, fact, insight,
    procedure, record_claim, record_fact, retrieve_candidates, scope, search_ids, summary,
    with_evidence,
};
use crate::record::{MemoryClaim, MemoryExpiry, MemoryOrigin, MemoryProcedure};
use crate::rules::ClaimAssurance;
use crate::store::{EraseTarget, ImportTrust, Memory, RetrievalLimits};
use crate::{MemoryScope, PacketRequest};

pub async fn events_are_found_in_every_script(memory: Arc<dyn Memory>) {
    let scope = scope();
    let told = [
        ("en", "The delivery arrives on Tuesday morning."),
        ("ru", "Поставка приедет во вторник утром."),
        ("zh", "货物星期二早上到达仓库。"),
        ("ko", "화물은 화요일 아침에 창고에 도착합니다."),
    ];
    for (id, text) in told {
        append_user_event(&*memory, &scope, id, text).await;
    }
    let asked = [
        ("en", "When do deliveries arrive?"),
        ("ru", "Когда будет поставка?"),
        ("zh", "货物到达时间"),
        ("ko", "화물 도착"),
    ];
    for (id, question) in asked {
        assert_eq!(search_ids(&*memory, &scope, question).await[0], id, "{question}");
    }
    assert!(search_ids(&*memory, &scope, "elephants").await.is_empty());
    assert!(search_ids(&*memory, &scope, "").await.is_empty());
}

pub async fn the_best_event_comes_first(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "The garden needs water.").await;
    append_user_event(&*memory, &scope, "e2", "The red bicycle is in the garden shed.").await;
    append_user_event(&*memory, &scope, "e3", "Bicycles are fine.").await;
    let found = retrieve_candidates(&*memory, &scope, "red bicycle shed").await;
    assert_eq!(found.quotes[0].row.id, "e2");
    assert!(found.quotes[0].score.total > found.quotes[1].score.total);
    assert!(!found.quotes[0].score.parts.is_empty());
    let two = memory.search_events(&build_request(&scope, "bicycle garden"), 2).await.unwrap();
    assert_eq!(two.len(), 2);
}

pub async fn what_ends_with_its_run_is_seen_in_no_other(memory: Arc<dyn Memory>) {
    let (own, other) = (scope(), build_scope("u", "s1", "r2"));
    let mut note = build_user_event(&own, "e1", "a passing note about herons");
    note.expires = Some(MemoryExpiry::RunEnd);
    memory.append_events(vec![note]).await.unwrap();
    let guess = MemoryClaim::Insight(Box::new(insight("i1", "r1", "Herons migrate.")));
    record_claim(&*memory, &own, guess).await.unwrap();
    let seen = retrieve_candidates(&*memory, &own, "herons").await;
    assert_eq!((seen.quotes.len(), seen.window.len(), seen.insights.len()), (1, 1, 1));
    let unseen = retrieve_candidates(&*memory, &other, "herons").await;
    assert_eq!((unseen.quotes.len(), unseen.window.len(), unseen.insights.len()), (0, 0, 0));
    assert!(search_ids(&*memory, &other, "herons").await.is_empty());
}

pub async fn what_is_over_is_not_found(memory: Arc<dyn Memory>) {
    let scope = scope();
    let mut offer = build_user_event(&scope, "e1", "an offer for herons");
    offer.expires = Some(MemoryExpiry::Until(NOW));
    memory.append_events(vec![offer]).await.unwrap();
    assert_eq!(search_ids(&*memory, &scope, "herons").await, ["e1"]);
    let mut later = build_request(&scope, "herons");
    later.as_of = NOW.plus_millis(1);
    assert!(memory.search_events(&later, 10).await.unwrap().is_empty());
    let found = memory.retrieve_candidates(&later, RetrievalLimits::default()).await.unwrap();
    assert!(found.quotes.is_empty() && found.window.is_empty());
}

pub async fn the_window_is_the_end_of_the_session(memory: Arc<dyn Memory>) {
    let scope = scope();
    for number in 1..=5 {
        append_user_event(&*memory, &scope, &format!("e{number}"), "words").await;
    }
    append_user_event(&*memory, &build_scope("u", "s2", "r1"), "elsewhere", "words").await;
    let limits = RetrievalLimits { window: 3, ..RetrievalLimits::default() };
    let found = memory.retrieve_candidates(&build_request(&scope, ""), limits).await.unwrap();
    let window: Vec<&str> = found.window.iter().map(|event| &*event.id).collect();
    assert_eq!(window, ["e3", "e4", "e5"]);
}

pub async fn what_rows_cite_is_there(memory: Arc<dyn Memory>) {
    let scope = scope();
    for id in ["e1", "e2", "e3"] {
        append_user_event(&*memory, &scope, id, &format!("the words of {id}")).await;
    }
    record_fact(&*memory, &scope, with_evidence(fact("f1", "k", "v"), "e1", None)).await;
    memory.write_summary(&scope, summary("so far", &["e2"])).await.unwrap();
    let found = retrieve_candidates(&*memory, &scope, "").await;
    let cited: Vec<&str> = found.evidence.keys().map(String::as_str).collect();
    assert_eq!(cited, ["e1", "e2"]);
    assert_eq!(found.evidence["e1"].text, "the words of e1");
    assert_eq!(found.evidence["e1"].ts, NOW);
}

pub async fn procedures_are_those_of_the_task(memory: Arc<dyn Memory>) {
    let scope = scope();
    for (id, task) in [("p1", "release"), ("p2", "generic"), ("p3", "release")] {
        record_claim(
            &*memory,
            &scope,
            MemoryClaim::Procedure(Box::new(procedure(id, task, "step"))),
        )
        .await
        .unwrap();
    }
    let mut request = build_request(&scope, "");
    request.task_type = Some("release".to_owned());
    let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    let mut names: Vec<&str> = found.procedures.iter().map(|one| &*one.row.id).collect();
    names.sort_unstable();
    assert_eq!(names, ["p1", "p3"]);
    request.task_type = None;
    let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    assert_eq!(found.procedures[0].row.id, "p2");
}

pub async fn procedures_of_other_tasks_crowd_none_out(memory: Arc<dyn Memory>) {
    let scope = scope();
    let kept = async |mut row: MemoryProcedure, at: i64| {
        row.priority = 100 - at;
        let claim = MemoryClaim::Procedure(Box::new(row));
        let now = NOW.plus_millis(at);
        memory
            .record_claim(&scope, claim, MemoryOrigin::User, ClaimAssurance::Claimed, now)
            .await
            .unwrap();
    };
    kept(procedure("p1", "release \"1\"", "tag it"), 0).await;
    kept(procedure("p2", "release \"1\"", "tell them"), 1).await;
    for number in 0..6 {
        let mut other = procedure(&format!("o{number}"), "cake", "bake");
        // A procedure of another task does not match because its content mentions this task.
        other.content.insert("task_type".to_owned(), "release \"1\"".into());
        kept(other, 2 + number).await;
    }
    let limits = RetrievalLimits { procedures: 2, ..RetrievalLimits::default() };
    let seen = async |task: &str| {
        let request =
            PacketRequest { task_type: Some(task.to_owned()), ..build_request(&scope, "") };
        let found = memory.retrieve_candidates(&request, limits).await.unwrap();
        let ids: Vec<String> = found.procedures.into_iter().map(|one| one.row.id).collect();
        (
            ids.join(" "),
            found.truncations.into_iter().map(|cut| cut.description).collect::<Vec<_>>(),
        )
    };
    let told = vec!["procedures of the task".to_owned()];
    assert_eq!(seen("release \"1\"").await, ("p2 p1".to_owned(), told.clone()));
    assert_eq!(seen("cake").await, ("o5 o4".to_owned(), told));
    assert_eq!(seen("release").await, (String::new(), vec![]));
}

pub async fn a_procedure_is_found_by_the_task_of_its_latest_revision(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), build_scope("u2", "s1", "r1"));
    // Any text can be a task type: a long one, and one with characters that a database refuses.
    let tasks =
        ["bake".to_owned(), format!("bake \0 {}", "a cake ".repeat(1_000)), "ba".to_owned()];
    let found = async |scope: &MemoryScope| {
        let mut found = Vec::new();
        for task in &tasks {
            let task_type = Some(task.clone());
            let request = PacketRequest { task_type, ..build_request(scope, "") };
            let seen = memory.retrieve_candidates(&request, RetrievalLimits::default()).await;
            let ids = seen.unwrap().procedures.into_iter().map(|one| one.row.id);
            found.push(ids.collect::<Vec<_>>().join(" "));
        }
        found
    };
    for (task, expected) in tasks.iter().zip([["p1", "", ""], ["", "p1", ""], ["", "", "p1"]]) {
        let claim = MemoryClaim::Procedure(Box::new(procedure("p1", task, "stir")));
        record_claim(&*memory, &scope, claim).await.unwrap();
        assert_eq!(found(&scope).await, expected);
    }
    let mut lines = memory.export(&scope.subject()).await.unwrap();
    for line in &mut lines {
        line.subject = other.subject();
    }
    for trust in [ImportTrust::OwnExport, ImportTrust::Foreign] {
        memory.import(lines.clone(), trust, NOW).await.unwrap();
        assert_eq!(found(&other).await, ["", "", "p1"]);
    }
    memory.forget(EraseTarget::Subject(scope.subject()), NOW).await.unwrap();
    assert_eq!(found(&scope).await, ["", "", ""]);
    assert_eq!(found(&other).await, ["", "", "p1"], "what is another's stays");
}

/// Writes more events than an index block holds, one by one and all at once, in concurrent
/// sessions.
pub async fn many_events_are_ranked_alike_however_they_came(memory: Arc<dyn Memory>) {
    let words = ["river", "stone", "lamp", "orchard", "violin", "harbour", "ладья", "山脉"];
    let event = |user: &str, number: usize| {
        let scope = build_scope(user, if number.is_multiple_of(3) { "s2" } else { "s1" }, "r");
        let (one, other) = (words[number % 8], words[number / 7 % 8]);
        let mut event =
            build_user_event(&scope, &format!("e{number}"), &format!("{one} and {other} {number}"));
        event.ts = Timestamp(NOW.0 + number as i64);
        event
    };
    for number in 0..300 {
        memory.append_events(vec![event("slow", number)]).await.unwrap();
    }
    memory.append_events((0..300).map(|number| event("quick", number)).collect()).await.unwrap();
    for question in ["river stone", "violin 77", "harbour ладья", "山脉 lamp"] {
        let told = async |user: &str| {
            let request = build_request(&build_scope(user, "s1", "r"), question);
            let hits = memory.search_events(&request, 40).await.unwrap();
            let told = hits.into_iter().map(|hit| (hit.row.id, hit.score));
            told.collect::<Vec<_>>()
        };
        let slow = told("slow").await;
        assert!(slow.len() > 10, "{question}");
        assert_eq!(slow, told("quick").await, "{question}");
    }
}

pub async fn what_happened_in_a_time_is_found_by_it(memory: Arc<dyn Memory>) {
    let scope = scope();
    let at = |day: &str| Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap();
    let days = [
        ("e1", "2025-01-12", "Herons came."),
        ("e2", "2026-01-12", "Herons left."),
        ("e3", "2026-01-14", "It snowed."),
        ("e4", "2026-03-02", "Herons slept."),
    ];
    for (id, day, text) in days {
        let mut event = build_user_event(&scope, id, text);
        event.ts = at(day);
        memory.append_events(vec![event]).await.unwrap();
    }
    let best = async |words: &str, start: Option<&str>, end: Option<&str>| {
        let mut request = build_request(&scope, words);
        let told = |day: Option<&str>| day.map(|day| at(day).to_string());
        let range = CueTimeRange { start: told(start), end: told(end) };
        request.cues.as_mut().unwrap().time_range = Some(range);
        request.as_of = at("2026-04-01");
        let hits = memory.search_events(&request, 10).await.unwrap();
        let hits = hits.into_iter().map(|hit| (hit.row.id, hit.score.parts.contains_key("time")));
        hits.collect::<Vec<_>>()
    };
    let is = |id: &str| (id.to_owned(), true);
    // Without matching words, days alone match.
    let week = best("", Some("2026-01-12"), Some("2026-01-16")).await;
    assert!(week.contains(&is("e2")) && week.contains(&is("e3")), "{week:?}");
    assert!(!week.contains(&is("e1")) && !week.contains(&is("e4")), "{week:?}");
    // With a matching word, events of the time range come first.
    assert_eq!(best("herons", Some("2026-01-10"), Some("2026-01-20")).await[0], is("e2"));
    assert_eq!(best("herons", Some("2025-01-01"), Some("2025-01-31")).await[0], is("e1"));
    assert_eq!(best("herons", Some("2026-02-01"), None).await[0], is("e4"), "until now");
    let years = best("", Some("2024-06-01"), Some("2025-12-31")).await;
    assert!(years.contains(&is("e1")) && !years.contains(&is("e2")), "{years:?}");
}

pub async fn episodes_of_a_time_are_found_behind_any_number_of_later_ones(memory: Arc<dyn Memory>) {
    let scope = scope();
    let at = |day: &str| Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap();
    append_user_event(&*memory, &scope, "e1", "Herons came.").await;
    let days = [
        ("before", "2025-05-30", "2025-05-31"),
        ("first", "2025-06-02", "2025-06-03"),
        ("second", "2025-06-20", "2025-06-20"),
        ("over", "2025-06-29", "2025-07-02"),
        ("after", "2025-07-01", "2025-07-03"),
        ("later", "2025-12-01", "2025-12-01"),
        ("latest", "2025-12-02", "2025-12-02"),
    ];
    for (id, start, end) in days {
        let mut row = episode(id, &format!("Herons, {id}."), &["e1"]);
        (row.start, row.end) = (at(start), at(end));
        record_claim(&*memory, &scope, MemoryClaim::Episode(Box::new(row))).await.unwrap();
    }
    let limits = RetrievalLimits { episodes: 2, ..RetrievalLimits::default() };
    let found = async |range: Option<(&str, &str)>| {
        let mut request = build_request(&scope, "herons");
        request.cues.as_mut().unwrap().time_range = range.map(|(start, end)| CueTimeRange {
            start: Some(at(start).to_string()),
            end: Some(at(end).to_string()),
        });
        let found = memory.retrieve_candidates(&request, limits).await.unwrap();
        let cut = found.truncations.iter().any(|cut| cut.description.contains("time range"));
        (found.episodes.into_iter().map(|it| it.row.id).collect::<Vec<_>>(), cut)
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(found(None).await, (ids(&["latest", "later"]), false));
    let june = found(Some(("2025-06-01", "2025-06-30"))).await;
    assert_eq!(june, (ids(&["latest", "later", "second", "first", "over"]), true));
    let days = found(Some(("2025-06-20", "2025-06-20"))).await;
    assert_eq!(days, (ids(&["latest", "later", "second"]), false));
}
