//! `countersign channel list|test`: shows the channels that people are told through, and tries one.

use std::path::Path;

use countersign_protocol::ChannelEvent;
use countersign_run::{DeliveredWait, RunDelivery, WaitKind};
use countersign_runtime::channel::{
    ChannelDefinition, DeliveryContext, DeliveryFailure, compute_message_id,
};
use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_runtime::engine::generate_run_name;
use countersign_runtime::folder::EngineHome;
use serde_json::{Value, json};

use crate::args::{ChannelArgs, ChannelCommand};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};
use crate::settings::CliSettings;
use crate::table::render_table;

pub(super) fn run(args: &ChannelArgs, json: bool) -> Result<CliExit, CliError> {
    let here = Path::new(".");
    let home = EngineHome::find(here)?;
    let folder = home.as_ref().map_or(here, EngineHome::workspace);
    let settings = CliSettings::load(folder, &args.store_args, None)?;
    match &args.command {
        ChannelCommand::List => {
            list_channels(&settings, json);
            Ok(CliExit::Success)
        }
        ChannelCommand::Test { name } => block_on(test_channel(&settings, name, json)),
    }
}

/// The events that a channel hears of every run, for people.
pub(super) fn describe_events(channel: &ChannelDefinition) -> String {
    match &channel.subscription {
        None => "only what protocols say".to_owned(),
        Some(one) => one.on.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn list_channels(settings: &CliSettings, json: bool) {
    let (set, trusted) = (settings.build_channel_set(), settings.is_file_trusted());
    let channels: Vec<&ChannelDefinition> = set.list_channels().collect();
    if json {
        let listed = channels.iter().map(|one| {
            json!({
                "name": one.name,
                "kind": one.kind.as_str(),
                "on": one.subscription.as_ref().map_or_else(Vec::new, |it| it.on.iter().collect()),
                "tenants": one.tenants,
                "description": one.describe(),
                "trusted": trusted,
            })
        });
        output::print_json(&listed.collect::<Value>());
        return;
    }
    if channels.is_empty() {
        output::print_message(
            "there are no channels; define one as `[channels.NAME]` in countersign.toml",
        );
        return;
    }
    let rows: Vec<[String; 4]> = channels
        .iter()
        .map(|one| {
            let name = format!("{HEADING}{}{HEADING:#}", one.name);
            let target = one.describe();
            let target =
                target.split_once(" to ").map_or_else(String::new, |(_, to)| to.to_owned());
            [name, one.kind.as_str().to_owned(), describe_events(one), target]
        })
        .collect();
    output::print_data(&render_table(["CHANNEL", "KIND", "ON", "TO"], &rows));
    if !trusted {
        output::print_message(
            "nothing is delivered, because you have not trusted countersign.toml; review it with `countersign trust`",
        );
    }
}

async fn test_channel(settings: &CliSettings, name: &str, json: bool) -> Result<CliExit, CliError> {
    let set = settings.build_channel_set();
    let Some(channel) = set.find_channel(name) else {
        let known = set.list_channels().map(|one| one.name.as_str()).collect::<Vec<_>>();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(CliError::Usage(format!("no channel `{name}` is defined; defined: {known}")));
    };
    let (run, now) = (format!("test-{}", generate_run_name()), SystemClock.now());
    let tenant = channel.tenants.first().map_or("default", String::as_str);
    let delivery = RunDelivery {
        id: "1.1".to_owned(),
        channel: name.to_owned(),
        event: ChannelEvent::WaitOpened,
        time: now,
        protocol: "test".to_owned(),
        workflow: "test".to_owned(),
        phase: "test".to_owned(),
        title: String::new(),
        wait: Some(DeliveredWait {
            id: "w1".to_owned(),
            kind: WaitKind::Question,
            phase: "test".to_owned(),
            question: "This is a test of the channel. Nobody waits for an answer.".to_owned(),
            who: Vec::new(),
            deadline: None,
            subject: None,
            parts: Vec::new(),
            supersedes: Vec::new(),
            resolution: None,
        }),
        end: None,
        reason: None,
    };
    let context = DeliveryContext { tenant, run: &run, public_url: None, now };
    let id = compute_message_id(tenant, &run, &delivery.id);
    let result = set.deliver(&delivery, context).await;
    let accepted = result.is_ok();
    let (answer, failure) = match &result {
        Ok(receipt) => (receipt.answer.clone(), None),
        Err(error) => (error.message.clone(), Some(error.failure)),
    };
    if json {
        let failure = failure.map(DeliveryFailure::as_str);
        output::print_json(&json!({
            "channel": name, "id": id, "accepted": accepted, "answer": answer, "failure": failure,
        }));
    } else if accepted {
        output::print_message(&format!("{GOOD}accepted{GOOD:#}: {answer} ({id})"));
    } else {
        output::print_message(&format!("{BAD}not accepted{BAD:#}: {answer}"));
    }
    Ok(match failure {
        None => CliExit::Success,
        Some(DeliveryFailure::Refused | DeliveryFailure::Gone) => CliExit::Refused,
        Some(DeliveryFailure::Unavailable | DeliveryFailure::TimedOut) => CliExit::SystemError,
        Some(_) => CliExit::InvalidInput,
    })
}
