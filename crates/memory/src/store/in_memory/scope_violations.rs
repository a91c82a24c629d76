//! Checks that every row of the in-memory backend is stored under its own scope.

use super::super::ScopeViolation;
use super::super::scope_violation::{
    CROSSES_LEVEL, NO_OWNER, NO_SUBJECT, WRONG_OWNER, WRONG_SESSION, is_owner_at_level,
};
use super::transaction::InMemoryRows;
use crate::MemorySubject;
use crate::record::MemoryEvent;

impl InMemoryRows {
    pub(super) fn find_scope_violations(&self) -> Vec<ScopeViolation> {
        let mut found = Vec::new();
        let mut tell = |wrong: bool, table: &str, row: &str, what: &str| {
            if wrong {
                let (table, row, what) = (table.to_owned(), row.to_owned(), what.to_owned());
                found.push(ScopeViolation { table, row, problem: what });
            }
        };
        for (subject, sessions) in &self.sessions {
            for id in sessions.keys() {
                tell(!is_subject(subject), "sessions", id, NO_SUBJECT);
            }
        }
        for (subject, events) in &self.events {
            for (place, event) in events {
                tell(!is_subject(subject), "events", &event.id, NO_SUBJECT);
                let elsewhere = event.scope.subject() != *subject || event.location != *place;
                tell(elsewhere, "events", &event.id, WRONG_OWNER);
                tell(!self.is_in_session(subject, event), "events", &event.id, WRONG_SESSION);
            }
        }
        for (table, subject, id) in self.rows.keys() {
            tell(!is_subject(subject), table, id, NO_SUBJECT);
        }
        for ((subject, id), build) in &self.builds {
            tell(!is_subject(subject), "context_builds", id, NO_SUBJECT);
            let elsewhere = build.request.scope.subject() != *subject || build.id != *id;
            tell(elsewhere, "context_builds", id, WRONG_OWNER);
        }
        for ((holder, id), revisions) in &self.facts {
            tell(holder.tenant.is_empty(), "facts", id, NO_OWNER);
            for one in revisions {
                let elsewhere = !is_owner_at_level(holder, one.fact.level) || one.fact.id != *id;
                tell(elsewhere, "facts", id, WRONG_OWNER);
                let crossing = one.sources.iter().any(|source| !may_cite(holder, source));
                tell(crossing, "fact_evidence", id, CROSSES_LEVEL);
            }
        }
        found
    }

    /// Returns whether the location of an event belongs to the session that it names.
    fn is_in_session(&self, subject: &MemorySubject, event: &MemoryEvent) -> bool {
        let sessions = self.sessions.get(subject);
        let last = sessions.and_then(|sessions| sessions.get(event.scope.session()));
        last.is_some_and(|last| last.session == event.location.session)
    }
}

/// Owners of shared facts are not subjects.
fn is_subject(subject: &MemorySubject) -> bool {
    !(subject.tenant.is_empty() || subject.user.is_empty() || subject.agent.is_empty())
}

fn may_cite(holder: &MemorySubject, source: &MemorySubject) -> bool {
    is_subject(source)
        && holder.tenant == source.tenant
        && (holder.agent.is_empty() || holder.agent == source.agent)
        && (holder.user.is_empty() || holder.user == source.user)
}

#[cfg(test)]
mod tests {
    use countersign_contract::Timestamp;
    use countersign_shipped_contracts::memory::long_term::ScopeLevel;

    use super::super::super::write::append_events;
    use super::super::super::{BuildRowKind, NewMemoryEvent};
    use super::*;
    use crate::MemoryScope;
    use crate::record::{EventLocation, WorkingMemory};

    fn scope(user: &str) -> MemoryScope {
        MemoryScope::new("t", user, "a", "s", "r").unwrap()
    }

