//! Cases: export from a store and import into it again.

use std::sync::Arc;

use countersign_shipped_contracts::memory::insight::InsightValidationState;
use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};
use serde_json::{Map, Value};

use super::sample::{
    NOW, append_user_event, build_scope, candidate, episode, fact, insight, procedure,
    record_claim, record_fact, retrieve_candidates, scope, summary, with_evidence, working,
};
use crate::MemoryScope;
use crate::record::{MemoryClaim, MemoryFact, MemoryOrigin};
use crate::rules::ClaimAssurance;
use crate::store::{EraseTarget, ImportTrust, Memory, MemoryExportLine, MemoryExportRow};

/// Writes one row of each kind.
async fn fill(memory: &dyn Memory, scope: &MemoryScope) {
    append_user_event(memory, scope, "e1", "I live in Paris.").await;
    append_user_event(memory, scope, "e2", "Or in Rome.").await;
    record_fact(memory, scope, with_evidence(fact("f1", "city", "Paris"), "e1", Some("Paris")))
        .await;
    let newer = MemoryFact {
        valid_from: Some(NOW),
        ..with_evidence(fact("f2", "city", "Rome"), "e2", None)
    };
    record_fact(memory, scope, newer).await;
    record_fact(memory, scope, fact("f3", "job", "baker")).await;
    record_fact(memory, scope, fact("f4", "job", "smith")).await;
    let shared = MemoryFact {
        level: ScopeLevel::Agent,
        ..with_evidence(fact("f1", "tone", "dry"), "e1", None)
    };
    record_fact(memory, scope, shared).await;
    record_claim(memory, scope, MemoryClaim::Episode(Box::new(episode("ep", "A move.", &["e1"]))))
        .await
        .unwrap();
    record_claim(memory, scope, MemoryClaim::Procedure(Box::new(procedure("p", "generic", "x"))))
        .await
        .unwrap();
    let mut guess = insight("i", scope.run(), "Noise?");
    guess.validation = InsightValidationState::Validated;
    record_claim(memory, scope, MemoryClaim::Insight(Box::new(guess))).await.unwrap();
    let claim = MemoryClaim::Fact(Box::new(fact("f9", "age", 40)));
    memory.propose_candidate(scope, candidate("c", claim, MemoryOrigin::User)).await.unwrap();
    memory.write_working_memory(scope, 0, working("one")).await.unwrap();
    memory.write_summary(scope, summary("so far", &["e2"])).await.unwrap();
}

/// Returns the same lines for another subject.
fn as_of(lines: &[MemoryExportLine], scope: &MemoryScope) -> Vec<MemoryExportLine> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.subject = scope.subject();
        if let MemoryExportRow::Event(event) = &mut line.row {
            event.scope = scope.clone();
        }
    }
    lines
}

