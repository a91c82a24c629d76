//! What differs between providers. Not how bytes travel.

use reqwest::header::HeaderMap;

use super::{Framing, Heard};
use crate::{Ask, Fault, Key, Sent};

/// A provider's language.
pub(crate) trait Dialect: Send + Sync {
    /// How its answers are cut into pieces.
    fn framing(&self) -> Framing;

    /// Where the model is asked, below the provider's address.
    fn path(&self, model: &str) -> String;

    /// What goes beside the body, with the key in its place.
    fn headers(&self, key: Option<&Key>) -> HeaderMap;

    /// The bytes of a question.
    fn prepare(&self, model: &str, ask: &Ask) -> Prepared;

    /// Whether an answer may simply end, its reason given, where others end with a mark.
    fn ends_without_mark(&self) -> bool {
        false
    }

    /// Takes in one piece of an answer.
    fn hear(&self, piece: &str, heard: &mut Heard<'_>) -> Result<(), Fault>;
}

/// A question ready to be sent.
pub(crate) struct Prepared {
    /// The exact bytes.
    pub(crate) body: Vec<u8>,
    /// What they tell of the contract.
    pub(crate) sent: Sent,
    /// Whether nulls in the reply may then mean absence.
    pub(crate) drop_nulls: bool,
}
