//! Checks models before anything depends on them: a run that names a model that does not exist, or
//! whose key is missing, does not start.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_contract::{has_credentials, redact_credentials};
use countersign_models::ModelSpec;
use countersign_protocol::{PhaseWork, Protocol};
use countersign_run::{AttributedInput, InputKind, InputSender, RunStart};
use tokio::task::spawn_blocking;

use super::{Engine, EngineError, InputOutcome};
use crate::driver::ModelResolver;
use crate::trust::WantedAction;

/// Accepts every model whose name is well-formed, for an engine whose runs other processes work on:
/// only they have the keys and the scripts.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelNameCheck;

impl ModelResolver for ModelNameCheck {
    fn resolve_model(
        &self,
        name: &str,
    ) -> Result<Option<Arc<dyn countersign_models::ChatModel>>, String> {
        name.parse::<ModelSpec>().map(|_| None).map_err(|error| error.to_string())
    }
}

impl Engine {
    /// Checks the models of a new run: the one that the run names, or else those that its workflow
    /// and the workflows that it invokes name. An engine without models checks nothing.
    pub(super) async fn check_models(
        &self,
        protocol: &Protocol,
        start: &RunStart,
    ) -> Result<(), EngineError> {
        if let Some(model) = &start.model {
            return self.check_model(protocol.resolve_model_name(model)).await;
        }
        for model in list_models(protocol, &start.workflow) {
            // Nobody has permitted this protocol to read such a script or to use such a server.
            if WantedAction::from_model(&model).is_none() {
                self.check_model(&model).await?;
            } else {
                self.resolve_model(&ModelNameCheck, &model)?;
            }
        }
        Ok(())
    }

    /// Checks that a model can be used here: the provider is known, its key is set, or the script
    /// can be read. Sends nothing. An engine without models checks nothing.
    ///
    /// # Errors
    /// [`EngineError::ModelUnavailable`] with what to correct.
    pub async fn check_model(&self, model: &str) -> Result<(), EngineError> {
        if has_credentials(model) {
            return Err(EngineError::CredentialsInAddress);
        }
        let Some(models) = self.models().cloned() else { return Ok(()) };
        let name = model.to_owned();
        let resolved = spawn_blocking(move || models.resolve_model(&name).map(|_| ())).await;
        let interrupted = |_| "checking it was interrupted".to_owned();
        resolved.map_err(interrupted).and_then(|result| result).map_err(|reason| {
            EngineError::ModelUnavailable { model: redact_credentials(model).into_owned(), reason }
        })
    }

    fn resolve_model(&self, models: &dyn ModelResolver, model: &str) -> Result<(), EngineError> {
        if self.models().is_none() {
            return Ok(());
        }
        models.resolve_model(model).map(|_| ()).map_err(|reason| EngineError::ModelUnavailable {
            model: redact_credentials(model).into_owned(),
            reason,
        })
    }

    /// Lets a run continue with another model, for all of its agents. If the run is blocked because
    /// its model failed or was refused, it asks the new model.
    ///
    /// # Errors
    /// If the model cannot be used here, or the run has ended.
    pub async fn select_model(
        &self,
        run: &str,
        model: &str,
        by: &str,
        sender: Option<InputSender>,
    ) -> Result<InputOutcome, EngineError> {
        self.check_model(model).await?;
        let payload = InputKind::ModelSelected { model: model.to_owned(), by: by.to_owned() };
        self.submit_input(run, AttributedInput { payload, sender }, None).await
    }
}

/// Lists the models that the agents of a workflow use, and those of the workflows that it invokes.
fn list_models(protocol: &Protocol, workflow: &str) -> BTreeSet<String> {
    let (mut models, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut left = vec![workflow.to_owned()];
    while let Some(id) = left.pop() {
        let Some(workflow) = protocol.workflows.get(&id) else { continue };
        if !seen.insert(id) {
            continue;
        }
        for phase in &workflow.phases {
            match &phase.work {
                PhaseWork::Agent(work) => {
                    let named = work.agent.model.as_ref().or(protocol.default_model.as_ref());
                    models.extend(named.map(|name| protocol.resolve_model_name(name).to_owned()));
                }
                PhaseWork::Invoke(invocation) => left.push(invocation.workflow.clone()),
                PhaseWork::None | PhaseWork::Ask(_) | PhaseWork::Effect { .. } => {}
            }
        }
    }
    models
}
