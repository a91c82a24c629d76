//! Effects: what a phase does outside.

use super::expression::{expression, optional, template};
use super::member::Member;
use super::scope::Scope;
use super::{host, path};
use crate::protocol::{EffectSpec, NAMES};

const EFFECTS: [&str; 4] = ["write", "run", "http", "retrieve"];

/// An effect knows no reply: it is what brings one.
const READS: &[&str] = NAMES.split_at(2).0;

/// Reads what `do` does.
pub(super) fn effect(member: &Member<'_>, scope: &Scope<'_>) -> Option<EffectSpec> {
    let named: Vec<&str> = EFFECTS.into_iter().filter(|key| member.get(key).is_some()).collect();
    match named[..] {
        [name] => read(name, &member.get(name)?, scope),
        [] if !member.value.is_object() => None,
        [] => {
            let message = "`do` names an effect: `write`, `run`, `http` or `retrieve`";
            scope.faults.push(member.fault("required", message));
            None
        }
        _ => {
            let both = named.join("` and `");
            let message = format!("`do` does one thing, and this one has `{both}`");
            let hint = "make two phases with a transition between them".to_owned();
            let fault = member.fault_at_key("two_works", named[1], message);
            scope.faults.push(fault.hinting(Some(hint)));
            None
        }
    }
}

fn read(name: &str, body: &Member<'_>, scope: &Scope<'_>) -> Option<EffectSpec> {
    let faults = scope.faults;
    match name {
        "write" => {
            let path = body.get("path")?;
            let (filled, inside) =
                (template(&path, READS, faults), path::inside_filled(&path, faults));
            let content = expression(&body.get("content")?, READS, faults);
            inside?;
            Some(EffectSpec::Write { path: filled?, content: content? })
        }
        "run" => {
            let program = body.get("program")?;
            let known = scope.names.programs.find(&program, faults).is_some();
            let args = body.get("args").map(|args| args.items()).unwrap_or_default();
            let args: Vec<_> = args.iter().map(|arg| template(arg, READS, faults)).collect();
            let input = optional(body.get("input"), READS, faults).ok()?;
            let args = args.into_iter().collect::<Option<_>>()?;
            known.then(|| EffectSpec::Run { program: owned(&program), args, input })
        }
        "http" => {
            let url = body.get("url")?;
            let body_expr = optional(body.get("body"), READS, faults).ok();
            let filled = template(&url, READS, faults)?;
            host::allowed(&url, scope)?;
            let body_expr = body_expr?;
            let usual = if body_expr.is_some() { "POST" } else { "GET" };
            let method = body.text_of("method").unwrap_or(usual).to_owned();
            Some(EffectSpec::Http { method, url: filled, body: body_expr })
        }
        _ => {
            let source = body.get("source")?;
            let known = scope.names.sources.find(&source, faults).is_some();
            let query = expression(&body.get("query")?, READS, faults)?;
            known.then(|| EffectSpec::Retrieve { source: owned(&source), query })
        }
    }
}

fn owned(member: &Member<'_>) -> String {
    member.text().unwrap_or_default().to_owned()
}
