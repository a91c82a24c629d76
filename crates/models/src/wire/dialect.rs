//! What differs between providers. The transport is the same for all.

use reqwest::header::HeaderMap;

use super::{ResponseAccumulator, StreamFraming};
use crate::{ModelErrorKind, ModelRequest, OutputConstraint, ProviderKey};

/// The wire format of a provider.
pub(crate) trait ProviderDialect: Send + Sync {
    /// How the response stream is divided into chunks.
    fn framing(&self) -> StreamFraming;

    /// Path of the endpoint for a model, relative to the provider's address.
    fn request_path(&self, model: &str) -> String;

    /// Headers of a request, including the key.
    fn request_headers(&self, key: Option<&ProviderKey>) -> HeaderMap;

    /// Builds the body of a request.
    fn build_request(&self, model: &str, ask: &ModelRequest) -> PreparedRequest;

    /// Whether a response may end after its finish reason without an end marker, which other
    /// formats send.
    fn ends_without_marker(&self) -> bool {
        false
    }

    /// Applies one chunk of a response.
    fn apply_chunk(
        &self,
        piece: &str,
        heard: &mut ResponseAccumulator<'_>,
    ) -> Result<(), ModelErrorKind>;
}

/// A request that is ready to be sent.
pub(crate) struct PreparedRequest {
    /// The exact bytes of the body.
    pub(crate) body: Vec<u8>,
    /// What the body says about the contract.
    pub(crate) constraint: OutputConstraint,
    /// Whether nulls in the reply may then mean absent fields.
    pub(crate) drop_nulls: bool,
}