pub async fn an_export_comes_back_as_it_was(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), MemoryScope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    fill(&*memory, &scope).await;
    // Some rows are not in their first revision.
    memory.write_working_memory(&scope, 1, working("two")).await.unwrap();
    memory.refuse_candidate(&scope, "c", "too vague", NOW).await.unwrap();
    let lines = memory.export(&scope.subject()).await.unwrap();
    assert_eq!(lines.len(), 13);
    for line in &lines {
        let text = serde_json::to_string(line).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(serde_json::from_str::<MemoryExportLine>(&text).unwrap(), *line);
    }
    let moved = as_of(&lines, &other);
    let imported =
        memory.import(moved.clone(), ImportTrust::OwnExport, NOW.plus_millis(9)).await.unwrap();
    assert_eq!((imported.accepted, imported.refused), (13, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
    // A second import changes nothing.
    let again =
        memory.import(moved.clone(), ImportTrust::OwnExport, NOW.plus_millis(9)).await.unwrap();
    assert_eq!((again.accepted, again.refused), (13, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
}

pub async fn what_was_confirmed_and_what_has_times_comes_back(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), MemoryScope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    append_user_event(&*memory, &scope, "e1", "We close at six.").await;
    let shared = with_evidence(fact("f1", "closing", "six"), "e1", Some("six"));
    let shared = MemoryClaim::Fact(Box::new(MemoryFact { level: ScopeLevel::Agent, ..shared }));
    memory
        .record_claim(&scope, shared, MemoryOrigin::Model, ClaimAssurance::Confirmed, NOW)
        .await
        .unwrap();
    record_fact(&*memory, &scope, fact("f2", "city", "Paris")).await;
    let (from, to) = (Some(NOW.plus_millis(5)), Some(NOW.plus_millis(9)));
    let week = MemoryFact { valid_from: from, valid_to: to, ..fact("f3", "city", "Rome") };
    record_fact(&*memory, &scope, week).await;
    let moved = as_of(&memory.export(&scope.subject()).await.unwrap(), &other);
    let imported =
        memory.import(moved.clone(), ImportTrust::OwnExport, NOW.plus_millis(1)).await.unwrap();
    assert_eq!((imported.accepted, imported.refused), (5, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
    let again =
        memory.import(moved.clone(), ImportTrust::OwnExport, NOW.plus_millis(20)).await.unwrap();
    assert_eq!((again.accepted, again.refused), (5, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
}

pub async fn what_comes_from_elsewhere_is_imported(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), MemoryScope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    fill(&*memory, &scope).await;
    append_user_event(&*memory, &other, "own", "I live in Oslo.").await;
    record_fact(&*memory, &other, with_evidence(fact("own", "city", "Oslo"), "own", None)).await;
    let lines = as_of(&memory.export(&scope.subject()).await.unwrap(), &other);
    let imported = memory.import(lines, ImportTrust::Foreign, NOW).await.unwrap();
    // A fact of a whole agent requires a confirmation.
    assert_eq!(imported.refused.len(), 1, "{imported:?}");
    let seen = retrieve_candidates(&*memory, &other, "live").await;
    let own = seen.facts.iter().find(|one| one.row.id == "own").unwrap();
    assert_ne!(own.row.status, FactStatus::Deprecated, "what a user said is not replaced");
    let told = seen.quotes.iter().find(|one| one.row.id == "e1").unwrap();
    assert_eq!(told.row.origin, MemoryOrigin::Imported);
    assert_eq!(seen.insights[0].row.validation, InsightValidationState::Unvalidated);
}

pub async fn a_line_that_is_refused_holds_up_no_other(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "one").await;
    let lines = memory.export(&scope.subject()).await.unwrap();
    let mut other = lines[0].clone();
    other.subject = build_scope("u2", "s1", "r1").subject();
    let mut nobody = lines[0].clone();
    nobody.subject.user.clear();
    let line = |fact: MemoryFact| MemoryExportLine {
        subject: scope.subject(),
        row: MemoryExportRow::Fact { fact: Box::new(fact), origin: MemoryOrigin::User },
    };
    let invented = line(with_evidence(fact("f1", "k", "v"), "e1", Some("two")));
    let sound = line(with_evidence(fact("f2", "k", "v"), "e1", Some("one")));
    memory
        .forget(EraseTarget::Subject(build_scope("nobody", "s", "r").subject()), NOW)
        .await
        .unwrap();
    let lines = vec![other, nobody, invented, sound];
    let imported = memory.import(lines, ImportTrust::OwnExport, NOW).await.unwrap();
    let reasons: Vec<(u64, &str)> =
        imported.refused.iter().map(|(line, why)| (*line, why.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (1, "`scope` must be that of the line"),
            (
                2,
                "`user_id` of a scope must be 1 to 256 bytes without control characters, \
                 found an empty id"
            ),
            (3, "its quote does not occur exactly in event `e1`"),
        ]
    );
    assert_eq!(imported.accepted, 1);
}

pub async fn what_is_there_is_newer_than_what_is_brought(memory: Arc<dyn Memory>) {
    let scope = scope();
    append_user_event(&*memory, &scope, "e1", "A move to Rome.").await;
    let guess = |validation, statement: &str| {
        let mut guess = insight("i", "r1", statement);
        guess.validation = validation;
        MemoryClaim::Insight(Box::new(guess))
    };
    let told = |summary: &str| MemoryClaim::Episode(Box::new(episode("ep", summary, &["e1"])));
    let steps = |step: &str| MemoryClaim::Procedure(Box::new(procedure("p", "generic", step)));
    for claim in [guess(InsightValidationState::Validated, "Noise?"), told("A move."), steps("ask")]
    {
        record_claim(&*memory, &scope, claim).await.unwrap();
    }
    let then = memory.export(&scope.subject()).await.unwrap();
    for claim in [guess(InsightValidationState::Rejected, "Noise?"), told("Moved."), steps("look")]
    {
        record_claim(&*memory, &scope, claim).await.unwrap();
    }
    let now = memory.export(&scope.subject()).await.unwrap();
    for provenance in [ImportTrust::OwnExport, ImportTrust::Foreign] {
        let brought = then[1..].to_vec();
        let imported = memory.import(brought, provenance, NOW.plus_millis(1)).await.unwrap();
        assert_eq!(
            imported.refused,
            [
                (1, "episode `ep` already exists with different content".to_owned()),
                (2, "procedure `p` already exists with different content".to_owned()),
                (3, "insight `i` already exists with different content".to_owned()),
            ]
        );
        assert_eq!(memory.export(&scope.subject()).await.unwrap(), now);
    }
    // A row with the same content is already known, whatever its source is.
    let known = now[1..3].to_vec();
    for provenance in [ImportTrust::OwnExport, ImportTrust::Foreign] {
        let imported = memory.import(known.clone(), provenance, NOW.plus_millis(1)).await.unwrap();
        assert_eq!((imported.accepted, imported.refused), (2, vec![]));
    }
    assert_eq!(memory.export(&scope.subject()).await.unwrap(), now);
}

pub async fn an_insight_imported_without_an_end_ends_with_its_run(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), build_scope("u", "s1", "r2"));
    let line = |id: &str, end: fn(&mut Map<String, Value>)| {
        let row = MemoryExportRow::Insight(Box::new(insight(id, "r1", "Herons come back.")));
        let line = MemoryExportLine { subject: scope.subject(), row };
        let mut line = serde_json::to_value(line).unwrap();
        end(line["row"]["insight"].as_object_mut().unwrap());
        serde_json::from_value::<MemoryExportLine>(line).unwrap()
    };
    let null = line("i1", |guess| drop(guess.insert("expires".to_owned(), Value::Null)));
    let absent = line("i2", |guess| drop(guess.remove("expires")));
    for provenance in [ImportTrust::OwnExport, ImportTrust::Foreign] {
        let lines = vec![null.clone(), absent.clone()];
        let imported = memory.import(lines, provenance, NOW).await.unwrap();
        assert_eq!((imported.accepted, imported.refused), (2, vec![]));
        assert_eq!(retrieve_candidates(&*memory, &scope, "herons").await.insights.len(), 2);
        assert!(retrieve_candidates(&*memory, &other, "herons").await.insights.is_empty());
    }
}
