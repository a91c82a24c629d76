//! Walks every row of the reference and asks whether it lies where its scope says.

use super::super::Misplaced;
use super::super::misplaced::{CROSSING, ELSEWHERE, NO_SUBJECT, NOBODY, OTHER_SESSION, holds};
use super::state::State;
use crate::Subject;
use crate::record::Event;

impl State {
    pub(super) fn misplaced(&self) -> Vec<Misplaced> {
        let mut found = Vec::new();
        let mut tell = |wrong: bool, table: &str, row: &str, what: &str| {
            if wrong {
                let (table, row, what) = (table.to_owned(), row.to_owned(), what.to_owned());
                found.push(Misplaced { table, row, what });
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
                let elsewhere = event.scope.subject() != *subject || event.place != *place;
                tell(elsewhere, "events", &event.id, ELSEWHERE);
                tell(!self.is_of_session(subject, event), "events", &event.id, OTHER_SESSION);
            }
        }
        for (table, subject, id) in self.rows.keys() {
            tell(!is_subject(subject), table, id, NO_SUBJECT);
        }
        for ((subject, id), build) in &self.builds {
            tell(!is_subject(subject), "context_builds", id, NO_SUBJECT);
            let elsewhere = build.request.scope.subject() != *subject || build.id != *id;
            tell(elsewhere, "context_builds", id, ELSEWHERE);
        }
        for ((holder, id), revisions) in &self.facts {
            tell(holder.tenant.is_empty(), "facts", id, NOBODY);
            for one in revisions {
                let elsewhere = !holds(holder, one.fact.level) || one.fact.id != *id;
                tell(elsewhere, "facts", id, ELSEWHERE);
                let crossing = one.sources.iter().any(|source| !may_rest_on(holder, source));
                tell(crossing, "fact_evidence", id, CROSSING);
            }
        }
        found
    }

    /// Whether the place of an event is one of the session that it names.
    fn is_of_session(&self, subject: &Subject, event: &Event) -> bool {
        let sessions = self.sessions.get(subject);
        let last = sessions.and_then(|sessions| sessions.get(event.scope.session()));
        last.is_some_and(|last| last.session == event.place.session)
    }
}

/// Holders of shared facts are no subjects.
fn is_subject(subject: &Subject) -> bool {
    !(subject.tenant.is_empty() || subject.user.is_empty() || subject.agent.is_empty())
}

fn may_rest_on(holder: &Subject, source: &Subject) -> bool {
    is_subject(source)
        && holder.tenant == source.tenant
        && (holder.agent.is_empty() || holder.agent == source.agent)
        && (holder.user.is_empty() || holder.user == source.user)
}

#[cfg(test)]
mod tests {
    use countersign_contracts::memory::long_term::ScopeLevel;
    use countersign_core::run::Time;

    use super::super::super::write::remember;
    use super::super::super::{NewEvent, RowKind};
    use super::*;
    use crate::Scope;
    use crate::record::{Place, Working};

    fn scope(user: &str) -> Scope {
        Scope::new("t", user, "a", "s", "r").unwrap()
    }

    /// Two users with an event, a fact, a state and a build each.
    fn kept() -> State {
        let mut state = State::default();
        for user in ["u1", "u2"] {
            let scope = scope(user);
            let event = NewEvent::said(scope.clone(), "e1", "words", Time(0));
            remember(&mut state, &[event]).unwrap();
            fill(&mut state, &scope);
        }
        assert_eq!(state.misplaced(), []);
        state
    }

    fn fill(state: &mut State, scope: &Scope) {
        use super::super::super::shelves::Shelves as _;
        let subject = scope.subject();
        let fact: crate::record::Fact = serde_json::from_value(serde_json::json!({
            "id": "f1", "revision": 1, "key": "k", "value": "v", "status": "active",
            "level": "user", "valid_from": null, "valid_to": null, "recorded_at": 0,
            "confidence": 0.5, "evidence": [{ "event": "e1", "quote": null }], "preference": false,
            "tags": [], "entities": [], "notes": "", "superseded_by": null,
        }))
        .unwrap();
        let standing = crate::rules::Standing {
            fact,
            origin: crate::record::Origin::User,
            by: subject.clone(),
            sources: vec![subject.clone()],
        };
        state.put_fact(&subject, &standing).unwrap();
        let working: Working = serde_json::from_value(serde_json::json!({
            "state": { "state_version": 1 }, "open_loops": [], "recorded_at": 0,
        }))
        .unwrap();
        state.put_row(&subject, "r", &working).unwrap();
        let build: super::super::super::Build = serde_json::from_value(serde_json::json!({
            "id": "b1",
            "request": { "scope": scope, "purpose": "planner", "as_of": 0 },
            "policy": {}, "tokenizer": "chars/4", "digest": "", "built_at": 0, "rows": [],
        }))
        .unwrap();
        assert!(build.rows.iter().all(|row| row.kind == RowKind::Quote));
        state.put_build(&subject, &build).unwrap();
    }

    #[track_caller]
    fn check(wrong: impl FnOnce(&mut State, Subject, Subject), expected: &[(&str, &str)]) {
        let mut state = kept();
        wrong(&mut state, scope("u1").subject(), scope("u2").subject());
        let found = state.misplaced();
        let told: Vec<_> = found.iter().map(|one| (&*one.table, &*one.what)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn every_kind_of_row_is_looked_at() {
        let nobody = |subject: Subject| Subject { user: String::new(), ..subject };
        check(
            |state, one, other| {
                let events = state.events.remove(&one).unwrap();
                let moved = events.into_values().map(|event| (event.place, event)).collect();
                state.events.insert(other, moved);
            },
            &[("events", ELSEWHERE)],
        );
        check(
            |state, one, _| {
                let at = Place { session: 9, position: 1 };
                state.sessions.get_mut(&one).unwrap().insert("s".to_owned(), at);
            },
            &[("events", OTHER_SESSION)],
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
            &[("context_builds", ELSEWHERE)],
        );
        check(
            |state, one, other| {
                let fact = state.facts.get_mut(&(one, "f1".to_owned())).unwrap();
                fact[0].sources = vec![other];
            },
            &[("fact_evidence", CROSSING)],
        );
        check(
            |state, one, _| {
                let fact = state.facts.get_mut(&(one, "f1".to_owned())).unwrap();
                fact[0].fact.level = ScopeLevel::Agent;
            },
            &[("facts", ELSEWHERE)],
        );
    }
}
