//! Cases: erased memory leaves no residue and cannot come back.

use std::sync::Arc;

use countersign_shipped_contracts::memory::long_term::{FactStatus, ScopeLevel};

use super::build_cases::build;
use super::canaries::{CANARIES, needles, plant};
use super::sample::{
    NOW, append_user_event, build_request, build_scope, build_user_event, fact, record_fact,
    retrieve_candidates, scope, search_ids, with_evidence, working,
};
use crate::record::MemoryFact;
use crate::rules::{ClaimOutcome, MemoryRefusal};
use crate::store::{
    BuildRowKind, EraseTarget, ImportTrust, Memory, MemoryError, PacketBuild, RetrievalLimits,
};
use crate::{MemoryScope, ScoredRow};

fn canary_scope() -> MemoryScope {
    let name = CANARIES[4];
    MemoryScope::new("t", name, "a", format!("{name}-s"), format!("{name}-r")).unwrap()
}

pub async fn nothing_is_left_of_a_subject(memory: Arc<dyn Memory>) {
    let (gone, stays) = (canary_scope(), scope());
    append_user_event(&*memory, &stays, "e1", "sparrows stay in the garden").await;
    plant(&*memory, &gone).await;
    let before = memory.scan_residue(needles()).await.unwrap();
    let mut seen: Vec<usize> = before.iter().map(|trace| trace.needle).collect();
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= CANARIES.len(), "{before:?}");
    let told = memory.preview_forget(EraseTarget::Subject(gone.subject())).await.unwrap();
    assert_eq!(
        memory.scan_residue(needles()).await.unwrap().len(),
        before.len(),
        "a look erases nothing"
    );
    let erased = memory.forget(EraseTarget::Subject(gone.subject()), NOW).await.unwrap();
    assert_eq!(erased, told);
    assert_eq!((erased.rows["events"], erased.rows["context_builds"]), (201, 1));
    assert_eq!((erased.rows["facts"], erased.rows["episodes"]), (4, 2));
    assert_eq!(erased.shared_facts, [] as [String; 0]);
    assert_eq!(memory.scan_residue(needles()).await.unwrap(), []);
    assert!(memory.export(&gone.subject()).await.unwrap().is_empty());
    let name = CANARIES[4];
    assert!(memory.load_build(&gone.subject(), &format!("{name}-b")).await.unwrap().is_none());
    assert_eq!(
        retrieve_candidates(&*memory, &gone, CANARIES[0]).await,
        crate::Candidates::default()
    );
    assert_eq!(search_ids(&*memory, &stays, "sparrows").await, ["e1"]);
    assert!(
        retrieve_candidates(&*memory, &stays, "").await.facts.is_empty(),
        "its shared fact went too"
    );
    assert!(memory.find_scope_violations().await.unwrap().is_empty());
}

pub async fn a_user_is_forgotten_with_every_agent(memory: Arc<dyn Memory>) {
    let with = |tenant, user, agent| MemoryScope::new(tenant, user, agent, "s", "r").unwrap();
    let gone = [with("t", "ann", "a"), with("t", "ann", "b")];
    let stay = [with("t", "anna", "a"), with("t", "an", "a"), with("t2", "ann", "a")];
    for scope in gone.iter().chain(&stay) {
        append_user_event(&*memory, scope, "e1", "some words").await;
    }
    let ann = EraseTarget::User { tenant: "t".to_owned(), user: "ann".to_owned() };
    let erased = memory.forget(ann, NOW).await.unwrap();
    assert_eq!((erased.rows["events"], erased.tombstones), (2, 2));
    for scope in &gone {
        assert!(search_ids(&*memory, scope, "words").await.is_empty());
    }
    for scope in &stay {
        assert_eq!(search_ids(&*memory, scope, "words").await, ["e1"]);
    }
}

