//! Chaos: real workers on one store are killed, stopped and woken at random while runs of the shipped protocols go
//! through their hands; then a checker that knows nothing but the tables reads what is left.
//!
//! Nothing of the product is used here but its program, and the fold of `countersign-core`.

mod settings;
mod site;
mod crew;
mod people;
mod trouble;
mod ledger;
mod check;
mod trial;

pub(crate) use settings::Settings;
pub(crate) use trial::run;
