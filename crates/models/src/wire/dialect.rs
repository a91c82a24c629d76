//! What differs between providers. Not how bytes travel.

use reqwest::header::HeaderMap;

use super::{ResponseAccumulator, StreamFraming};
use crate::{ModelErrorKind, ModelRequest, OutputConstraint, ProviderKey};

/// A provider's language.
pub(crate) trait ProviderDialect: Send + Sync {
    /// How its answers are cut into pieces.
    fn framing(&self) -> StreamFraming;

    /// Where the model is asked, below the provider's address.
    fn request_path(&self, model: &str) -> String;

    /// What goes beside the body, with the key in its place.
    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap;

    /// The bytes of a question.
    fn build_request(&self, model: &str, ask: &ModelRequest) -> PreparedRequest;

    /// Whether an answer may simply end, its reason given, where others end with a mark.
    fn ends_without_marker(&self) -> bool {
        false
    }

    /// Takes in one piece of an answer.
    fn apply_chunk(
        &self,
        piece: &str,
        heard: &mut ResponseAccumulator<'_>,
    ) -> Result<(), ModelErrorKind>;
}

/// A question ready to be sent.
pub(crate) struct PreparedRequest {
    /// The exact bytes.
    pub(crate) body: Vec<u8>,
    /// What they tell of the contract.
    pub(crate) constraint: OutputConstraint,
    /// Whether nulls in the reply may then mean absence.
    pub(crate) drop_nulls: bool,
}