pub async fn what_was_forgotten_does_not_come_back(memory: Arc<dyn Memory>) {
    let gone = canary_scope();
    plant(&*memory, &gone).await;
    let lines = memory.export(&gone.subject()).await.unwrap();
    let erased = memory.forget(EraseTarget::Subject(gone.subject()), NOW).await.unwrap();
    assert!(erased.tombstones > 200);
    let name = CANARIES[4];
    let replayed = build_user_event(&gone, &format!("{name}-e1"), "again");
    let refused = memory.append_events(vec![replayed]).await.unwrap_err();
    assert!(matches!(refused, MemoryError::Refused(MemoryRefusal::Forgotten { .. })), "{refused}");
    let count = lines.len();
    for provenance in [ImportTrust::OwnExport, ImportTrust::Foreign] {
        let imported = memory.import(lines.clone(), provenance, NOW).await.unwrap();
        assert_eq!((imported.accepted, imported.refused.len()), (0, count));
    }
    memory.write_working_memory(&gone, 0, working("x")).await.unwrap_err();
    assert_eq!(memory.scan_residue(needles()).await.unwrap(), []);
    // A user who returns starts with an empty memory.
    append_user_event(&*memory, &gone, "fresh", "hello").await;
    assert_eq!(search_ids(&*memory, &gone, "hello").await, ["fresh"]);
}

pub async fn others_and_their_evidence_stay(memory: Arc<dyn Memory>) {
    let (gone, stays) = (build_scope("gone", "s", "r"), build_scope("stays", "s", "r"));
    append_user_event(&*memory, &gone, "e1", "We close at six, says the quokka.").await;
    append_user_event(&*memory, &stays, "e1", "Six is when we close.").await;
    let closing = |id: &str, key: &str, quote| {
        let fact = with_evidence(fact(id, key, 18), "e1", Some(quote));
        MemoryFact { level: ScopeLevel::Tenant, ..fact }
    };
    record_fact(&*memory, &gone, closing("both", "closing", "says the quokka")).await;
    record_fact(&*memory, &stays, closing("both", "closing", "Six is when")).await;
    record_fact(&*memory, &gone, closing("alone", "opening", "We close")).await;
    let unproved = MemoryFact { level: ScopeLevel::Agent, ..fact("unproved", "tone", "dry") };
    record_fact(&*memory, &gone, unproved).await;
    let erased = memory.forget(EraseTarget::Subject(gone.subject()), NOW).await.unwrap();
    assert_eq!(erased.shared_facts, ["both"]);
    let seen = retrieve_candidates(&*memory, &stays, "").await;
    let kept: Vec<&str> = seen.facts.iter().map(|one| &*one.row.id).collect();
    assert_eq!(kept, ["both"]);
    assert_eq!(seen.facts[0].row.evidence.len(), 1);
    assert_eq!(memory.scan_residue(vec![b"says the quokka".to_vec()]).await.unwrap(), []);
    assert!(memory.find_scope_violations().await.unwrap().is_empty());
}

