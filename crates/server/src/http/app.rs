//! What every request finds: the house, its keys, the names it is called by.

use std::sync::Arc;
use std::time::Duration;

use super::answers::KeptAnswers;
use super::metrics::Metrics;
use super::quota::Quotas;
use super::rates::Rates;
use super::traced::Traces;
use crate::access::{Hosts, Keyring, LocalToken};
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
    /// What whoever comes without a key must show; `None` where nobody must, or everybody needs a key.
    pub token: Option<Arc<LocalToken>>,
    /// The inboxes that somebody follows.
    pub inboxes: Arc<Inboxes>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Where spans and times go.
    pub traces: Arc<Traces>,
    /// How fast each key may ask.
    pub rates: Arc<Rates>,
    /// How much is held at once.
    pub quotas: Arc<Quotas>,
    /// How long a client may send nothing in the middle of a body.
    pub body_pause: Duration,
    /// Answers that are given again.
    pub answers: Arc<KeptAnswers>,
    /// Hears that the server is to end.
    pub stopping: Stopping,
}
