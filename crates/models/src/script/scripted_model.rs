//! A model that replies from a script, with the entry for the current call.

use std::collections::BTreeMap;
use std::sync::Mutex;

use countersign_contract::source::{Diagnostic, SourceFile};
use serde_json::json;

use super::entry::ScriptEntry;
use super::script_file::{self, ScriptEntries, ScriptExamples, ScriptFile};
use crate::{
    ChatModel, ModelError, ModelErrorKind, ModelExchange, ModelFuture, ModelRequest, ModelResponse,
    OutputConstraint,
};

/// A model that replies with the texts of a file.
///
/// `ModelRequest::call_index` decides which entry a request gets, so that a restarted process
/// continues where the run was. Without an index, the script counts its own calls.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    entries: ScriptEntries,
    examples: ScriptExamples,
    /// Calls so far, by label; the label is empty if there is a single list.
    call_counts: Mutex<BTreeMap<String, usize>>,
}

impl ScriptedModel {
    /// Parses a script file.
    pub fn parse(source: SourceFile) -> Result<Self, Vec<Diagnostic>> {
        let name = format!("script:{}", source.name);
        let ScriptFile { entries, examples } = script_file::parse_script(source)?;
        Ok(Self { name, entries, examples, call_counts: Mutex::default() })
    }

    /// Returns what a person can type so that the replies fit.
    #[must_use]
    pub fn examples(&self) -> &ScriptExamples {
        &self.examples
    }

    /// Returns the number of entries in all lists.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.entries {
            ScriptEntries::Run(entries) => entries.len(),
            ScriptEntries::ByLabel(lists) => lists.values().map(Vec::len).sum(),
        }
    }

    /// Whether the script has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find_entry(&self, ask: &ModelRequest) -> Result<&ScriptEntry, ModelErrorKind> {
        let label = ask.label.as_deref().unwrap_or_default();
        let (entries, label, fixed_index) = match &self.entries {
            ScriptEntries::Run(entries) => {
                (entries.as_slice(), None, ask.call_index.map(|call| call.in_run))
            }
            ScriptEntries::ByLabel(lists) => {
                let list = lists.get(label).map(Vec::as_slice).unwrap_or_default();
                (list, Some(label), ask.call_index.map(|call| call.under_label))
            }
        };
        let index = fixed_index.unwrap_or_else(|| self.next_call_index(label.unwrap_or_default()));
        let entry = entries.get(index).ok_or_else(|| ModelErrorKind::ScriptExhausted {
            entries: entries.len(),
            label: label.map(str::to_owned),
            calls_before: index,
        })?;
        let contract = ask.contract.as_ref().map(|contract| contract.id.as_str());
        match &entry.when {
            Some(when) if ask.label.as_ref() != Some(when) && contract != Some(when) => {
                let names: Vec<String> =
                    ask.label.as_deref().into_iter().chain(contract).map(quote_name).collect();
                let found = if names.is_empty() {
                    "no phase or contract".to_owned()
                } else {
                    names.join(" with ")
                };
                Err(ModelErrorKind::ScriptMismatch {
                    entry: index + 1,
                    expected: when.clone(),
                    found,
                })
            }
            _ => self.check_expected_texts(entry, ask).map(|()| entry),
        }
    }

    /// Checks that the messages contain what a reply is about: a story about something else would
    /// mislead whoever reads it.
    fn check_expected_texts(
        &self,
        entry: &ScriptEntry,
        ask: &ModelRequest,
    ) -> Result<(), ModelErrorKind> {
        if entry.expects.is_empty() {
            return Ok(());
        }
        let said = ask.messages.iter().map(|turn| turn.text.to_lowercase()).collect::<Vec<_>>();
        let missing = entry.expects.iter().find(|text| {
            let text = text.to_lowercase();
            !said.iter().any(|turn| turn.contains(&text))
        });
        match missing {
            None => Ok(()),
            Some(expected) => Err(ModelErrorKind::ScriptInputUnknown {
                expected: expected.clone(),
                known: [&self.examples.inputs[..], &self.examples.answers].concat(),
            }),
        }
    }

    fn next_call_index(&self, label: &str) -> usize {
        let mut counted = self.call_counts.lock().expect("no thread panics while counting");
        let count = counted.entry(label.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    async fn replay(
        &self,
        ask: &ModelRequest,
        live: &mut (dyn FnMut(&str) + Send),
    ) -> Result<ModelResponse, ModelError> {
        let error =
            |fault, exchange| ModelError { model: self.name.clone(), kind: fault, exchange };
        let entry = self.find_entry(ask).map_err(|fault| error(fault, None))?;
        if !entry.delay.is_zero() {
            tokio::time::sleep(entry.delay).await;
        }
        let request = render_request(ask);
        match &entry.outcome {
            Err(fault) => {
                let exchange = ModelExchange { request, response: Vec::new() };
                Err(error(fault.clone(), Some(Box::new(exchange))))
            }
            Ok(reply) => {
                live(&reply.text);
                Ok(ModelResponse {
                    text: reply.text.clone(),
                    finish: reply.finish,
                    finish_reason: "script".to_owned(),
                    usage: reply.usage,
                    model: self.name.clone(),
                    exchange: ModelExchange { request, response: reply.text.clone().into_bytes() },
                    constraint: OutputConstraint::Unconstrained,
                    drop_nulls: false,
                })
            }
        }
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(
        &'a self,
        ask: &'a ModelRequest,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> ModelFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(self.replay(ask, live))
    }
}

fn quote_name(name: &str) -> String {
    format!("`{name}`")
}

/// Renders the request that a provider would have received: nothing is sent, but the log should
/// still show the prompt.
fn render_request(ask: &ModelRequest) -> Vec<u8> {
    let turns =
        ask.messages.iter().map(|turn| json!({"role": turn.role.as_str(), "text": turn.text}));
    let contract =
        ask.contract.as_ref().map(|contract| format!("{}@{}", contract.id, contract.version));
    let request = json!({
        "system": ask.system,
        "messages": turns.collect::<Vec<_>>(),
        "contract": contract,
        "label": ask.label,
    });
    request.to_string().into_bytes()
}
