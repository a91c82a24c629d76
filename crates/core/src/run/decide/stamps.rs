//! The engine's own places in the document, brought up to date at the end of every decision.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Step;
use super::bounds::Oversize;
use super::deciding::Deciding;
use super::effects::first;
use super::phases::faults;
use crate::reply::Context;
use crate::run::event::Event;
use crate::run::state::EndKind;

impl Deciding<'_> {
    /// Ends the decision, with the files that it asked for; or tells what cannot be recorded of it.
    pub(super) fn finish(self) -> Result<(Step, BTreeSet<String>), Oversize> {
        let unseen = self.unseen.take();
        if let Some(over) = self.over {
            return Err(over);
        }
        let (step, over) = self.stamped();
        over.map_or(Ok((step, unseen)), Err)
    }

    /// Ends the run, because nothing else that follows from the input can be recorded.
    pub(super) fn fail_oversize(mut self, over: &Oversize) -> Step {
        if self.state.end.is_none() {
            self.end(EndKind::Failed, Some(format!("what follows cannot be recorded: {over}")));
        }
        Step { events: self.events, state: self.state }
    }

    /// Stamps the document and ends the decision. A document that the engine's own values would
    /// break is a fault of the protocol: the run fails rather than go on with it.
    fn stamped(mut self) -> (Step, Option<Oversize>) {
        if let Err(what) = self.stamp() {
            // A run that had reached its end did so with a document it must not have.
            if !matches!(self.state.end, Some((EndKind::Failed | EndKind::Cancelled, _))) {
                self.end(EndKind::Failed, Some(what));
            }
            self.stamp_what_fits();
        }
        (Step { events: self.events, state: self.state }, self.over)
    }

    /// Stamps what a phase that was entered changes, so that its gates, questions and effects read it.
    /// What follows from the whole decision waits for its end.
    pub(super) fn stamp_phase(&mut self) {
        const OF_THE_END: [&str; 3] = ["status", "version", "updated_at"];
        if self.spec().engine.is_empty() {
            return;
        }
        let run = self.run();
        let mut places = self.places(&run);
        places.retain(|(at, _)| {
            let place = self.spec().engine.iter().find(|place| place.at == *at);
            place.is_some_and(|place| !OF_THE_END.contains(&place.name.as_str()))
        });
        if !places.is_empty() {
            // A first document may need all of them. What cannot be written now is told at the end.
            let _ = self.put(places, &run).or_else(|_| self.stamp());
        }
    }

    /// Stamps, unless that would break the document's contract.
    fn stamp(&mut self) -> Result<(), String> {
        if self.spec().engine.is_empty() {
            return Ok(());
        }
        let run = self.run();
        let places = self.places(&run);
        if places.is_empty() { Ok(()) } else { self.put(places, &run) }
    }

    fn put(&mut self, places: Vec<(String, Value)>, run: &Value) -> Result<(), String> {
        self.emit(Event::Stamped { places });
        let Some(contract) = &self.spec().contract else { return Ok(()) };
        let document = &*self.state.document;
        let context = Context { state: Some(document), run: Some(run), new: Some(document) };
        let violations = faults(contract, document, &context);
        if violations.is_empty() {
            return Ok(());
        }
        self.unsay();
        Err(format!(
            "the engine's places in the document break its contract `{}`: {}",
            contract.id,
            first(&violations)
        ))
    }

    /// Stamps the places that keep the document whole; the others keep what they said before.
    fn stamp_what_fits(&mut self) {
        if self.stamp().is_ok() {
            return;
        }
        let run = self.run();
        for place in self.places(&run) {
            let _ = self.put(vec![place], &run);
        }
    }

    fn places(&self, run: &Value) -> Vec<(String, Value)> {
        let document = &*self.state.document;
        let roots = [Some(document), Some(run)];
        let mut places: Vec<(String, Value)> = Vec::new();
        for place in &self.spec().engine {
            // A place whose expression cannot be decided keeps its value.
            let Ok(value) = place.value.eval(&roots) else { continue };
            let Some(value) = value.to_json() else { continue };
            if document.pointer(&place.at) != Some(&value) {
                places.push((place.at.clone(), value));
            }
        }
        places
    }
}
