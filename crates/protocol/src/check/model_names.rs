//! Finds models that are named without a provider, so that no call can be made.

use countersign_contract::source::DiagnosticCollector;

use super::unused_budgets::parse_index_file;
use crate::{FileOrigin, Protocol};

/// Reports the models of agents and of the index that `models.aliases` does not map to a provider.
pub(super) fn check(protocol: &Protocol, findings: &mut DiagnosticCollector) {
    for agent in protocol.agents.values() {
        if let (Some(model), Some(origin)) = (&agent.model, &agent.origin) {
            let origin = origin.child("model_config").child("name");
            report_bare_name(protocol.resolve_model_name(model), model, &origin, findings);
        }
    }
    let Some(index) = parse_index_file(protocol) else { return };
    let models = index.child("models");
    if let Some(model) = &protocol.default_model {
        let resolved = protocol.resolve_model_name(model);
        report_bare_name(resolved, model, &models.child("default"), findings);
    }
}

/// Reports a model that is neither `human` nor names a provider. `written` is its name in the file.
fn report_bare_name(
    model: &str,
    written: &str,
    origin: &FileOrigin,
    findings: &mut DiagnosticCollector,
) {
    const CODE: &str = "model_without_provider";
    if model == "human" || model.contains(':') {
        return;
    }
    if findings.is_full(CODE) {
        findings.push(origin.diagnose(CODE, "").into_warning());
        return;
    }
    let message = if model == written {
        format!("`{model}` names no provider, so it cannot be called")
    } else {
        format!("`{written}` stands for `{model}`, which names no provider")
    };
    let hint = format!(
        "write `openai:{model}`, or map the name in index.yaml: `models: {{ aliases: {{ {written}: \"openai:{model}\" }} }}`"
    );
    findings.push(origin.diagnose(CODE, message).into_warning().with_hint(Some(hint)));
}