pub async fn what_only_the_forgotten_replaced_stands_again(memory: Arc<dyn Memory>) {
    let (ann, bob) = (build_scope("ann", "s", "r"), build_scope("bob", "s", "r"));
    let year = |year: i64| Some(NOW.plus_millis(year * 31_536_000_000));
    let shared = |level, id: &str, key: &str, value: &str, from| MemoryFact {
        level,
        valid_from: from,
        ..with_evidence(fact(id, key, value), "e1", None)
    };
    for whose in [&ann, &bob] {
        append_user_event(&*memory, whose, "e1", "The office moved.").await;
    }
    let (tenant, agent) = (ScopeLevel::Tenant, ScopeLevel::Agent);
    // Ann replaces a fact of Bob's, contradicts him, comes between two of his facts, and is
    // replaced by him.
    for (whose, fact) in [
        (&bob, shared(tenant, "bob-1", "office", "Berlin", None)),
        (&ann, shared(tenant, "ann-gone-1", "office", "Munich", year(-3))),
        (&bob, shared(agent, "bob-2", "tone", "dry", None)),
        (&ann, shared(agent, "ann-gone-2", "tone", "warm", None)),
        (&bob, shared(tenant, "bob-3", "desk", "oak", None)),
        (&ann, shared(tenant, "ann-gone-3", "desk", "pine", year(-3))),
        (&bob, shared(tenant, "bob-4", "desk", "steel", year(-2))),
        // Ann also states a fact that will replace one of Bob's later.
        (&bob, shared(tenant, "bob-6", "lease", "long", None)),
        (&ann, shared(tenant, "ann-gone-6", "lease", "short", year(1))),
    ] {
        record_fact(&*memory, whose, fact).await;
    }
    let facts = async || {
        let seen = retrieve_candidates(&*memory, &bob, "").await.facts.into_iter();
        let seen =
            seen.map(|ScoredRow { row, .. }| (row.id, row.status, row.superseded_by, row.valid_to));
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by(|one, other| one.0.cmp(&other.0));
        seen
    };
    let is =
        |id: &str, status, by: Option<&str>, to| (id.to_owned(), status, by.map(str::to_owned), to);
    let request = build_request(&bob, "office");
    let then = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
    memory.store_build(build("b1", &request, &then)).await.unwrap();
    assert_eq!(facts().await.len(), 9);

    let whom = EraseTarget::Subject(ann.subject());
    let told = memory.preview_forget(whom.clone()).await.unwrap();
    assert_eq!(facts().await.len(), 9, "a look changes nothing");
    assert_eq!(memory.forget(whom, NOW.plus_millis(1)).await.unwrap(), told);
    assert_eq!(
        facts().await,
        [
            is("bob-1", FactStatus::Active, None, None),
            is("bob-2", FactStatus::Active, None, None),
            is(
                "bob-3",
                FactStatus::Deprecated,
                Some("bob-4"),
                year(-2).map(|to| to.plus_millis(-1))
            ),
            is("bob-4", FactStatus::Active, None, None),
            is("bob-6", FactStatus::Active, None, None),
        ]
    );
    // Nothing names the erased facts, and a build that used one reports it.
    assert_eq!(memory.scan_residue(vec![b"ann-gone".to_vec()]).await.unwrap(), []);
    let gone = memory.load_build(&bob.subject(), "b1").await.unwrap_err();
    assert!(matches!(&gone, MemoryError::RowGone { id, .. } if id.is_empty()), "{gone}");
    assert!(gone.to_string().ends_with(" that it uses was forgotten"), "{gone}");
    assert!(memory.find_scope_violations().await.unwrap().is_empty());
    // The rules continue from the restored facts.
    let newer = shared(tenant, "bob-5", "office", "Rome", year(-1));
    assert_eq!(
        record_fact(&*memory, &bob, newer).await.outcome,
        ClaimOutcome::Superseded(vec!["bob-1".to_owned()])
    );
}

pub async fn a_packet_that_was_under_way_brings_nothing_back(memory: Arc<dyn Memory>) {
    let (ann, bob) = (build_scope("ann", "s", "r"), build_scope("bob", "s", "r"));
    for whose in [&ann, &bob] {
        append_user_event(&*memory, whose, "e1", "The office moved.").await;
    }
    let office = with_evidence(fact("ann-gone", "office", "Munich"), "e1", None);
    record_fact(&*memory, &ann, MemoryFact { level: ScopeLevel::Tenant, ..office }).await;
    let under_way = async |id: &str, whose| {
        let request = build_request(whose, "office");
        let found = memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
        build(id, &request, &found)
    };
    memory.write_working_memory(&ann, 0, working("a move")).await.unwrap();
    let (hers, his) = (under_way("b1", &ann).await, under_way("b2", &bob).await);
    let only = |id: &str, kind| {
        let mut some = PacketBuild { id: id.to_owned(), ..hers.clone() };
        some.rows.retain(|row| row.kind == kind);
        assert_eq!(some.rows.len(), 1);
        some
    };
    let [words, doing] = [("b1", BuildRowKind::Quote), ("b3", BuildRowKind::WorkingMemory)]
        .map(|(id, kind)| only(id, kind));
    memory.forget(EraseTarget::Subject(ann.subject()), NOW.plus_millis(1)).await.unwrap();
    let refusals = [
        (words, "event `e1` was forgotten"),
        (doing, "working state `r` was forgotten; use another run"),
        (his, "fact `ann-gone` was forgotten"),
    ];
    for (build, told) in refusals {
        let refused = memory.store_build(build).await.unwrap_err();
        assert_eq!(refused.to_string(), told);
    }
    assert_eq!(memory.scan_residue(vec![b"ann-gone".to_vec()]).await.unwrap(), []);
    assert_eq!(memory.load_build(&ann.subject(), "b1").await.unwrap(), None);
    // Composed again, the packet uses only the existing rows.
    memory.store_build(under_way("b2", &bob).await).await.unwrap();
}

