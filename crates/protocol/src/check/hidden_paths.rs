//! Finds paths that runs cannot reach: a gate on one never opens, and an effect on one always
//! fails.

use countersign_contract::source::Diagnostic;

use super::standalone_workflows;
use crate::{
    AnswerShape, EffectTemplate, FileAccess, FileOrigin, FilePolicy, GateCheck, PhaseWork,
    Protocol, TextTemplate,
};

pub(super) fn check(protocol: &Protocol) -> Vec<Diagnostic> {
    let files = &protocol.policy.files;
    let mut findings = Vec::new();
    for workflow in standalone_workflows::find_standalone_workflows(protocol) {
        for phase in &workflow.phases {
            match &phase.work {
                PhaseWork::Effect { effect, .. } => {
                    let origin = phase.origin.child("do");
                    findings.extend(collect_effect_paths(effect, &origin).into_iter().filter_map(
                        |(path, origin)| {
                            check_path_access(path.source(), &origin, files, "effect fails")
                        },
                    ));
                }
                PhaseWork::Ask(questions) => {
                    for question in questions {
                        if let AnswerShape::Document { suggested_path: Some(path), .. } =
                            &question.shape
                        {
                            let origin = phase.origin.child("ask");
                            let consequence = "document is never found there";
                            findings.extend(check_path_access(
                                path.source(),
                                &origin,
                                files,
                                consequence,
                            ));
                        }
                    }
                }
                PhaseWork::None | PhaseWork::Agent(_) | PhaseWork::Invoke(_) => {}
            }
        }
        for transition in &workflow.transitions {
            let path = match transition.gate.as_ref().map(|gate| &gate.check) {
                Some(GateCheck::FileExists { path }) => path.as_str(),
                Some(GateCheck::FileExistsTemplate { path }) => path.source(),
                Some(
                    GateCheck::Expression(_) | GateCheck::Status { .. } | GateCheck::Manual { .. },
                )
                | None => continue,
            };
            let origin = transition.origin.child("gate").child("path");
            findings.extend(check_path_access(path, &origin, files, "gate never opens"));
        }
    }
    findings
}

fn collect_effect_paths<'p>(
    effect: &'p EffectTemplate,
    origin: &FileOrigin,
) -> Vec<(&'p TextTemplate, FileOrigin)> {
    match effect {
        EffectTemplate::Write { path, .. } => vec![(path, origin.child("write").child("path"))],
        EffectTemplate::Copy { from, to, .. } => {
            let origin = origin.child("copy");
            vec![(from, origin.child("from")), (to, origin.child("to"))]
        }
        EffectTemplate::Run { .. }
        | EffectTemplate::Http { .. }
        | EffectTemplate::Retrieve { .. } => Vec::new(),
    }
}

/// Reports a path that is hidden as far as its text shows; a placeholder counts as a plain name.
fn check_path_access(
    text: &str,
    origin: &FileOrigin,
    files: &FilePolicy,
    consequence: &str,
) -> Option<Diagnostic> {
    let names: Vec<String> = replace_placeholders(text)
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect();
    let hint = match files.classify(&names) {
        FileAccess::Reachable => return None,
        FileAccess::Hidden | FileAccess::ListOnly if text.contains("{{") => {
            "show its folder: `policy: { files: { show: [.folder/**] } }`".to_owned()
        }
        FileAccess::Hidden | FileAccess::ListOnly => {
            format!("show it: `policy: {{ files: {{ show: [\"{text}\"] }} }}`")
        }
        FileAccess::Reserved => {
            "use another path: files of Countersign, git and protocols stay hidden".to_owned()
        }
    };
    let message = format!("`{text}` is hidden from runs, so the {consequence}");
    Some(origin.diagnose("hidden_path", message).with_hint(Some(hint)))
}

fn replace_placeholders(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        plain = plain + before + "x";
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    plain + rest
}
