//! `countersign memory replay BUILD`: the same bytes again; or, under another policy, what becomes different.

use countersign_contracts::memory::MemoryPacket;
use countersign_memory::render::render;
use countersign_memory::store::{Build, packet_digest};
use countersign_server::wire::Replayed;
use serde_json::json;

use super::difference::difference;
use super::{desk, packets};
use crate::args::{ReplayBuild, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::{BAD, GOOD, HEADING};

pub(super) fn run(whose: &Whose, args: &ReplayBuild, json: bool) -> Result<Exit, Error> {
    let scope = desk::scope(whose)?;
    let policy = args.policy.as_deref().map(packets::policy).transpose()?;
    let memory = desk::look(whose)?;
    wait(async {
        let (build, found) = packets::build(&*memory, &scope, &args.build).await?;
        let again = build.again(&found)?;
        let same = packet_digest(&again) == build.digest;
        if !same {
            not_the_same(&build, &again, json);
            return Ok(Exit::Refused);
        }
        match policy {
            None => proved(&build, &again, json),
            Some(policy) => {
                let other = build.under(&policy, &found)?;
                let named = format!("{} {}", policy.id, policy.version);
                compared(&build, &again, &other, &named, json)?;
            }
        }
        Ok(Exit::Good)
    })
}

fn proved(build: &Build, packet: &MemoryPacket, json: bool) {
    let bytes = serde_json::to_string(packet).map_or(0, |text| text.len());
    if json {
        output::json(&json!(Replayed::same(build, bytes)));
    } else {
        output::talk(&format!(
            "{GOOD}the same{GOOD:#}: build {} is composed again to the same {bytes} bytes, {}",
            build.id, build.digest
        ));
    }
}

fn not_the_same(build: &Build, again: &MemoryPacket, json: bool) {
    let now = packet_digest(again);
    if json {
        output::json(&json!(Replayed::other(build, now)));
    } else {
        output::talk(&format!(
            "{BAD}not the same{BAD:#}: build {} was {}, and is {now} now",
            build.id, build.digest
        ));
    }
}

fn compared(
    build: &Build,
    before: &MemoryPacket,
    after: &MemoryPacket,
    named: &str,
    json: bool,
) -> Result<(), Error> {
    let (was, is) = (render(before, before.meta.purpose)?, render(after, after.meta.purpose)?);
    if json {
        output::json(&json!(Replayed::under(build, before, after, named)?));
        return Ok(());
    }
    let tokens = |packet: &MemoryPacket| {
        let report = &packet.budget_report;
        format!("{} of {} tokens", report.used_tokens_est, report.max_tokens)
    };
    output::talk(&format!(
        "build {HEADING}{}{HEADING:#} under {named}: {} before, {} now",
        build.id,
        tokens(before),
        tokens(after)
    ));
    if was == is {
        output::talk("The text is the same, letter for letter.");
    } else {
        output::data(&difference(&was, &is));
    }
    Ok(())
}
