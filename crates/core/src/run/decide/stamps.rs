//! The engine's own places in the document, brought up to date at the end of every decision.

use serde_json::Value;

use super::Step;
use super::deciding::Deciding;
use super::effects::first;
use super::phases::faults;
use crate::reply::Context;
use crate::run::event::Event;
use crate::run::state::EndKind;

impl Deciding<'_> {
    /// Stamps the document and ends the decision. A document that the engine's own values would
    /// break is a fault of the protocol: the run fails rather than go on with it.
    pub(super) fn stamped(mut self) -> Step {
        self.stamp();
        if let Some(contract) = &self.protocol.document.contract {
            let run = self.run();
            let document = &*self.state.document;
            let context = Context { state: Some(document), run: Some(&run), new: Some(document) };
            let violations = faults(contract, document, &context);
            if !violations.is_empty() && self.state.end.is_none() {
                let what = format!(
                    "the engine's places in the document break its contract `{}`: {}",
                    contract.id,
                    first(&violations)
                );
                self.end(EndKind::Failed, Some(what));
                self.stamp();
            }
        }
        Step { events: self.events, state: self.state }
    }

    fn stamp(&mut self) {
        let run = self.run();
        let document = &*self.state.document;
        let roots = [Some(document), Some(&run)];
        let mut places: Vec<(String, Value)> = Vec::new();
        for place in &self.protocol.document.engine {
            // A place whose expression cannot be decided keeps its value.
            let Ok(value) = place.value.eval(&roots) else { continue };
            let Some(value) = value.to_json() else { continue };
            if document.pointer(&place.at) != Some(&value) {
                places.push((place.at.clone(), value));
            }
        }
        if !places.is_empty() {
            self.emit(Event::Stamped { places });
        }
    }
}