pub async fn packets_at_the_same_moment_bring_nothing_back(memory: Arc<dyn Memory>) {
    for round in 0..8 {
        let ann = build_scope(&format!("ann-{round}"), "s", "r");
        append_user_event(&*memory, &ann, "e1", "The office moved.").await;
        let id = format!("ann-gone-{round}");
        let office = with_evidence(fact(&id, &format!("office-{round}"), "Munich"), "e1", None);
        record_fact(&*memory, &ann, MemoryFact { level: ScopeLevel::Tenant, ..office }).await;
        let mut keeping = Vec::new();
        for number in 0..4 {
            let request = build_request(&build_scope(&format!("bob-{number}"), "s", "r"), "office");
            let found =
                memory.retrieve_candidates(&request, RetrievalLimits::default()).await.unwrap();
            let build = build(&format!("b{round}"), &request, &found);
            assert!(build.rows.iter().any(|row| row.id == id), "it uses what will be gone");
            let memory = Arc::clone(&memory);
            keeping.push(tokio::spawn(async move { memory.store_build(build).await }));
        }
        memory.forget(EraseTarget::Subject(ann.subject()), NOW.plus_millis(1)).await.unwrap();
        for kept in keeping {
            // A build stored before the erasure reports a missing row; one stored after it is
            // refused.
            if let Err(refused) = kept.await.unwrap() {
                assert_eq!(refused.to_string(), format!("fact `{id}` was forgotten"));
            }
        }
    }
    assert_eq!(memory.scan_residue(vec![b"ann-gone".to_vec()]).await.unwrap(), []);
}

pub async fn those_who_still_contradict_each_other_do(memory: Arc<dyn Memory>) {
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| build_scope(user, "s", "r"));
    for (whose, id, value) in [(&bob, "b", "dry"), (&eve, "e", "warm"), (&ann, "a", "loud")] {
        append_user_event(&*memory, whose, "e1", "So we speak.").await;
        let fact = with_evidence(fact(id, "tone", value), "e1", None);
        let fact = MemoryFact { level: ScopeLevel::Tenant, ..fact };
        record_fact(&*memory, whose, fact.clone()).await;
        // Ann has a newer value for this key, which replaces both.
        let valid_from = (whose == &ann).then_some(NOW);
        let key = "desk".to_owned();
        record_fact(
            &*memory,
            whose,
            MemoryFact { id: format!("{id}-desk"), key, valid_from, ..fact },
        )
        .await;
    }
    let status = async |whose| {
        let seen = retrieve_candidates(&*memory, whose, "").await.facts.into_iter();
        seen.map(|one| one.row.status).collect::<Vec<_>>()
    };
    memory.forget(EraseTarget::Subject(ann.subject()), NOW).await.unwrap();
    assert_eq!(status(&bob).await, [FactStatus::Disputed; 4]);
    memory.forget(EraseTarget::Subject(eve.subject()), NOW).await.unwrap();
    assert_eq!(status(&bob).await, [FactStatus::Active; 2]);
}

pub async fn nobody_is_not_everybody(memory: Arc<dyn Memory>) {
    let shared = MemoryFact { level: ScopeLevel::Tenant, ..fact("f1", "tone", "dry") };
    record_fact(&*memory, &scope(), shared).await;
    let mut subject = scope().subject();
    subject.user.clear();
    subject.agent.clear();
    let nobody = EraseTarget::User { tenant: "t".to_owned(), user: String::new() };
    for whom in [nobody, EraseTarget::Subject(subject)] {
        assert!(memory.preview_forget(whom.clone()).await.is_err());
        let refused = memory.forget(whom, NOW).await.unwrap_err();
        assert!(matches!(refused, MemoryError::Scope(_)), "{refused}");
    }
    assert_eq!(retrieve_candidates(&*memory, &scope(), "").await.facts.len(), 1);
}
