//! Generates valid replies: values that satisfy the schema and the rules of each contract in the
//! trial.
//!
//! The generators are written by hand and not derived from the schemas, because a generator that
//! reads the schema would share the errors of the schema engine. `tests.rs` checks every value
//! against its contract.

use serde_json::{Map, Value, json};

use super::phrases::{self, ReplyLanguage};
use testkit::SeededRng;

/// The contracts that the trial covers.
pub(crate) const CONTRACTS: [&str; 6] = [
    "guardian_report",
    "analyst_plan",
    "xiaojing_review_v1",
    "xiaobo_action_v1",
    "llm_step_output",
    "architect_spec",
];

/// Generates a valid reply for a contract of [`CONTRACTS`].
pub(crate) fn generate_reply(rng: &mut SeededRng, contract: &str) -> Value {
    let language = *rng.pick(&ReplyLanguage::ALL);
    // Most replies are short; one in twelve is long.
    let bytes = if rng.roll_percent(8) {
        rng.next_between(2_000, 8_000)
    } else {
        rng.next_between(80, 1_200)
    };
    let mut writer = ReplyGenerator { rng, language, bytes };
    match contract {
        "guardian_report" => writer.generate_guardian_report(),
        "analyst_plan" => writer.generate_analyst_plan(),
        "xiaojing_review_v1" => writer.generate_review(),
        "xiaobo_action_v1" => writer.generate_action(),
        "llm_step_output" => writer.generate_step_output(),
        _ => writer.generate_architect_spec(),
    }
}

/// Returns a pointer to a string of the reply that may hold any text; `None` if there is none.
pub(crate) fn find_free_text(contract: &str, reply: &Value) -> Option<&'static str> {
    let pointers: &[&'static str] = match contract {
        "guardian_report" => &["/reasons/0"],
        "analyst_plan" => &["/intent"],
        "xiaojing_review_v1" => &["/summary"],
        "xiaobo_action_v1" => {
            &["/artifact/content", "/error/message", "/needs_input/required_docs/0/description"]
        }
        "llm_step_output" => &["/rationale"],
        _ => &["/forbidden_content/0"],
    };
    pointers.iter().copied().find(|pointer| reply.pointer(pointer).is_some())
}

/// Returns pointers to the strings of the reply that come from a fixed list.
pub(crate) fn enum_pointers(contract: &str) -> &'static [&'static str] {
    match contract {
        "guardian_report" => &["/verdict", "/risk_level"],
        "analyst_plan" => &["/request_type", "/track"],
        "xiaojing_review_v1" => &["/review_target", "/action_required", "/schema_version"],
        "xiaobo_action_v1" => &["/result_type", "/schema_version"],
        "llm_step_output" => &["/step", "/patch/format", "/next_action/kind"],
        _ => &["/response_format"],
    }
}

struct ReplyGenerator<'r> {
    rng: &'r mut SeededRng,
    language: ReplyLanguage,
    bytes: usize,
}

