//! Cases: what is forgotten is nowhere, and does not come back.

use std::sync::Arc;

use countersign_contracts::memory::long_term::ScopeLevel;

use super::canaries::{CANARIES, needles, plant};
use super::sample::{NOW, fact, found, ids, keep_fact, on, said, scope, tell, within, working};
use crate::Scope;
use crate::record::Fact;
use crate::rules::Refusal;
use crate::store::{Memory, MemoryError, Provenance, Whom};

fn canary_scope() -> Scope {
    let name = CANARIES[4];
    Scope::new("t", name, "a", format!("{name}-s"), format!("{name}-r")).unwrap()
}

pub async fn nothing_is_left_of_a_subject(memory: Arc<dyn Memory>) {
    let (gone, stays) = (canary_scope(), scope());
    tell(&*memory, &stays, "e1", "sparrows stay in the garden").await;
    plant(&*memory, &gone).await;
    let before = memory.traces(needles()).await.unwrap();
    let mut seen: Vec<usize> = before.iter().map(|trace| trace.needle).collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= CANARIES.len(), "{before:?}");
    let told = memory.would_forget(Whom::Subject(gone.subject())).await.unwrap();
    assert_eq!(
        memory.traces(needles()).await.unwrap().len(),
        before.len(),
        "a look erases nothing"
    );
    let erased = memory.forget(Whom::Subject(gone.subject()), NOW).await.unwrap();
    assert_eq!(erased, told);
    assert_eq!((erased.rows["events"], erased.rows["context_builds"]), (201, 1));
    assert_eq!((erased.rows["facts"], erased.rows["episodes"]), (4, 2));
    assert_eq!(erased.shared, [] as [String; 0]);
    assert_eq!(memory.traces(needles()).await.unwrap(), []);
    assert!(memory.export(&gone.subject()).await.unwrap().is_empty());
    let name = CANARIES[4];
    assert!(memory.build(&gone.subject(), &format!("{name}-b")).await.unwrap().is_none());
    assert_eq!(found(&*memory, &gone, CANARIES[0]).await, crate::Found::default());
    assert_eq!(ids(&*memory, &stays, "sparrows").await, ["e1"]);
    assert!(found(&*memory, &stays, "").await.facts.is_empty(), "its shared fact went too");
    assert!(memory.misplaced().await.unwrap().is_empty());
}

pub async fn a_user_is_forgotten_with_every_agent(memory: Arc<dyn Memory>) {
    let with = |tenant, user, agent| Scope::new(tenant, user, agent, "s", "r").unwrap();
    let gone = [with("t", "ann", "a"), with("t", "ann", "b")];
    let stay = [with("t", "anna", "a"), with("t", "an", "a"), with("t2", "ann", "a")];
    for scope in gone.iter().chain(&stay) {
        tell(&*memory, scope, "e1", "some words").await;
    }
    let ann = Whom::User { tenant: "t".to_owned(), user: "ann".to_owned() };
    let erased = memory.forget(ann, NOW).await.unwrap();
    assert_eq!((erased.rows["events"], erased.tombstones), (2, 2));
    for scope in &gone {
        assert!(ids(&*memory, scope, "words").await.is_empty());
    }
    for scope in &stay {
        assert_eq!(ids(&*memory, scope, "words").await, ["e1"]);
    }
}

pub async fn what_was_forgotten_does_not_come_back(memory: Arc<dyn Memory>) {
    let gone = canary_scope();
    plant(&*memory, &gone).await;
    let lines = memory.export(&gone.subject()).await.unwrap();
    let erased = memory.forget(Whom::Subject(gone.subject()), NOW).await.unwrap();
    assert!(erased.tombstones > 200);
    let name = CANARIES[4];
    let replayed = said(&gone, &format!("{name}-e1"), "again");
    let refused = memory.remember(vec![replayed]).await.unwrap_err();
    assert!(matches!(refused, MemoryError::Refused(Refusal::Forgotten { .. })), "{refused}");
    let count = lines.len();
    for provenance in [Provenance::Ours, Provenance::Foreign] {
        let imported = memory.import(lines.clone(), provenance, NOW).await.unwrap();
        assert_eq!((imported.kept, imported.refused.len()), (0, count));
    }
    memory.write_working(&gone, 0, working("x")).await.unwrap_err();
    assert_eq!(memory.traces(needles()).await.unwrap(), []);
    // Whoever comes back begins anew.
    tell(&*memory, &gone, "fresh", "hello").await;
    assert_eq!(ids(&*memory, &gone, "hello").await, ["fresh"]);
}

pub async fn others_and_their_evidence_stay(memory: Arc<dyn Memory>) {
    let (gone, stays) = (within("gone", "s", "r"), within("stays", "s", "r"));
    tell(&*memory, &gone, "e1", "We close at six, says the quokka.").await;
    tell(&*memory, &stays, "e1", "Six is when we close.").await;
    let closing = |id: &str, key: &str, quote| {
        let fact = on(fact(id, key, 18), "e1", Some(quote));
        Fact { level: ScopeLevel::Tenant, ..fact }
    };
    keep_fact(&*memory, &gone, closing("both", "closing", "says the quokka")).await;
    keep_fact(&*memory, &stays, closing("both", "closing", "Six is when")).await;
    keep_fact(&*memory, &gone, closing("alone", "opening", "We close")).await;
    let unproved = Fact { level: ScopeLevel::Agent, ..fact("unproved", "tone", "dry") };
    keep_fact(&*memory, &gone, unproved).await;
    let erased = memory.forget(Whom::Subject(gone.subject()), NOW).await.unwrap();
    assert_eq!(erased.shared, ["both"]);
    let seen = found(&*memory, &stays, "").await;
    let kept: Vec<&str> = seen.facts.iter().map(|one| &*one.row.id).collect();
    assert_eq!(kept, ["both"]);
    assert_eq!(seen.facts[0].row.evidence.len(), 1);
    assert_eq!(memory.traces(vec![b"says the quokka".to_vec()]).await.unwrap(), []);
    assert!(memory.misplaced().await.unwrap().is_empty());
}

pub async fn nobody_is_not_everybody(memory: Arc<dyn Memory>) {
    let shared = Fact { level: ScopeLevel::Tenant, ..fact("f1", "tone", "dry") };
    keep_fact(&*memory, &scope(), shared).await;
    let mut subject = scope().subject();
    subject.user.clear();
    subject.agent.clear();
    let nobody = Whom::User { tenant: "t".to_owned(), user: String::new() };
    for whom in [nobody, Whom::Subject(subject)] {
        assert!(memory.would_forget(whom.clone()).await.is_err());
        let refused = memory.forget(whom, NOW).await.unwrap_err();
        assert!(matches!(refused, MemoryError::Scope(_)), "{refused}");
    }
    assert_eq!(found(&*memory, &scope(), "").await.facts.len(), 1);
}
