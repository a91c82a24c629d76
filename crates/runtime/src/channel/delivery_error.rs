//! The result of one attempt to deliver.

use std::time::Duration;

use thiserror::Error;

/// The receiver accepted a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryReceipt {
    /// What the receiver answered, in a few words: `status 204`.
    pub answer: String,
}

/// Why an attempt to deliver failed. The message has no address beyond the server, and no secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DeliveryError {
    /// The kind of failure.
    pub failure: DeliveryFailure,
    /// What happened, in a sentence.
    pub message: String,
    /// How long the receiver asks to wait; absent if it does not say.
    pub retry_after: Option<Duration>,
}

/// The kinds of failure of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryFailure {
    /// No channel of that name is defined here, or this tenant may not use it.
    UnknownChannel,
    /// The settings file that defines the channel is not trusted.
    NotTrusted,
    /// A secret is missing, or the settings of the channel cannot be used.
    Misconfigured,
    /// The receiver cannot be reached, or the connection broke.
    Unavailable,
    /// The attempt took too long.
    TimedOut,
    /// The receiver answered and did not accept the delivery.
    Refused,
    /// The receiver said that it is gone for good.
    Gone,
}

impl DeliveryFailure {
    /// The name in events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownChannel => "unknown_channel",
            Self::NotTrusted => "not_trusted",
            Self::Misconfigured => "misconfigured",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Refused => "refused",
            Self::Gone => "gone",
        }
    }

    /// Whether another attempt may succeed.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        !matches!(self, Self::UnknownChannel | Self::Gone)
    }
}

impl DeliveryError {
    /// Creates an error without a pause that the receiver asks for.
    pub(super) fn new(failure: DeliveryFailure, message: impl Into<String>) -> Self {
        Self { failure, message: message.into(), retry_after: None }
    }
}
