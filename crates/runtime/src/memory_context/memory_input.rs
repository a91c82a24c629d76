//! An item to remember as the client submits it: a line of JSON, the flags of a command, or the
//! body of a request.

use countersign_shipped_contracts::JsonObject;
use serde::Deserialize;
use serde_json::Value;

/// An item to remember. Exactly one of the first seven fields is present; the others describe it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "expected an object")]
pub struct MemoryInput {
    /// Text of an event: what was said or done.
    pub event: Option<String>,
    /// Key of a fact; `value` holds its value.
    pub fact: Option<String>,
    /// Summary of an episode: something that happened, described as a whole.
    pub episode: Option<String>,
    /// Content of a procedure.
    pub procedure: Option<JsonObject>,
    /// Statement of an insight.
    pub insight: Option<String>,
    /// Working state of a run.
    pub working_memory: Option<JsonObject>,
    /// Summary of a session so far.
    pub summary: Option<String>,

    /// Session of the item; the session of the caller's scope if absent.
    pub session: Option<String>,
    /// Run of the item; the run of the caller's scope if absent.
    pub run: Option<String>,
    /// Value of a fact; required for facts.
    pub value: Option<Value>,
    /// Id of the item; derived from content and time if absent.
    pub id: Option<String>,
    /// Role of the speaker: `user`, `assistant` or `tool`; `user` if absent.
    pub role: Option<String>,
    /// Kind of an event; depends on the role if absent.
    pub kind: Option<String>,
    /// Origin of the item, such as `user` or `web`; depends on the role for events and is `user`
    /// for claims if absent.
    pub origin: Option<String>,
    /// Name of the speaker of an event.
    pub speaker: Option<String>,
    /// When the event happened; the current time if absent.
    pub ts: Option<String>,
    /// Tags that cues can match.
    pub tags: Vec<String>,
    /// People and things that the item is about.
    pub entities: Vec<String>,
    /// Ids of the events that support the item.
    pub sources: Vec<String>,
    /// Literal quotation from the first source.
    pub quote: Option<String>,
    /// Confidence from 0 to 1; 0.5 for facts and 0.3 for insights if absent.
    pub confidence: Option<f64>,
    /// Scope level that owns a fact; `user` if absent.
    pub level: Option<String>,
    /// Whether the fact is a preference.
    pub preference: bool,
    /// Whether a person confirms the fact.
    pub confirmed: bool,
    /// Remark about a fact, for people.
    pub notes: Option<String>,
    /// When the fact starts to be valid; unbounded if absent.
    pub valid_from: Option<String>,
    /// When the fact stops being valid; unbounded if absent.
    pub valid_to: Option<String>,
    /// When the episode began; the end if absent.
    pub start: Option<String>,
    /// When the episode ended; the start if absent, or else the current time.
    pub end: Option<String>,
    /// Key points of an episode.
    pub highlights: Vec<String>,
    /// How far an episode is condensed already: `raw`, `phase_summary` or `milestone`; `raw` if
    /// absent.
    pub compression_level: Option<String>,
    /// Kind of task of a procedure; `generic` if absent.
    pub task_type: Option<String>,
    /// Priority of a procedure; higher ones come first, 0 if absent.
    pub priority: Option<i64>,
    /// How many times a procedure was used; 0 if absent.
    pub usage: Option<u64>,
    /// The kinds of prompt that a procedure is for: `planner`, `tool`, `responder`.
    pub purposes: Vec<String>,
    /// Further conditions under which a procedure applies, as a packet has them.
    pub applicability: Option<JsonObject>,
    /// Kind of an insight; `hypothesis` if absent.
    #[serde(rename = "type")]
    pub insight_type: Option<String>,
    /// What prompted an insight: `conflict`, `failure`, `synthesis` or `analogy`; `synthesis` if
    /// absent.
    pub trigger: Option<String>,
    /// Suggestions for testing an insight.
    pub tests_suggested: Vec<String>,
    /// Validation state of an insight; `unvalidated` if absent.
    pub validation: Option<String>,
    /// When the item expires: a timestamp, or `run_end`. Insights expire at the end of the run if
    /// absent.
    pub expires: Option<String>,
    /// Build of the packet that the author of an event was shown.
    pub build: Option<String>,
}

impl MemoryInput {
    /// Parses an item from JSON.
    ///
    /// # Errors
    /// If it names no kind, several kinds, or an unknown field.
    pub fn from_json(line: Value) -> Result<Self, String> {
        let input: Self = serde_json::from_value(line).map_err(|error| error.to_string())?;
        match &input.list_kinds()[..] {
            [_] => Ok(input),
            [] => Err(
                "it has nothing to remember; expected one of `event`, `fact`, `episode`, `procedure`, `insight`, `working_memory`, `summary`"
                    .to_owned(),
            ),
            several => Err(format!("it has several items to remember: `{}`", several.join("`, `"))),
        }
    }

    /// Returns the kinds that are present: exactly one if the item is well formed.
    #[must_use]
    pub fn list_kinds(&self) -> Vec<&'static str> {
        let all = [
            ("event", self.event.is_some()),
            ("fact", self.fact.is_some()),
            ("episode", self.episode.is_some()),
            ("procedure", self.procedure.is_some()),
            ("insight", self.insight.is_some()),
            ("working_memory", self.working_memory.is_some()),
            ("summary", self.summary.is_some()),
        ];
        all.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
    }

    /// Rejects empty texts, and fields that do not apply to the kind and would be silently lost.
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
                return Err(format!("`{name}` is empty"));
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
            ("notes", self.notes.is_some(), &["fact"]),
            ("valid_from", self.valid_from.is_some(), &["fact"]),
            ("valid_to", self.valid_to.is_some(), &["fact"]),
            ("start", self.start.is_some(), &["episode"]),
            ("end", self.end.is_some(), &["episode"]),
            ("highlights", !self.highlights.is_empty(), &["episode"]),
            ("compression_level", self.compression_level.is_some(), &["episode"]),
            ("task_type", self.task_type.is_some(), &["procedure"]),
            ("priority", self.priority.is_some(), &["procedure"]),
            ("usage", self.usage.is_some(), &["procedure"]),
            ("purposes", !self.purposes.is_empty(), &["procedure"]),
            ("applicability", self.applicability.is_some(), &["procedure"]),
            ("trigger", self.trigger.is_some(), &["insight"]),
            ("tests_suggested", !self.tests_suggested.is_empty(), &["insight"]),
            ("type", self.insight_type.is_some(), &["insight"]),
            ("validation", self.validation.is_some(), &["insight"]),
            ("expires", self.expires.is_some(), &["event", "insight"]),
        ];
        for thing in self.list_kinds() {
            for (name, said, kinds) in &of {
                if *said && !kinds.contains(&thing) {
                    let kinds = kinds.join("`, `");
                    return Err(format!(
                        "`{name}` does not apply to `{thing}`; it applies to `{kinds}`"
                    ));
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
        assert!(said(json!({"role": "user"})).starts_with("it has nothing to remember"));
        assert_eq!(
            said(json!({"event": "a", "fact": "b"})),
            "it has several items to remember: `event`, `fact`"
        );
        assert!(said(json!({"evnt": "a"})).starts_with("unknown field `evnt`"));
        assert!(
            said(json!([])).contains("expected struct") || said(json!(1)).contains("invalid type")
        );
    }
}
