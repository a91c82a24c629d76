//! The author of a memory input. A model may report what was said and make claims; it cannot
//! confirm anything.

use super::MemoryInput;

/// The origin of everything that a model claims.
const MODEL_ORIGIN: &str = "model";

/// The kind of author of a memory input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputAuthor {
    /// A person, or a program that speaks for people: its statements about itself are trusted.
    Person,
    /// A model: its claims always have the origin `model`.
    Model,
}

impl InputAuthor {
    /// Returns the author of a summary, or `None` if it is a person.
    pub(super) fn summary_writer(self) -> Option<String> {
        (self == Self::Model).then(|| MODEL_ORIGIN.to_owned())
    }

    /// Restricts an input to what its author may say.
    pub(super) fn authorize_input(self, input: MemoryInput) -> Result<MemoryInput, String> {
        if self == Self::Person {
            return Ok(input);
        }
        if input.confirmed {
            return Err(
                "only a person can set `confirmed`: use `countersign memory remember --confirmed`"
                    .to_owned(),
            );
        }
        if let Some(found) = &input.validation
            && !matches!(found.as_str(), "unvalidated" | "testing")
        {
            return Err(format!(
                "`validation` must be `unvalidated` or `testing` when a model writes, found `{found}`; only a person can validate or reject an insight"
            ));
        }
        if input.id.as_deref().is_some_and(|id| id.contains('/')) {
            return Err(
                "`id` must not contain `/` when a model writes; such ids are reserved for runs"
                    .to_owned(),
            );
        }
        let thing = input.list_kinds().first().copied().unwrap_or_default();
        // A used id is refused for an event or a fact; for an episode or a procedure it would
        // create the next revision.
        if matches!(thing, "episode" | "procedure") && input.id.is_some() {
            return Err(format!(
                "a model cannot set the `id` of {thing}s, because it could replace an existing one"
            ));
        }
        let origin = input.origin.as_deref();
        match thing {
            // An author that reports an event may name its origin.
            "event" if origin == Some("system") => Err(
                "`origin` must be `user`, `tool`, `web`, `model` or `imported` when a model writes, found `system`"
                    .to_owned(),
            ),
            "event" => Ok(input),
            _ if origin.is_none_or(|origin| origin == MODEL_ORIGIN) => {
                Ok(MemoryInput { origin: Some(MODEL_ORIGIN.to_owned()), ..input })
            }
            _ => Err(format!(
                "`origin` of a claim by a model must be `{MODEL_ORIGIN}`, found `{}`",
                origin.unwrap_or_default()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(line: Value) -> Result<Option<String>, String> {
        InputAuthor::Model
            .authorize_input(MemoryInput::from_json(line).unwrap())
            .map(|input| input.origin)
    }

    #[test]
    fn what_a_model_claims_is_a_models() {
        let model = Ok(Some("model".to_owned()));
        assert_eq!(said(json!({"fact": "diet", "value": "meat"})), model);
        assert_eq!(said(json!({"insight": "x", "validation": "testing", "id": "i1"})), model);
        assert_eq!(said(json!({"procedure": {}, "origin": "model"})), model);
        for origin in ["user", "tool", "system", "web", "imported"] {
            let refused = said(json!({"fact": "diet", "value": "meat", "origin": origin}));
            let text = format!("`origin` of a claim by a model must be `model`, found `{origin}`");
            assert_eq!(refused, Err(text));
        }
    }

    #[test]
    fn a_model_answers_for_nothing() {
        let refused = |line: Value| said(line).unwrap_err();
        let confirmed = json!({"fact": "diet", "value": "meat", "confirmed": true});
        assert!(refused(confirmed).starts_with("only a person can set `confirmed`"));
        for state in ["validated", "rejected"] {
            let refused = refused(json!({"insight": "x", "validation": state}));
            assert!(refused.contains(&format!("found `{state}`")), "{refused}");
        }
        assert!(
            refused(json!({"procedure": {}, "id": "p1"}))
                .starts_with("a model cannot set the `id`")
        );
        assert!(
            refused(json!({"episode": "x", "id": "ep1"}))
                .starts_with("a model cannot set the `id`")
        );
        assert!(
            refused(json!({"event": "x", "id": "r1/9/1"})).starts_with("`id` must not contain `/`")
        );
    }

    #[test]
    fn a_model_passes_on_who_said_something() {
        assert_eq!(said(json!({"event": "I eat no meat", "role": "user", "id": "e1"})), Ok(None));
        let web = said(json!({"event": "a page", "role": "tool", "origin": "web"}));
        assert_eq!(web, Ok(Some("web".to_owned())));
        assert!(said(json!({"event": "x", "origin": "system"})).is_err());
    }

    #[test]
    fn a_person_is_taken_at_their_word() {
        let line = json!({"fact": "diet", "value": "meat", "confirmed": true, "origin": "tool"});
        let input = MemoryInput::from_json(line).unwrap();
        assert_eq!(InputAuthor::Person.authorize_input(input.clone()), Ok(input));
        assert_eq!(
            (InputAuthor::Person.summary_writer(), InputAuthor::Model.summary_writer()),
            (None, Some("model".into()))
        );
    }
}
