//! Paths that runs cannot reach: a gate on one never opens, an effect on one always fails.

use super::whole;
use crate::protocol::{
    Check, EffectSpec, FileAccess, FilePolicy, Origin, Protocol, Shape, Template, Work,
};
use crate::spec::Diagnostic;

pub(super) fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let files = &protocol.policy.files;
    let mut findings = Vec::new();
    for workflow in whole::workflows(protocol) {
        for phase in &workflow.phases {
            match &phase.work {
                Work::Effect { effect, .. } => {
                    let origin = phase.origin.child("do");
                    findings.extend(effect_paths(effect, &origin).into_iter().filter_map(
                        |(path, origin)| hidden_path(path.source(), &origin, files, "effect fails"),
                    ));
                }
                Work::Ask(questions) => {
                    for question in questions {
                        if let Shape::Document { suggested_path: Some(path), .. } = &question.shape
                        {
                            let origin = phase.origin.child("ask");
                            let consequence = "document is never found there";
                            findings.extend(hidden_path(
                                path.source(),
                                &origin,
                                files,
                                consequence,
                            ));
                        }
                    }
                }
                Work::None | Work::Agent(_) | Work::Invoke(_) => {}
            }
        }
        for transition in &workflow.transitions {
            let path = match transition.gate.as_ref().map(|gate| &gate.check) {
                Some(Check::File { path }) => path.as_str(),
                Some(Check::FileAt { path }) => path.source(),
                _ => continue,
            };
            let origin = transition.origin.child("gate").child("path");
            findings.extend(hidden_path(path, &origin, files, "gate never opens"));
        }
    }
    findings
}

fn effect_paths<'p>(effect: &'p EffectSpec, origin: &Origin) -> Vec<(&'p Template, Origin)> {
    match effect {
        EffectSpec::Write { path, .. } => vec![(path, origin.child("write").child("path"))],
        EffectSpec::Copy { from, to, .. } => {
            let origin = origin.child("copy");
            vec![(from, origin.child("from")), (to, origin.child("to"))]
        }
        EffectSpec::Run { .. } | EffectSpec::Http { .. } | EffectSpec::Retrieve { .. } => {
            Vec::new()
        }
    }
}

/// A finding where a path is hidden as far as its text tells; what is filled in counts as a plain name.
fn hidden_path(
    text: &str,
    origin: &Origin,
    files: &FilePolicy,
    consequence: &str,
) -> Option<Diagnostic> {
    let names: Vec<String> = fill_plainly(text)
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect();
    let hint = match files.classify(&names) {
        FileAccess::Reachable => return None,
        FileAccess::Hidden | FileAccess::Passage if text.contains("{{") => {
            "show its folder: `policy: { files: { show: [.folder/**] } }`".to_owned()
        }
        FileAccess::Hidden | FileAccess::Passage => {
            format!("show it: `policy: {{ files: {{ show: [\"{text}\"] }} }}`")
        }
        FileAccess::Reserved => {
            "use another path: files of Countersign, of git and of protocols stay hidden".to_owned()
        }
    };
    let message = format!("`{text}` is hidden from runs, so the {consequence}");
    Some(origin.fault("hidden_path", message).hinting(Some(hint)))
}

fn fill_plainly(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        plain = plain + before + "x";
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    plain + rest
}
