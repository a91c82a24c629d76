//! Something to be remembered, as it is told: a line of JSON, the flags of a command, the body of a request.

use countersign_contracts::JsonObject;
use serde::Deserialize;
use serde_json::Value;

/// Something to be remembered. One of the first seven is there; the others say more of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "expected an object")]
pub struct MemoryInput {
    /// What was said or done.
    pub event: Option<String>,
    /// The key; `value` has what it is.
    pub fact: Option<String>,
    /// Something that happened, told as a whole.
    pub episode: Option<String>,
    /// The content.
    pub procedure: Option<JsonObject>,
    /// A guess.
    pub insight: Option<String>,
    /// What a run is doing.
    pub working: Option<JsonObject>,
    /// A session so far, in short.
    pub summary: Option<String>,

    /// The session, where it is another.
    pub session: Option<String>,
    /// The run, where it is another.
    pub run: Option<String>,
    /// What a fact is.
    pub value: Option<Value>,
    /// Its id; made of what it says and when, where absent.
    pub id: Option<String>,
    /// Who spoke: `user`, `assistant`, `tool`.
    pub role: Option<String>,
    /// What an event is.
    pub kind: Option<String>,
    /// Where it came from.
    pub origin: Option<String>,
    /// The name of whoever spoke.
    pub speaker: Option<String>,
    /// When it happened.
    pub ts: Option<String>,
    /// By which cues find it.
    pub tags: Vec<String>,
    /// Whom and what it is about.
    pub entities: Vec<String>,
    /// The ids of events it rests on.
    pub sources: Vec<String>,
    /// Words that stand in the first source, letter for letter.
    pub quote: Option<String>,
    /// From 0 to 1.
    pub confidence: Option<f64>,
    /// Whom a fact belongs to.
    pub level: Option<String>,
    /// Whether it is a preference.
    pub preference: bool,
    /// Whether a person answers for it.
    pub confirmed: bool,
    /// From when it holds.
    pub valid_from: Option<String>,
    /// Until when it holds.
    pub valid_to: Option<String>,
    /// When it began.
    pub start: Option<String>,
    /// When it ended.
    pub end: Option<String>,
    /// Points that matter.
    pub highlights: Vec<String>,
    /// The kind of task.
    pub task_type: Option<String>,
    /// The highest comes first.
    pub priority: Option<i64>,
    /// How often a procedure was used.
    pub usage: Option<u64>,
    /// Which kinds of prompt a procedure is for: `planner`, `tool`, `responder`.
    pub purposes: Vec<String>,
    /// What kind of guess.
    #[serde(rename = "type")]
    pub insight_type: Option<String>,
    /// How far it was tested.
    pub validation: Option<String>,
    /// Until when it may be seen: a moment, or `run_end`.
    pub expires: Option<String>,
    /// The build of the packet that the writer of an event was shown.
    pub build: Option<String>,
}

impl MemoryInput {
    /// What a line tells.
    ///
    /// # Errors
    /// Where it names nothing, or several things, or something unknown.
    pub fn from_json(line: Value) -> Result<Self, String> {
        let told: Self = serde_json::from_value(line).map_err(|error| error.to_string())?;
        match &told.list_kinds()[..] {
            [_] => Ok(told),
            [] => Err(
                "it names nothing to remember; expected one of `event`, `fact`, `episode`, `procedure`, `insight`, `working`, `summary`"
                    .to_owned(),
            ),
            several => Err(format!("it names several things: `{}`", several.join("`, `"))),
        }
    }

    /// The names of the things it tells: one, where it is well formed.
    #[must_use]
    pub fn list_kinds(&self) -> Vec<&'static str> {
        let all = [
            ("event", self.event.is_some()),
            ("fact", self.fact.is_some()),
            ("episode", self.episode.is_some()),
            ("procedure", self.procedure.is_some()),
            ("insight", self.insight.is_some()),
            ("working", self.working.is_some()),
            ("summary", self.summary.is_some()),
        ];
        all.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }

    /// Refuses what says nothing, and what is said of another kind of thing: it would be lost without a word.
    pub(super) fn check_fields(&self) -> Result<(), String> {
        let texts = [
            ("event", &self.event),
            ("fact", &self.fact),
            ("episode", &self.episode),
            ("insight", &self.insight),
            ("summary", &self.summary),
        ];
        for (name, text) in texts {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(format!("`{name}` says nothing"));
            }
        }
        let claims = &["fact", "episode", "procedure", "insight"][..];
        let marked = &["event", "fact", "episode", "procedure"][..];
        let of = [
            ("value", self.value.is_some(), &["fact"][..]),
            ("id", self.id.is_some(), &["event", "fact", "episode", "procedure", "insight"]),
            ("role", self.role.is_some(), &["event"]),
            ("kind", self.kind.is_some(), &["event"]),
            (
                "origin",
                self.origin.is_some(),
                &["event", "fact", "episode", "procedure", "insight"],
            ),
            ("speaker", self.speaker.is_some(), &["event"]),
            ("ts", self.ts.is_some(), &["event"]),
            ("build", self.build.is_some(), &["event"]),
            ("tags", !self.tags.is_empty(), marked),
            ("entities", !self.entities.is_empty(), marked),
            ("sources", !self.sources.is_empty(), &[claims, &["summary"]].concat()),
            ("quote", self.quote.is_some(), &["fact"]),
            ("confidence", self.confidence.is_some(), &["fact", "insight"]),
            ("level", self.level.is_some(), &["fact"]),
            ("preference", self.preference, &["fact"]),
            ("confirmed", self.confirmed, &["fact"]),
            ("valid_from", self.valid_from.is_some(), &["fact"]),
            ("valid_to", self.valid_to.is_some(), &["fact"]),
            ("start", self.start.is_some(), &["episode"]),
            ("end", self.end.is_some(), &["episode"]),
            ("highlights", !self.highlights.is_empty(), &["episode"]),
            ("task_type", self.task_type.is_some(), &["procedure"]),
            ("priority", self.priority.is_some(), &["procedure"]),
            ("usage", self.usage.is_some(), &["procedure"]),
            ("purposes", !self.purposes.is_empty(), &["procedure"]),
            ("type", self.insight_type.is_some(), &["insight"]),
            ("validation", self.validation.is_some(), &["insight"]),
            ("expires", self.expires.is_some(), &["event", "insight"]),
        ];
        for thing in self.list_kinds() {
            for (name, said, kinds) in &of {
                if *said && !kinds.contains(&thing) {
                    let kinds = kinds.join("`, `");
                    return Err(format!("`{name}` is nothing that `{thing}` has; `{kinds}` may"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_names_one_thing() {
        let said = |line: Value| MemoryInput::from_json(line).unwrap_err();
        assert!(MemoryInput::from_json(json!({"event": "Hi", "role": "user"})).is_ok());
        assert!(said(json!({"role": "user"})).starts_with("it names nothing to remember"));
        assert_eq!(
            said(json!({"event": "a", "fact": "b"})),
            "it names several things: `event`, `fact`"
        );
        assert!(said(json!({"evnt": "a"})).starts_with("unknown field `evnt`"));
        assert!(
            said(json!([])).contains("expected struct") || said(json!(1)).contains("invalid type")
        );
    }
}