    /// Creates two users with an event, a fact, a working state and a build each.
    fn kept() -> InMemoryRows {
        let mut state = InMemoryRows::default();
        for user in ["u1", "u2"] {
            let scope = scope(user);
            let event =
                NewMemoryEvent::from_user_message(scope.clone(), "e1", "words", Timestamp(0));
            append_events(&mut state, &[event]).unwrap();
            fill(&mut state, &scope);
        }
        assert_eq!(state.find_scope_violations(), []);
        state
    }

    fn fill(state: &mut InMemoryRows, scope: &MemoryScope) {
        use super::super::super::row_store::{BuildRows as _, FactRows as _, RecordRows as _};
        let subject = scope.subject();
        let fact: crate::record::MemoryFact = serde_json::from_value(serde_json::json!({
            "id": "f1", "revision": 1, "key": "k", "value": "v", "status": "active",
            "level": "user", "valid_from": null, "valid_to": null, "recorded_at": 0,
            "confidence": 0.5, "evidence": [{ "event": "e1", "quote": null }], "preference": false,
            "tags": [], "entities": [], "notes": "", "superseded_by": null,
        }))
        .unwrap();
        let standing = crate::rules::FactRevision {
            fact,
            origin: crate::record::MemoryOrigin::User,
            claimed_by: subject.clone(),
            sources: vec![subject.clone()],
        };
        state.put_fact(&subject, &standing).unwrap();
        let working: WorkingMemory = serde_json::from_value(serde_json::json!({
            "state": { "state_version": 1 }, "open_loops": [], "recorded_at": 0,
        }))
        .unwrap();
        state.put_row(&subject, "r", &working).unwrap();
        let build: super::super::super::PacketBuild = serde_json::from_value(serde_json::json!({
            "id": "b1",
            "request": { "scope": scope, "purpose": "planner", "as_of": 0 },
            "policy": {}, "tokenizer": "chars/4", "digest": "", "built_at": 0, "rows": [],
        }))
        .unwrap();
        assert!(build.rows.iter().all(|row| row.kind == BuildRowKind::Quote));
        state.put_build(&subject, &build).unwrap();
    }

    #[track_caller]
    fn check(
        wrong: impl FnOnce(&mut InMemoryRows, MemorySubject, MemorySubject),
        expected: &[(&str, &str)],
    ) {
        let mut state = kept();
        wrong(&mut state, scope("u1").subject(), scope("u2").subject());
        let found = state.find_scope_violations();
        let told: Vec<_> = found.iter().map(|one| (&*one.table, &*one.problem)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn every_kind_of_row_is_looked_at() {
        let nobody = |subject: MemorySubject| MemorySubject { user: String::new(), ..subject };
        check(
            |state, one, other| {
                let events = state.events.remove(&one).unwrap();
                let moved = events.into_values().map(|event| (event.location, event)).collect();
                state.events.insert(other, moved);
            },
            &[("events", WRONG_OWNER)],
        );
        check(
            |state, one, _| {
                let at = EventLocation { session: 9, position: 1 };
                state.sessions.get_mut(&one).unwrap().insert("s".to_owned(), at);
            },
            &[("events", WRONG_SESSION)],
        );
        check(
            |state, one, _| {
                let key = ("wm_state", one.clone(), "r".to_owned());
                let rows = state.rows.remove(&key).unwrap();
                state.rows.insert(("wm_state", nobody(one), "r".to_owned()), rows);
            },
            &[("wm_state", NO_SUBJECT)],
        );
        check(
            |state, one, other| {
                let build = state.builds[&(one, "b1".to_owned())].clone();
                state.builds.insert((other, "b1".to_owned()), build);
            },
            &[("context_builds", WRONG_OWNER)],
        );
        check(
            |state, one, other| {
                let fact = state.facts.get_mut(&(one, "f1".to_owned())).unwrap();
                fact[0].sources = vec![other];
            },
            &[("fact_evidence", CROSSES_LEVEL)],
        );
        check(
            |state, one, _| {
                let fact = state.facts.get_mut(&(one, "f1".to_owned())).unwrap();
                fact[0].fact.level = ScopeLevel::Agent;
            },
            &[("facts", WRONG_OWNER)],
        );
    }
}
