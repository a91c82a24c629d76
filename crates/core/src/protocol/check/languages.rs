//! Texts that lack a language which others of the protocol have.
//!
//! A plain text is meant for every language, and lacks none.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::budgets::index_file;
use super::finding::names;
use crate::json::Span;
use crate::protocol::{Budget, ByLanguage, Choices, Origin, Phase, Protocol, Shape, Work};
use crate::spec::{Diagnostic, Findings, Source};

pub(super) fn check(protocol: &Protocol, findings: &mut Findings) {
    let mut texts = Texts::default();
    texts.agents(protocol);
    texts.rules(protocol);
    if let Some(index) = index_file(protocol) {
        texts.budget(&protocol.policy.budget, &index.child("policy").child("budget"));
    }
    for workflow in protocol.workflows.values() {
        if let Some(question) = workflow.input.as_ref().and_then(|input| input.question.as_ref()) {
            texts.text(question, workflow.origin.child("input").child("question"));
        }
        workflow.phases.iter().for_each(|phase| texts.phase(phase));
    }
    texts.tell_missing(findings);
}

/// Where a text stands.
enum Place {
    In(Origin),
    /// A rule, which is a file of its own.
    File(String, String),
}

/// Every text that has languages, with them and its place.
#[derive(Default)]
struct Texts {
    all: Vec<(BTreeSet<String>, Place)>,
}

impl Texts {
    fn text<T>(&mut self, text: &ByLanguage<T>, origin: Origin) {
        self.add(text, Place::In(origin));
    }

    fn add<T>(&mut self, text: &ByLanguage<T>, place: Place) {
        if text.has_languages() {
            // What stands under no language beside others is what an English reader gets.
            let named =
                |language: &str| if language.is_empty() { "en" } else { language }.to_owned();
            let languages = text.versions().map(|(language, _)| named(language)).collect();
            self.all.push((languages, place));
        }
    }

    fn agents(&mut self, protocol: &Protocol) {
        for agent in protocol.agents.values() {
            if let Some(origin) = &agent.origin {
                self.text(&agent.prompt, origin.child("prompt"));
            }
        }
    }

    fn rules(&mut self, protocol: &Protocol) {
        let mut files: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for (path, text) in protocol.bundle.under("rules") {
            let file = path.trim_start_matches("rules/");
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            files.entry(stem).or_insert((path, text));
        }
        for (name, rule) in &protocol.rules {
            if let Some((path, text)) = files.get(name.as_str()) {
                self.add(&**rule, Place::File((*path).to_owned(), (*text).to_owned()));
            }
        }
    }

    fn budget(&mut self, budget: &Budget, origin: &Origin) {
        for (name, limit) in &budget.limits {
            if let Some(says) = &limit.says {
                self.text(says, origin.child(name).child("says"));
            }
        }
    }

    fn phase(&mut self, phase: &Phase) {
        self.budget(&phase.budget, &phase.origin.child("budget"));
        match &phase.work {
            Work::Agent(work) => {
                if let Some(prompt) = &work.prompt {
                    self.text(prompt, phase.origin.child("prompt"));
                }
            }
            Work::Ask(questions) => {
                let ask = phase.origin.child("ask");
                let listed = ask.tree.value.pointer(&ask.pointer).is_some_and(Value::is_array);
                for (index, question) in questions.iter().enumerate() {
                    let origin = if listed { ask.child(&index.to_string()) } else { ask.clone() };
                    self.text(&question.question, origin.child("question"));
                    let Shape::Choices(Choices::Listed(choices)) = &question.shape else {
                        continue;
                    };
                    for (number, choice) in choices.iter().enumerate() {
                        let origin = origin.child("choices").child(&number.to_string());
                        self.text(&choice.label, origin.child("label"));
                    }
                }
            }
            Work::None | Work::Effect { .. } | Work::Invoke(_) => {}
        }
    }

    fn tell_missing(self, findings: &mut Findings) {
        let known: BTreeSet<&String> =
            self.all.iter().flat_map(|(languages, _)| languages).collect();
        for (languages, place) in &self.all {
            if languages.len() == known.len() {
                continue;
            }
            let missing = known.iter().filter(|one| !languages.contains(**one));
            let message = if findings.is_full("language_missing") {
                String::new()
            } else {
                let missing = names(missing.map(|one| one.as_str()));
                format!("this text lacks {missing}, which others of the protocol have")
            };
            let (fault, hint) = match place {
                Place::In(origin) => {
                    let hint = "add it, or say the text without languages if it suits all";
                    (origin.fault("language_missing", message), hint)
                }
                Place::File(path, text) => {
                    let source = Source::new(path.as_str(), text.as_str()).into();
                    let span = Span::new(0, text.lines().next().map_or(0, str::len));
                    let hint = "put its version beside it, as `NAME.LANGUAGE.md`";
                    (Diagnostic::new("language_missing", message, &source, span), hint)
                }
            };
            findings.push(fault.warning().hinting(Some(hint.to_owned())));
        }
    }
}
