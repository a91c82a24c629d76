//! Reads which channels a protocol subscribes to, and to which events.

use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_duration::read_duration;
use crate::{ChannelEvent, ChannelSubscription};

/// Reads `channels` of the index.
pub(super) fn read_channels(
    index: Option<&ProtocolFile>,
    faults: &LoadDiagnostics,
) -> Vec<ChannelSubscription> {
    let Some(channels) = index.and_then(|index| index.valid_member("channels")) else {
        return Vec::new();
    };
    let subscription = |(name, member): (&str, super::file_node::FileNode<'_>)| {
        let on = member.strings_at("on");
        let before = member.get("remind_before");
        ChannelSubscription {
            channel: name.to_owned(),
            on: on.iter().filter_map(|event| ChannelEvent::parse(event)).collect(),
            remind_before: before.and_then(|it| Some(read_duration(&it, faults)?.millis)),
            subject: member.get("subject").and_then(|it| it.value.as_bool()).unwrap_or(false),
        }
    };
    channels.entries().into_iter().map(subscription).collect()
}
