//! Reads effects: what a phase executes outside the engine.

use super::file_node::FileNode;
use super::name_scope::NameScope;
use super::read_expression::{read_expression, read_optional_expression, read_template};
use super::{confined_path, read_host};
use crate::{EffectTemplate, TextTemplate, WriteFormat};

/// The keys of `do` that name an effect. `read_effect_kind` has an arm for each.
const EFFECTS: [&str; 5] = ["write", "copy", "run", "http", "retrieve"];

/// Reads the content of `do`. Its expressions cannot read `reply`, because the effect produces it.
pub(super) fn read_effect(member: &FileNode<'_>, scope: &NameScope<'_>) -> Option<EffectTemplate> {
    let named: Vec<&str> = EFFECTS.into_iter().filter(|key| member.get(key).is_some()).collect();
    match named[..] {
        [name] => read_effect_kind(name, &member.get(name)?, scope),
        [] if !member.value.is_object() => None,
        [] => {
            let [others @ .., last] = EFFECTS;
            let message = format!("`do` names an effect: `{}` or `{last}`", others.join("`, `"));
            scope.faults.push(member.diagnose("required", message));
            None
        }
        _ => {
            let both = named.join("` and `");
            let message = format!("`do` names one effect, and this one has `{both}`");
            let hint = "make two phases with a transition between them".to_owned();
            let fault = member.diagnose_key("two_works", named[1], message);
            scope.faults.push(fault.with_hint(Some(hint)));
            None
        }
    }
}

fn read_effect_kind(
    name: &str,
    body: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<EffectTemplate> {
    let (faults, reads) = (scope.faults, scope.text_names);
    match name {
        "write" => {
            let path = read_confined_template(&body.get("path")?, scope);
            let content = read_expression(&body.get("content")?, reads, faults);
            let once = body.value["once"] == true;
            // The schema allows one name.
            let format = body.get("format").map(|_| WriteFormat::Docx);
            Some(EffectTemplate::Write { path: path?, content: content?, once, format })
        }
        "copy" => {
            let (from, to) = (
                read_confined_template(&body.get("from")?, scope),
                read_confined_template(&body.get("to")?, scope),
            );
            let once = body.value["once"] == true;
            Some(EffectTemplate::Copy { from: from?, to: to?, once })
        }
        "run" => {
            let program = body.get("program")?;
            let known = scope.names.programs.resolve_name(&program, faults).is_some();
            let args = body.get("args").map(|args| args.items()).unwrap_or_default();
            let args: Vec<_> = args.iter().map(|arg| read_template(arg, reads, faults)).collect();
            let input = read_optional_expression(body.get("input"), reads, faults).ok()?;
            let args = args.into_iter().collect::<Option<_>>()?;
            known.then(|| EffectTemplate::Run { program: owned_text(&program), args, input })
        }
        "http" => {
            let url = body.get("url")?;
            let body_expr = read_optional_expression(body.get("body"), reads, faults).ok();
            let filled = read_template(&url, reads, faults)?;
            read_host::check_host_allowed(&url, scope)?;
            let body_expr = body_expr?;
            let usual = if body_expr.is_some() { "POST" } else { "GET" };
            let method = body.text_at("method").unwrap_or(usual).to_owned();
            Some(EffectTemplate::Http { method, url: filled, body: body_expr })
        }
        "retrieve" => {
            let source = body.get("source")?;
            let filled = read_template(&source, reads, faults);
            // A name with placeholders is known only when they are filled in.
            let fixed = filled.as_ref().is_some_and(|it| it.expressions().next().is_none());
            let known = !fixed || scope.names.sources.resolve_name(&source, faults).is_some();
            let (query, source) = (read_expression(&body.get("query")?, reads, faults)?, filled?);
            known.then_some(EffectTemplate::Retrieve { source, query })
        }
        _ => None,
    }
}

/// Reads a path template that stays inside the workspace.
pub(super) fn read_confined_template(
    member: &FileNode<'_>,
    scope: &NameScope<'_>,
) -> Option<TextTemplate> {
    let filled = read_template(member, scope.text_names, scope.faults);
    confined_path::check_template_path(member, scope.faults)?;
    filled
}

fn owned_text(member: &FileNode<'_>) -> String {
    member.text().unwrap_or_default().to_owned()
}
