//! A script as a model: the entry at the place of the question.

use std::collections::BTreeMap;
use std::sync::Mutex;

use countersign_core::spec::{Diagnostic, Source};
use serde_json::json;

use super::entry::Entry;
use super::file::{self, Entries};
use crate::{Answer, Ask, BoxFuture, Exchange, Fault, Model, ModelError, Sent};

/// A model that says what a file says.
///
/// Which entry a question gets is decided by `Ask::position`, so that a process that starts again
/// goes on where the run was. Without a position the script counts its own calls.
#[derive(Debug)]
pub struct Script {
    name: String,
    entries: Entries,
    /// Calls so far by label; under the empty one where there is a single list.
    counted: Mutex<BTreeMap<String, usize>>,
}

impl Script {
    /// Reads a script.
    pub fn parse(source: Source) -> Result<Self, Vec<Diagnostic>> {
        let name = format!("script:{}", source.name);
        Ok(Self { name, entries: file::parse(source)?, counted: Mutex::default() })
    }

    /// How many entries it has in all.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Run(entries) => entries.len(),
            Entries::ByLabel(lists) => lists.values().map(Vec::len).sum(),
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entry(&self, ask: &Ask) -> Result<&Entry, Fault> {
        let label = ask.label.as_deref().unwrap_or_default();
        let (entries, label, given) = match &self.entries {
            Entries::Run(entries) => {
                (entries.as_slice(), None, ask.position.map(|place| place.in_run))
            }
            Entries::ByLabel(lists) => {
                let list = lists.get(label).map(Vec::as_slice).unwrap_or_default();
                (list, Some(label), ask.position.map(|place| place.under_label))
            }
        };
        let asked = given.unwrap_or_else(|| self.count(label.unwrap_or_default()));
        let entry = entries.get(asked).ok_or_else(|| Fault::ScriptEnded {
            entries: entries.len(),
            label: label.map(str::to_owned),
            asked,
        })?;
        let contract = ask.contract.as_ref().map(|contract| contract.id.as_str());
        match &entry.when {
            Some(when) if ask.label.as_ref() != Some(when) && contract != Some(when) => {
                let names: Vec<String> =
                    ask.label.as_deref().into_iter().chain(contract).map(quoted).collect();
                let found = if names.is_empty() {
                    "nobody by name".to_owned()
                } else {
                    names.join(" with ")
                };
                Err(Fault::ScriptAstray { entry: asked + 1, expected: when.clone(), found })
            }
            _ => Ok(entry),
        }
    }

    fn count(&self, label: &str) -> usize {
        let mut counted = self.counted.lock().expect("nobody panics while counting");
        let count = counted.entry(label.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    async fn replay(
        &self,
        ask: &Ask,
        live: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, ModelError> {
        let error = |fault, exchange| ModelError { model: self.name.clone(), fault, exchange };
        let entry = self.entry(ask).map_err(|fault| error(fault, None))?;
        if !entry.delay.is_zero() {
            tokio::time::sleep(entry.delay).await;
        }
        let request = request(ask);
        match &entry.outcome {
            Err(fault) => {
                let exchange = Exchange { request, response: Vec::new() };
                Err(error(fault.clone(), Some(Box::new(exchange))))
            }
            Ok(reply) => {
                live(&reply.text);
                Ok(Answer {
                    text: reply.text.clone(),
                    finish: reply.finish,
                    reason: "script".to_owned(),
                    usage: reply.usage,
                    model: self.name.clone(),
                    exchange: Exchange { request, response: reply.text.clone().into_bytes() },
                    sent: Sent::Nothing,
                    drop_nulls: false,
                })
            }
        }
    }
}

impl Model for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        live: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(self.replay(ask, live))
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// What a provider would have been asked: nothing is sent, and a log should still show the prompt.
fn request(ask: &Ask) -> Vec<u8> {
    let turns = ask.turns.iter().map(|turn| json!({"role": turn.role.as_str(), "text": turn.text}));
    let contract =
        ask.contract.as_ref().map(|contract| format!("{}@{}", contract.id, contract.version));
    let asked = json!({
        "system": ask.system,
        "turns": turns.collect::<Vec<_>>(),
        "contract": contract,
        "label": ask.label,
    });
    asked.to_string().into_bytes()
}
