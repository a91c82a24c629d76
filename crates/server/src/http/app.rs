//! What every request finds: the house, its keys, the names it is called by.

use std::sync::Arc;

use super::metrics::Metrics;
use super::rates::Rates;
use super::traced::Traces;
use crate::access::{Hosts, Keyring};
use crate::house::House;
use crate::live::Inboxes;
use crate::stop::Stopping;

/// What every request finds.
#[derive(Clone)]
pub struct App {
    /// The house.
    pub house: Arc<House>,
    /// Its keys.
    pub keyring: Arc<Keyring>,
    /// The names it is called by.
    pub hosts: Hosts,
    /// The inboxes that somebody follows.
    pub inboxes: Arc<Inboxes>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Where spans and times go.
    pub traces: Arc<Traces>,
    /// How fast each key may ask.
    pub rates: Arc<Rates>,
    /// Hears that the server is to end.
    pub stopping: Stopping,
}
