//! Effects: what a phase does outside.

use super::expression::{expression, optional, template};
use super::member::Member;
use super::scope::Scope;
use super::{host, path};
use crate::protocol::{EffectSpec, Template};

const EFFECTS: [&str; 5] = ["write", "copy", "run", "http", "retrieve"];

/// Reads what `do` does. It knows no reply: it is what brings one.
pub(super) fn effect(member: &Member<'_>, scope: &Scope<'_>) -> Option<EffectSpec> {
    let named: Vec<&str> = EFFECTS.into_iter().filter(|key| member.get(key).is_some()).collect();
    match named[..] {
        [name] => read(name, &member.get(name)?, scope),
        [] if !member.value.is_object() => None,
        [] => {
            let message = "`do` names an effect: `write`, `copy`, `run`, `http` or `retrieve`";
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
    let (faults, reads) = (scope.faults, scope.texts);
    match name {
        "write" => {
            let path = inside(&body.get("path")?, scope);
            let content = expression(&body.get("content")?, reads, faults);
            let once = body.value["once"] == true;
            Some(EffectSpec::Write { path: path?, content: content?, once })
        }
        "copy" => {
            let (from, to) = (inside(&body.get("from")?, scope), inside(&body.get("to")?, scope));
            let once = body.value["once"] == true;
            Some(EffectSpec::Copy { from: from?, to: to?, once })
        }
        "run" => {
            let program = body.get("program")?;
            let known = scope.names.programs.find(&program, faults).is_some();
            let args = body.get("args").map(|args| args.items()).unwrap_or_default();
            let args: Vec<_> = args.iter().map(|arg| template(arg, reads, faults)).collect();
            let input = optional(body.get("input"), reads, faults).ok()?;
            let args = args.into_iter().collect::<Option<_>>()?;
            known.then(|| EffectSpec::Run { program: owned(&program), args, input })
        }
        "http" => {
            let url = body.get("url")?;
            let body_expr = optional(body.get("body"), reads, faults).ok();
            let filled = template(&url, reads, faults)?;
            host::allowed(&url, scope)?;
            let body_expr = body_expr?;
            let usual = if body_expr.is_some() { "POST" } else { "GET" };
            let method = body.text_of("method").unwrap_or(usual).to_owned();
            Some(EffectSpec::Http { method, url: filled, body: body_expr })
        }
        _ => {
            let source = body.get("source")?;
            let filled = template(&source, reads, faults);
            // A name that is filled in is known when it is.
            let fixed = filled.as_ref().is_some_and(|it| it.expressions().next().is_none());
            let known = !fixed || scope.names.sources.find(&source, faults).is_some();
            let (query, source) = (expression(&body.get("query")?, reads, faults)?, filled?);
            known.then_some(EffectSpec::Retrieve { source, query })
        }
    }
}

/// A path with places to fill that stays in the folder of work.
pub(super) fn inside(member: &Member<'_>, scope: &Scope<'_>) -> Option<Template> {
    let filled = template(member, scope.texts, scope.faults);
    path::inside_filled(member, scope.faults)?;
    filled
}

fn owned(member: &Member<'_>) -> String {
    member.text().unwrap_or_default().to_owned()
}
