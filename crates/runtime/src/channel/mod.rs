//! Channels: deliver what runs tell people, as signed webhooks, chat messages and mail.
//!
//! The settings of the place where runs work define what a channel is. The log of a run has only
//! its name: no address and no secret ever reaches a run, an event or an error.

mod channel_definition;
mod channel_secret;
mod channel_set;
mod chat_payload;
mod delivery_error;
mod delivery_retry;
mod delivery_text;
mod email;
mod http_post;
mod webhook;

pub use channel_definition::{
    ChannelDefinition, ChannelKind, EmailSettings, MAX_TIMEOUT_SECS, SmtpEncryption,
};
pub use channel_secret::SecretSource;
pub use channel_set::{ChannelSet, DeliveryContext};
pub use delivery_error::{DeliveryError, DeliveryFailure, DeliveryReceipt};
pub use delivery_retry::{DeliveryRetryPolicy, MAX_DELIVERY_ATTEMPTS};
pub use webhook::{compute_message_id, parse_webhook_secret};
