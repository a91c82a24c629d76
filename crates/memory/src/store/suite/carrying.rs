//! Cases: memory out of a store and into it again.

use std::sync::Arc;

use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::long_term::{FactStatus, ScopeLevel};

use super::sample::{
    NOW, candidate, episode, fact, found, insight, keep, keep_fact, on, procedure, scope, summary,
    tell, within, working,
};
use crate::Scope;
use crate::record::{Claim, Fact, Origin};
use crate::rules::Assurance;
use crate::store::{Carried, Line, Memory, Provenance, Whom};

/// One of everything.
async fn fill(memory: &dyn Memory, scope: &Scope) {
    tell(memory, scope, "e1", "I live in Paris.").await;
    tell(memory, scope, "e2", "Or in Rome.").await;
    keep_fact(memory, scope, on(fact("f1", "city", "Paris"), "e1", Some("Paris"))).await;
    let newer = Fact { valid_from: Some(NOW), ..on(fact("f2", "city", "Rome"), "e2", None) };
    keep_fact(memory, scope, newer).await;
    keep_fact(memory, scope, fact("f3", "job", "baker")).await;
    keep_fact(memory, scope, fact("f4", "job", "smith")).await;
    let shared = Fact { level: ScopeLevel::Agent, ..on(fact("f1", "tone", "dry"), "e1", None) };
    keep_fact(memory, scope, shared).await;
    keep(memory, scope, Claim::Episode(Box::new(episode("ep", "A move.", &["e1"])))).await.unwrap();
    keep(memory, scope, Claim::Procedure(Box::new(procedure("p", "generic", "x")))).await.unwrap();
    let mut guess = insight("i", scope.run(), "Noise?");
    guess.validation = ValidationState::Validated;
    keep(memory, scope, Claim::Insight(Box::new(guess))).await.unwrap();
    let claim = Claim::Fact(Box::new(fact("f9", "age", 40)));
    memory.propose(scope, candidate("c", claim, Origin::User)).await.unwrap();
    memory.write_working(scope, 0, working("one")).await.unwrap();
    memory.write_summary(scope, summary("so far", &["e2"])).await.unwrap();
}

/// The same lines as another subject's.
fn as_of(lines: &[Line], scope: &Scope) -> Vec<Line> {
    let mut lines = lines.to_vec();
    for line in &mut lines {
        line.subject = scope.subject();
        if let Carried::Event(event) = &mut line.row {
            event.scope = scope.clone();
        }
    }
    lines
}

pub async fn an_export_comes_back_as_it_was(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), Scope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    fill(&*memory, &scope).await;
    // Some of it is not in its first revision.
    memory.write_working(&scope, 1, working("two")).await.unwrap();
    memory.refuse(&scope, "c", "too vague", NOW).await.unwrap();
    let lines = memory.export(&scope.subject()).await.unwrap();
    assert_eq!(lines.len(), 13);
    for line in &lines {
        let text = serde_json::to_string(line).unwrap();
        assert!(!text.contains('\n'));
        assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), *line);
    }
    let moved = as_of(&lines, &other);
    let imported = memory.import(moved.clone(), Provenance::Ours, NOW.after(9)).await.unwrap();
    assert_eq!((imported.kept, imported.refused), (13, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
    // Once more changes nothing.
    let again = memory.import(moved.clone(), Provenance::Ours, NOW.after(9)).await.unwrap();
    assert_eq!((again.kept, again.refused), (13, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
}

pub async fn what_was_confirmed_and_what_has_times_comes_back(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), Scope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    tell(&*memory, &scope, "e1", "We close at six.").await;
    let shared = on(fact("f1", "closing", "six"), "e1", Some("six"));
    let shared = Claim::Fact(Box::new(Fact { level: ScopeLevel::Agent, ..shared }));
    memory.keep(&scope, shared, Origin::Model, Assurance::Confirmed, NOW).await.unwrap();
    keep_fact(&*memory, &scope, fact("f2", "city", "Paris")).await;
    let (from, to) = (Some(NOW.after(5)), Some(NOW.after(9)));
    let week = Fact { valid_from: from, valid_to: to, ..fact("f3", "city", "Rome") };
    keep_fact(&*memory, &scope, week).await;
    let moved = as_of(&memory.export(&scope.subject()).await.unwrap(), &other);
    let imported = memory.import(moved.clone(), Provenance::Ours, NOW.after(1)).await.unwrap();
    assert_eq!((imported.kept, imported.refused), (5, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
    let again = memory.import(moved.clone(), Provenance::Ours, NOW.after(20)).await.unwrap();
    assert_eq!((again.kept, again.refused), (5, vec![]));
    assert_eq!(memory.export(&other.subject()).await.unwrap(), moved);
}

pub async fn what_comes_from_elsewhere_is_imported(memory: Arc<dyn Memory>) {
    let (scope, other) = (scope(), Scope::new("t2", "u2", "a2", "s1", "r1").unwrap());
    fill(&*memory, &scope).await;
    tell(&*memory, &other, "own", "I live in Oslo.").await;
    keep_fact(&*memory, &other, on(fact("own", "city", "Oslo"), "own", None)).await;
    let lines = as_of(&memory.export(&scope.subject()).await.unwrap(), &other);
    let imported = memory.import(lines, Provenance::Foreign, NOW).await.unwrap();
    // The fact for a whole agent needs a person.
    assert_eq!(imported.refused.len(), 1, "{imported:?}");
    let seen = found(&*memory, &other, "live").await;
    let own = seen.facts.iter().find(|one| one.row.id == "own").unwrap();
    assert_ne!(own.row.status, FactStatus::Deprecated, "what a user said is not replaced");
    let told = seen.quotes.iter().find(|one| one.row.id == "e1").unwrap();
    assert_eq!(told.row.origin, Origin::Imported);
    assert_eq!(seen.insights[0].row.validation, ValidationState::Unvalidated);
}

pub async fn a_line_that_is_refused_holds_up_no_other(memory: Arc<dyn Memory>) {
    let scope = scope();
    tell(&*memory, &scope, "e1", "one").await;
    let lines = memory.export(&scope.subject()).await.unwrap();
    let mut other = lines[0].clone();
    other.subject = within("u2", "s1", "r1").subject();
    let mut nobody = lines[0].clone();
    nobody.subject.user.clear();
    let line = |fact: Fact| Line {
        subject: scope.subject(),
        row: Carried::Fact { fact: Box::new(fact), origin: Origin::User },
    };
    let invented = line(on(fact("f1", "k", "v"), "e1", Some("two")));
    let sound = line(on(fact("f2", "k", "v"), "e1", Some("one")));
    memory.forget(Whom::Subject(within("nobody", "s", "r").subject()), NOW).await.unwrap();
    let lines = vec![other, nobody, invented, sound];
    let imported = memory.import(lines, Provenance::Ours, NOW).await.unwrap();
    let reasons: Vec<(u64, &str)> =
        imported.refused.iter().map(|(line, why)| (*line, why.as_str())).collect();
    assert_eq!(
        reasons,
        [
            (1, "`scope` must be that of the line"),
            (
                2,
                "`user_id` of a scope must be 1 to 256 bytes without control characters, \
                 found an empty one"
            ),
            (3, "its quote does not stand letter for letter in `e1`"),
        ]
    );
    assert_eq!(imported.kept, 1);
}
