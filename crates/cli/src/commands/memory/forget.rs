//! `countersign memory forget`: says what will go, asks, and erases it. Whom is said by flags alone.

use countersign_memory::Subject;
use countersign_memory::store::{Erased, Whom};
use countersign_server::wire::Forgotten;
use countersign_store::TenantId;
use serde_json::json;

use super::desk;
use crate::args::{Forget, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::show::{BAD, GOOD, HEADING};
use crate::table::table;
use crate::{output, terminal};

pub(super) fn run(whose: &Whose, args: &Forget, json: bool) -> Result<Exit, Error> {
    let (whom, told) = whom(whose)?;
    let now = desk::now(whose)?;
    let Some(memory) = desk::find(whose)? else {
        nothing(&told, json);
        return Ok(Exit::Good);
    };
    wait(async {
        let going = memory.would_forget(whom.clone()).await?;
        if going.rows.is_empty() {
            // The file is written anew all the same: a crash may have left bytes behind.
            memory.forget(whom, now).await?;
            nothing(&told, json);
            return Ok(Exit::Good);
        }
        if !json {
            output::talk(&format!("Of {HEADING}{told}{HEADING:#} this goes, for good:"));
            output::talk(page(&going).trim_end());
        }
        if !args.yes && !confirmed(&told, json).await? {
            output::talk("Nothing was forgotten.");
            return Ok(Exit::Refused);
        }
        let erased = memory.forget(whom, now).await?;
        if json {
            output::json(&json!(Forgotten::from(erased)));
        } else {
            output::talk(&format!(
                "{GOOD}forgotten{GOOD:#}: {}. Of {} a hash stays, so that nothing comes back.",
                desk::counted(erased.rows.values().sum(), "row"),
                desk::counted(erased.tombstones, "id")
            ));
        }
        Ok(Exit::Good)
    })
}

/// Who is meant, and what they are called.
fn whom(whose: &Whose) -> Result<(Whom, String), Error> {
    let Some(user) = &whose.user else {
        return Err(Error::Usage(
            "whom? `--user` is missing; what is erased is named on the command line, and nowhere else"
                .to_owned(),
        ));
    };
    // Checked here, so that a fault names its flag.
    let any = "any";
    let scope = desk::within(whose, user, whose.agent.as_deref().unwrap_or(any), any, any)?;
    let Subject { tenant, user, agent } = scope.subject();
    let at = if tenant == TenantId::default().as_str() {
        String::new()
    } else {
        format!(" of tenant {tenant}")
    };
    Ok(match whose.agent {
        Some(_) => {
            let told = format!("{user} with {agent}{at}");
            (Whom::Subject(Subject { tenant, user, agent }), told)
        }
        None => {
            let told = format!("{user} with every agent{at}");
            (Whom::User { tenant, user }, told)
        }
    })
}

fn page(going: &Erased) -> String {
    let rows: Vec<[String; 2]> =
        going.rows.iter().map(|(table, rows)| [table.clone(), rows.to_string()]).collect();
    let mut text = table(["TABLE", "ROWS"], &rows);
    if !going.shared.is_empty() {
        let facts = going.shared.join(", ");
        text.push_str(&format!("Facts that others vouch for too stay without them: {facts}\n"));
    }
    text
}

async fn confirmed(told: &str, json: bool) -> Result<bool, Error> {
    let nobody = || {
        Error::Usage(
            "nobody is here to confirm it, and nothing was forgotten; `--yes` says it beforehand"
                .to_owned(),
        )
    };
    if json {
        return Err(nobody());
    }
    let question = format!("{BAD}Forget {told}?{BAD:#} [yes, or anything else to leave it]");
    let line = terminal::ask(&question).await.ok_or_else(nobody)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn nothing(told: &str, json: bool) {
    if json {
        output::json(&json!({ "rows": {}, "shared": [], "tombstones": 0 }));
    } else {
        output::talk(&format!("nothing is remembered of {told}"));
    }
}
