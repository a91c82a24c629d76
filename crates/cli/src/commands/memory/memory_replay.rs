//! `countersign memory replay BUILD`: rebuilds the same bytes or, with another policy, shows the
//! differences.

use countersign_memory::render::render_packet;
use countersign_memory::store::{PacketBuild, compute_packet_digest};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_view::wire::BuildReplay;
use serde_json::json;

use super::line_diff::diff_lines;
use super::{open_memory, policy_and_build};
use crate::args::{MemoryReplayArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::{BAD, GOOD, HEADING};

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryReplayArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let scope = open_memory::resolve_scope(whose)?;
    let policy = args.policy.as_deref().map(policy_and_build::load_policy).transpose()?;
    let memory = open_memory::open_existing(whose)?;
    block_on(async {
        let (build, found) = policy_and_build::load_build(&*memory, &scope, &args.build).await?;
        let again = build.recompose(&found)?;
        let same = compute_packet_digest(&again) == build.digest;
        if !same {
            report_different(&build, &again, json);
            return Ok(CliExit::Refused);
        }
        match policy {
            None => report_same(&build, &again, json),
            Some(policy) => {
                let other = build.recompose_with_policy(&policy, &found)?;
                let named = format!("{} {}", policy.id, policy.version);
                report_comparison(&build, &again, &other, &named, json)?;
            }
        }
        Ok(CliExit::Success)
    })
}

fn report_same(build: &PacketBuild, packet: &MemoryPacket, json: bool) {
    let bytes = serde_json::to_string(packet).map_or(0, |text| text.len());
    if json {
        output::print_json(&json!(BuildReplay::new_identical(build, bytes)));
    } else {
        output::print_message(&format!(
            "{GOOD}identical{GOOD:#}: composing build {} again gives the same {bytes} bytes, {}",
            build.id, build.digest
        ));
    }
}

fn report_different(build: &PacketBuild, again: &MemoryPacket, json: bool) {
    let now = compute_packet_digest(again);
    if json {
        output::print_json(&json!(BuildReplay::new_changed(build, now)));
    } else {
        output::print_message(&format!(
            "{BAD}different{BAD:#}: build {} was {} and is now {now}",
            build.id, build.digest
        ));
    }
}

fn report_comparison(
    build: &PacketBuild,
    before: &MemoryPacket,
    after: &MemoryPacket,
    named: &str,
    json: bool,
) -> Result<(), CliError> {
    let (was, is) =
        (render_packet(before, before.meta.purpose)?, render_packet(after, after.meta.purpose)?);
    if json {
        output::print_json(&json!(BuildReplay::new_under_policy(build, before, after, named)?));
        return Ok(());
    }
    let tokens = |packet: &MemoryPacket| {
        let report = &packet.budget_report;
        format!("{} of {} tokens", report.used_tokens_est, report.max_tokens)
    };
    output::print_message(&format!(
        "build {HEADING}{}{HEADING:#} under {named}: {} before, {} now",
        build.id,
        tokens(before),
        tokens(after)
    ));
    if was == is {
        output::print_message("The text is identical.");
    } else {
        output::print_data(&diff_lines(&was, &is));
    }
    Ok(())
}
