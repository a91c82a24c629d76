//! `countersign diff RUN BEFORE [AFTER]`: what changed in the document.

use std::fmt::Write as _;

use countersign_core::patch::{Op, Patch};
use serde_json::{Value, json};

use crate::args::Diff;
use crate::exit::{Error, Exit};
use crate::house::{House, wait};
use crate::output;
use crate::show::{BAD, GOOD, HEADING};
use countersign_server::show::shortened;

pub(super) fn run(args: &Diff, json: bool) -> Result<Exit, Error> {
    wait(async {
        let house = House::look(&args.site)?;
        let run = house.run(Some(&args.run)).await?;
        let before = document(&house, &run, Some(&args.before)).await?;
        let after = document(&house, &run, args.after.as_deref()).await?;
        let patch = Patch::between(&before.document, &after.document);
        if json {
            output::json(&json!(patch));
        } else if patch.ops.is_empty() {
            output::talk(&format!("{} and {} are the same.", before.told, after.told));
        } else {
            output::talk(&format!("from {} to {}:", before.told, after.told));
            output::data(&lines(before.document, &patch));
        }
        Ok(Exit::Good)
    })
}

/// One side of a comparison.
struct Side {
    document: Value,
    told: String,
}

/// The document at `VERSION` of the run, or at `OTHER@VERSION`, or now.
async fn document(house: &House, run: &str, named: Option<&str>) -> Result<Side, Error> {
    let (other, version) = match named.map(|named| named.rsplit_once('@').unwrap_or(("", named))) {
        Some((other, version)) => (other, Some(version)),
        None => ("", None),
    };
    let run = if other.is_empty() { run.to_owned() } else { house.run(Some(other)).await? };
    let version = version
        .map(|version| {
            let expected = "expected a version, such as `3`, or `OTHER@3`";
            version.parse::<u64>().map_err(|_| Error::Usage(format!("`{version}`: {expected}")))
        })
        .transpose()?;
    let state = house.engine.at(&run, version).await?.state;
    let told = format!("{run}@{}", state.version);
    Ok(Side { document: (*state.document).clone(), told })
}

/// A line a change: `+` what came, `-` what went, `~` what was and what is.
pub(super) fn lines(mut document: Value, patch: &Patch) -> String {
    const SHOWN: usize = 100;
    let brief = |value: &Value| shortened(&value.to_string(), SHOWN);
    let mut text = String::new();
    for op in &patch.ops {
        let was = document.pointer(op.path().as_str()).map(&brief).unwrap_or_default();
        let place = if op.path().as_str().is_empty() { "/" } else { op.path().as_str() };
        let _ = match op {
            Op::Add { value, .. } => writeln!(text, "{GOOD}+{GOOD:#} {place} {}", brief(value)),
            Op::Remove { .. } => writeln!(text, "{BAD}-{BAD:#} {place} {was}"),
            Op::Replace { value, .. } => {
                writeln!(text, "{HEADING}~{HEADING:#} {place} {was} → {}", brief(value))
            }
            Op::Move { .. } | Op::Copy { .. } | Op::Test { .. } => Ok(()),
        };
        // Later places are those of the document as it is then.
        Patch::from_ops(vec![op.clone()]).apply(&mut document).expect("it was made for this");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_a_line() {
        let before = json!({"status": "a", "tasks": [{"id": 1}, {"id": 2}], "old": true});
        let after = json!({"status": "b", "tasks": [{"id": 1}], "new": {"x": null}});
        let patch = Patch::between(&before, &after);
        assert_eq!(
            crate::style::plain(&lines(before, &patch)),
            "- /old true\n~ /status \"a\" → \"b\"\n- /tasks/1 {\"id\":2}\n+ /new {\"x\":null}\n"
        );
    }
}