impl ReplyGenerator<'_> {
    fn random_text(&mut self, share: usize) -> String {
        phrases::random_text(self.rng, self.language, self.bytes / share)
    }

    /// Generates several different strings.
    fn random_texts(&mut self, least: usize, most: usize) -> Vec<String> {
        let count = self.rng.next_between(least, most);
        (1..=count).map(|number| format!("{number}. {}", self.random_text(3 * count + 1))).collect()
    }

    fn random_id(&mut self, prefix: &str) -> String {
        format!("{prefix}-{:04}", self.rng.next_below(10_000))
    }

    fn generate_guardian_report(&mut self) -> Value {
        const ACTIONS: [&str; 6] = [
            "ADD_EVIDENCE",
            "RETRIEVE_MORE",
            "RETRIEVE_DB",
            "REGENERATE_DRAFT",
            "FIX_JSON_FORMAT",
            "SAFE_REFUSAL",
        ];
        let verdict = *self.rng.pick(&["PASS", "FAIL", "RETRY", "RETRY"]);
        let reasons = if verdict == "PASS" { Vec::new() } else { self.random_texts(1, 5) };
        let actions = match verdict {
            "PASS" => Vec::new(),
            "FAIL" => self.rng.pick_some(&ACTIONS, 0),
            _ => self.rng.pick_some(&ACTIONS, 1),
        };
        let risk = *self.rng.pick(&["low", "med", "high"]);
        json!({"verdict": verdict, "reasons": reasons, "required_actions": actions, "risk_level": risk})
    }

    fn generate_analyst_plan(&mut self) -> Value {
        let request = *self.rng.pick(&[
            "STATUS_METRIC",
            "STATUS_LIST",
            "HOWTO_POLICY",
            "DESIGN_ARCH",
            "KNOWLEDGE_QA",
            "CASUAL",
        ]);
        let track = *self.rng.pick(&["FAST", "QUALITY"]);
        let mut sources = match request {
            "STATUS_METRIC" | "STATUS_LIST" => vec!["db"],
            "HOWTO_POLICY" => vec!["policy"],
            "DESIGN_ARCH" | "KNOWLEDGE_QA" => vec!["doc"],
            _ => Vec::new(),
        };
        let more = self.rng.pick_some(&["neo4j", "policy"], 0);
        if request != "CASUAL" {
            sources.extend(
                more.into_iter().filter(|source| request != "HOWTO_POLICY" || **source != "policy"),
            );
        }
        let questions = if track == "FAST" { Vec::new() } else { self.random_texts(0, 1) };
        json!({
            "intent": self.random_text(2),
            "request_type": request,
            "track": track,
            "required_sources": sources,
            "missing_info_questions": questions,
            "expected_output_schema": "answer_v1_markdown",
        })
    }

    fn generate_review(&mut self) -> Value {
        let count = self.rng.next_between(1, 4);
        let mut left = 100;
        let mut total = 0;
        let good = self.rng.roll_percent(40);
        let mut breakdown = Vec::new();
        for number in 0..count {
            let maximum = if number + 1 == count { left } else { left / 2 };
            left -= maximum;
            let score = if good {
                maximum - usize::from(maximum > 10)
            } else {
                self.rng.next_between(maximum / 3, maximum * 3 / 4)
            };
            total += score;
            let issues: Vec<Value> = (0..usize::from(score < maximum))
                .map(|_| {
                    json!({
                        "problem": self.random_text(20), "evidence": self.random_text(20), "impact": self.random_text(40),
                        "suggestion": self.random_text(40), "acceptance_criteria": self.random_text(40),
                    })
                })
                .collect();
            let dimension = format!(
                "{}: {}",
                number + 1,
                phrases::random_plain_sentence(self.rng, self.language)
            );
            breakdown.push(json!({"dimension": dimension, "score": score, "max_score": maximum, "issues": issues}));
        }
        let action = match total {
            90.. => "APPROVE",
            _ => *self.rng.pick(&["MODIFY", "REQUEST_EXTERNAL_INPUT"]),
        };
        let suggestions: Vec<Value> = (0..self.rng.next_below(3))
            .map(|_| {
                let priority = *self.rng.pick(&["HIGH", "MED", "LOW"]);
                json!({"priority": priority, "change": self.random_text(16), "steps": [self.random_text(24)], "acceptance_criteria": self.random_text(24)})
            })
            .collect();
        json!({
            "schema_version": "xiaojing_review_v1",
            "task_id": self.random_id("T"),
            "review_target": *self.rng.pick(&["PLAN", "NODE"]),
            "total_score": total,
            "breakdown": breakdown,
            "summary": self.random_text(4),
            "action_required": action,
            "suggestions": suggestions,
        })
    }

    fn generate_action(&mut self) -> Value {
        let kind = *self.rng.pick(&["ARTIFACT", "ARTIFACT", "NEEDS_INPUT", "ERROR", "NOOP"]);
        let mut reply = json!({"schema_version": "xiaobo_action_v1", "task_id": self.random_id("T"), "result_type": kind});
        match kind {
            "ARTIFACT" => {
                let format = *self.rng.pick(&["md", "txt", "json"]);
                let content = if format == "json" {
                    json!({"note": self.random_text(2), "n": [1, 2.5, null, true]}).to_string()
                } else {
                    self.random_text(1)
                };
                let mut artifact = json!({"name": format!("{}.{format}", self.random_id("out")), "format": format, "content": content});
                if self.rng.roll_percent(50) {
                    artifact["summary"] = self.random_text(8).into();
                }
                reply["artifact"] = artifact;
            }
            "NEEDS_INPUT" => {
                let documents: Vec<Value> = self
                    .random_texts(1, 3)
                    .into_iter()
                    .map(|text| {
                        let types = self.rng.pick_some(&["pdf", "docx", "xlsx", "md", "txt"], 1);
                        let path = format!("workspace/inputs/{}.pdf", self.random_id("doc"));
                        json!({"name": self.random_id("doc"), "description": text, "accepted_types": types, "suggested_path": path})
                    })
                    .collect();
                reply["needs_input"] = json!({"required_docs": documents});
            }
            "ERROR" => {
                reply["error"] = json!({"code": "NO_ACCESS", "message": self.random_text(2), "suggestion": self.random_text(4)});
            }
            _ => {}
        }
        reply
    }

    fn generate_step_output(&mut self) -> Value {
        let step = *self.rng.pick(&["INTERPRET", "GATE_CHECK"]);
        let kinds = match step {
            "INTERPRET" => ["ask_user", "proceed_to_gate", "halt_error"],
            _ => ["ask_user", "proceed_to_skeleton", "halt_error"],
        };
        let kind = *self.rng.pick(&kinds);
        let patch = if self.rng.roll_percent(60) {
            self.generate_json_patch()
        } else {
            self.generate_merge_patch()
        };
        let mut action = json!({"kind": kind});
        match kind {
            "ask_user" => action["ask_user"] = self.generate_question(),
            "halt_error" => {
                action["error"] =
                    json!({"category": "insufficient_context", "message": self.random_text(8)});
            }
            _ => {}
        }
        let mut reply = json!({"output_id": self.random_id("out"), "step": step, "patch": patch});
        if self.rng.roll_percent(60) {
            let severity = *self.rng.pick(&["low", "critical"]);
            let weight = self.rng.next_below(1000) as f64 / 8.0;
            reply["issue_updates"] = json!([
                {"op": "upsert", "issue": {"key": "no_owner", "title": self.random_text(12), "severity": severity, "weight": weight}},
                {"op": "resolve", "issue": {"id": self.random_id("I")}},
            ]);
        }
        reply["next_action"] = action;
        reply["rationale"] = self.random_text(3).into();
        if self.rng.roll_percent(50) {
            reply["safety"] = json!({"has_unconfirmed_assumptions": self.rng.roll_percent(50), "detected_conflict": self.rng.roll_percent(50)});
        }
        if self.rng.roll_percent(50) {
            reply["observations"] = self.random_texts(0, 4).into();
        }
        reply
    }

    fn generate_json_patch(&mut self) -> Value {
        json!({"format": "json_patch", "ops": [
            {"op": "add", "path": "/domain/facts/-", "value": {"text": self.random_text(6), "sure": self.rng.roll_percent(50), "source": null}},
            {"op": "replace", "path": "/domain/amount", "value": self.rng.next_below(1_000_000)},
            {"op": "move", "from": "/domain/draft", "path": "/domain/goal"},
        ]})
    }

    fn generate_merge_patch(&mut self) -> Value {
        let mut domain = Map::new();
        domain.insert("goal".to_owned(), self.random_text(6).into());
        domain.insert("amount".to_owned(), (self.rng.next_below(100_000) as f64 / 4.0).into());
        domain.insert("parties".to_owned(), self.random_texts(1, 3).into());
        domain.insert("old".to_owned(), Value::Null);
        json!({"format": "merge_patch", "ops": {"domain": domain}})
    }

    fn generate_question(&mut self) -> Value {
        if self.rng.roll_percent(50) {
            return json!({"question_text": self.random_text(8), "answer_format": "free_text"});
        }
        let choices: Vec<Value> = self
            .random_texts(2, 4)
            .into_iter()
            .enumerate()
            .map(|(number, label)| json!({"id": format!("c{number}"), "label": label, "value": number}))
            .collect();
        json!({"question_id": self.random_id("Q"), "question_text": self.random_text(8), "answer_format": "choices", "choices": choices})
    }

    fn generate_architect_spec(&mut self) -> Value {
        json!({
            "response_format": *self.rng.pick(&["markdown", "json", "hybrid"]),
            "domain_terms": self.random_texts(0, 4),
            "forbidden_content": self.random_texts(1, 4),
            "required_sections": self.random_texts(1, 6),
        })
    }
}
