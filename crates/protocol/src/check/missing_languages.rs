//! Finds texts that lack a language which other texts of the protocol have.
//!
//! A plain text applies to every language, so it lacks none.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::json::TextSpan;
use countersign_contract::source::{Diagnostic, DiagnosticCollector, SourceFile};
use serde_json::Value;

use super::unused_budgets::parse_index_file;
use super::wording::format_names;
use crate::{
    AnswerShape, BudgetLimits, ChoiceSource, FileOrigin, Localized, PhaseWork, Protocol,
    WorkflowPhase,
};

pub(super) fn check(protocol: &Protocol, findings: &mut DiagnosticCollector) {
    let mut texts = LocalizedTexts::default();
    texts.add_agents(protocol);
    texts.add_rules(protocol);
    if let Some(index) = parse_index_file(protocol) {
        texts.add_budget(&protocol.policy.budget, &index.child("policy").child("budget"));
    }
    for workflow in protocol.workflows.values() {
        if let Some(title) = &workflow.title {
            texts.add_member_text(title, workflow.setting_origin("title"));
        }
        if let Some(question) = workflow.input.as_ref().and_then(|input| input.question.as_ref()) {
            texts.add_member_text(question, workflow.setting_origin("input").child("question"));
        }
        workflow.phases.iter().for_each(|phase| texts.add_phase(phase));
    }
    texts.report_missing(findings);
}

/// The location of a text.
enum TextLocation {
    Node(FileOrigin),
    /// A rule, which has its own file: path and text.
    File(String, String),
}

/// Every text that has languages, with those languages and its location.
#[derive(Default)]
struct LocalizedTexts {
    all: Vec<(BTreeSet<String>, TextLocation)>,
}

impl LocalizedTexts {
    fn add_member_text<T>(&mut self, text: &Localized<T>, origin: FileOrigin) {
        self.add_text(text, TextLocation::Node(origin));
    }

    fn add_text<T>(&mut self, text: &Localized<T>, location: TextLocation) {
        if text.has_languages() {
            // A version without a language tag beside others is the one that an English reader
            // gets.
            let named =
                |language: &str| if language.is_empty() { "en" } else { language }.to_owned();
            let languages = text.versions().map(|(language, _)| named(language)).collect();
            self.all.push((languages, location));
        }
    }

    fn add_agents(&mut self, protocol: &Protocol) {
        for agent in protocol.agents.values() {
            if let Some(origin) = &agent.origin {
                self.add_member_text(&agent.prompt, origin.child("prompt"));
            }
        }
    }

    fn add_rules(&mut self, protocol: &Protocol) {
        let mut files: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for (path, text) in protocol.bundle.files_in_folder("rules") {
            let file = path.trim_start_matches("rules/");
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            files.entry(stem).or_insert((path, text));
        }
        for (name, rule) in &protocol.rules {
            if let Some((path, text)) = files.get(name.as_str()) {
                self.add_text(&**rule, TextLocation::File((*path).to_owned(), (*text).to_owned()));
            }
        }
    }

    fn add_budget(&mut self, budget: &BudgetLimits, origin: &FileOrigin) {
        for (name, limit) in &budget.limits {
            if let Some(says) = &limit.says {
                self.add_member_text(says, origin.child(name).child("says"));
            }
        }
    }

    fn add_phase(&mut self, phase: &WorkflowPhase) {
        self.add_budget(&phase.budget, &phase.origin.child("budget"));
        match &phase.work {
            PhaseWork::Agent(work) => {
                if let Some(prompt) = &work.prompt {
                    self.add_member_text(prompt, phase.origin.child("prompt"));
                }
            }
            PhaseWork::Ask(questions) => {
                let ask = phase.origin.child("ask");
                let listed = ask.tree.value.pointer(&ask.pointer).is_some_and(Value::is_array);
                for (index, question) in questions.iter().enumerate() {
                    let origin = if listed { ask.child(&index.to_string()) } else { ask.clone() };
                    self.add_member_text(&question.question, origin.child("question"));
                    let AnswerShape::Choices(ChoiceSource::Listed(choices)) = &question.shape
                    else {
                        continue;
                    };
                    for (number, choice) in choices.iter().enumerate() {
                        let origin = origin.child("choices").child(&number.to_string());
                        self.add_member_text(&choice.label, origin.child("label"));
                    }
                }
            }
            PhaseWork::None | PhaseWork::Effect { .. } | PhaseWork::Invoke(_) => {}
        }
    }

    fn report_missing(self, findings: &mut DiagnosticCollector) {
        let known: BTreeSet<&String> =
            self.all.iter().flat_map(|(languages, _)| languages).collect();
        for (languages, location) in &self.all {
            if languages.len() == known.len() {
                continue;
            }
            let missing = known.iter().filter(|one| !languages.contains(**one));
            let message = if findings.is_full("language_missing") {
                String::new()
            } else {
                let missing = format_names(missing.map(|one| one.as_str()));
                format!("this text has no version in {missing}, but other texts of the protocol do")
            };
            let (fault, hint) = match location {
                TextLocation::Node(origin) => {
                    let hint = "add the version, or write the text without languages if it suits all of them";
                    (origin.diagnose("language_missing", message), hint)
                }
                TextLocation::File(path, text) => {
                    let source = SourceFile::new(path.as_str(), text.as_str()).into();
                    let span = TextSpan::new(0, text.lines().next().map_or(0, str::len));
                    let hint = "add the version next to it, as `NAME.LANGUAGE.md`";
                    (Diagnostic::new("language_missing", message, &source, span), hint)
                }
            };
            findings.push(fault.into_warning().with_hint(Some(hint.to_owned())));
        }
    }
}
