//! Channels: which events of a run people are told about, and where.
//!
//! A protocol names channels and events; what a channel is (an address, a secret) is configuration
//! of the place where runs work, and never part of a protocol or a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Maximum number of channels that one run is subscribed to.
pub const MAX_CHANNELS: usize = 20;

/// An event of a run that a channel can be subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelEvent {
    /// A wait was opened.
    WaitOpened,
    /// The subject of an approval changed, and a new wait asks again.
    WaitSuperseded,
    /// The deadline of an open wait is near.
    DeadlineNear,
    /// A wait was closed: answered, decided, expired or dropped.
    WaitClosed,
    /// The run cannot continue until a person helps.
    RunBlocked,
    /// The run completed, failed or was cancelled.
    RunEnded,
}

impl ChannelEvent {
    /// Every event, in the order in which one decision delivers them.
    pub const ALL: [Self; 6] = [
        Self::WaitClosed,
        Self::WaitSuperseded,
        Self::WaitOpened,
        Self::DeadlineNear,
        Self::RunBlocked,
        Self::RunEnded,
    ];

    /// The name in protocol files, settings and payloads.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitOpened => "wait_opened",
            Self::WaitSuperseded => "wait_superseded",
            Self::DeadlineNear => "deadline_near",
            Self::WaitClosed => "wait_closed",
            Self::RunBlocked => "run_blocked",
            Self::RunEnded => "run_ended",
        }
    }

    /// Parses the name of an event; `None` if there is no such event.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }
}

/// What one channel is told about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelSubscription {
    /// Name of the channel, as settings define it.
    pub channel: String,
    /// The events that are delivered.
    pub on: BTreeSet<ChannelEvent>,
    /// How long before a deadline `deadline_near` is delivered, in milliseconds. Absent: a tenth of
    /// the time between opening and deadline, at least one minute and at most one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind_before: Option<i64>,
    /// Whether deliveries contain the parts of the document that an approval signs, beside their
    /// digest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subject: bool,
}

/// Merges subscriptions: one per channel, in the order of their names, with the events of all.
/// `remind_before` is the first that is set; the subject is delivered if one of them wants it. Of
/// more than [`MAX_CHANNELS`], the first ones by name remain.
#[must_use]
pub fn merge_subscriptions<'s>(
    subscriptions: impl IntoIterator<Item = &'s ChannelSubscription>,
) -> Vec<ChannelSubscription> {
    let mut merged: BTreeMap<&str, ChannelSubscription> = BTreeMap::new();
    for one in subscriptions {
        match merged.get_mut(one.channel.as_str()) {
            None => {
                merged.insert(&one.channel, one.clone());
            }
            Some(same) => {
                same.on.extend(&one.on);
                same.remind_before = same.remind_before.or(one.remind_before);
                same.subject |= one.subject;
            }
        }
    }
    merged.into_values().take(MAX_CHANNELS).collect()
}

/// Whether a text is a valid name of a channel: a lower-case letter, then up to 62 lower-case
/// letters, digits, `-` or `_`.
#[must_use]
pub fn is_channel_name(name: &str) -> bool {
    let inner = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit();
    name.len() <= 63
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|sign| inner(sign) || matches!(sign, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscription(channel: &str, on: &[ChannelEvent]) -> ChannelSubscription {
        let (channel, on) = (channel.to_owned(), on.iter().copied().collect());
        ChannelSubscription { channel, on, remind_before: None, subject: false }
    }

    #[test]
    fn a_channel_is_subscribed_once_with_the_events_of_all() {
        let ops = subscription("ops", &[ChannelEvent::RunEnded]);
        let finance = subscription("finance", &[ChannelEvent::WaitOpened]);
        let more = ChannelSubscription {
            remind_before: Some(5),
            subject: true,
            ..subscription("ops", &[ChannelEvent::RunBlocked])
        };
        let merged = merge_subscriptions([&ops, &finance, &more]);
        let both = ChannelSubscription {
            remind_before: Some(5),
            subject: true,
            ..subscription("ops", &[ChannelEvent::RunEnded, ChannelEvent::RunBlocked])
        };
        assert_eq!(merged, [finance, both]);
        let many: Vec<_> = (0..30).map(|n| subscription(&format!("c{n:02}"), &[])).collect();
        assert_eq!(merge_subscriptions(&many).len(), MAX_CHANNELS);
    }

    #[test]
    fn names_are_plain() {
        for name in ["a", "finance", "team-2_x"] {
            assert!(is_channel_name(name), "{name}");
        }
        for name in ["", "2a", "A", "a b", "a.b", "ä", "-a", &"x".repeat(64)] {
            assert!(!is_channel_name(name), "{name}");
        }
        for event in ChannelEvent::ALL {
            assert_eq!(ChannelEvent::parse(event.as_str()), Some(event));
        }
    }
}
