//! How the tests ask a source: as the runtime does, through a policy.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use countersign_contract::contract::ContractRegistry;
use countersign_contract::reply::{AdmissionVerdict, FinishReason, RuleContext};
use countersign_protocol::{ProtocolPolicy, RetrievalSource};
use countersign_runtime::document::DocumentReader;
use countersign_runtime::effect::{EffectError, EffectErrorKind, RetrieverRegistry};
use countersign_shipped_contracts::load_shipped_contracts;
use countersign_sources::BuiltinSources;
use serde_json::Value;

static SHIPPED: LazyLock<ContractRegistry> = LazyLock::new(load_shipped_contracts);

/// One source that can be asked again and again.
pub(crate) struct Asking {
    kinds: BuiltinSources,
    policy: ProtocolPolicy,
    base: PathBuf,
    name: String,
}

impl Asking {
    /// A source of a kind, under a name that the contract of evidence knows.
    pub(crate) fn of(name: &str, kind: &str, settings: &Value, base: &Path) -> Self {
        let mut policy = ProtocolPolicy::default();
        let declared = RetrievalSource { kind: kind.to_owned(), settings: settings.clone() };
        policy.sources.insert(name.to_owned(), declared);
        let kinds = BuiltinSources::new(
            DocumentReader::in_process(),
            Box::new(|name| std::env::var(name).ok()),
        );
        Self { kinds, policy, base: base.to_owned(), name: name.to_owned() }
    }

    /// The same with one variable in the environment.
    pub(crate) fn with_variable(self, name: &'static str, value: String) -> Self {
        let environment = move |variable: &str| (variable == name).then(|| value.clone());
        Self {
            kinds: BuiltinSources::new(DocumentReader::in_process(), Box::new(environment)),
            ..self
        }
    }

    /// Asks. Whatever comes back is evidence as the contract has it.
    pub(crate) async fn ask(&self, query: Value) -> Result<Value, EffectError> {
        let sources =
            RetrieverRegistry::open_with_factory(&self.policy, &self.base, Some(&self.kinds));
        let answer = sources.retrieve(&self.name, &query).await?;
        let items = answer["items"].as_array().unwrap();
        let contract = SHIPPED.get("evidence_item").unwrap();
        for item in items {
            let verdict =
                contract.admit(&item.to_string(), FinishReason::Stop, &RuleContext::default());
            assert!(matches!(verdict, AdmissionVerdict::Accepted(_)), "{item}");
        }
        assert_eq!(answer["data"].as_array().unwrap().len(), items.len());
        assert!(answer["truncated"].is_boolean() && answer["skipped"].is_array());
        Ok(answer)
    }

    /// Asks what must be refused: the kind of failure and its words.
    pub(crate) async fn refused(&self, query: Value) -> (EffectErrorKind, String) {
        let error = self.ask(query).await.unwrap_err();
        assert!(error.message.contains(&format!("`{}`", self.name)), "{error}");
        (error.kind, error.message)
    }
}

/// The references of an answer.
pub(crate) fn refs(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|item| item["ref"].as_str().unwrap()).collect()
}

/// The data set that ships with the protocol `answer`.
pub(crate) fn data_set() -> PathBuf {
    testkit::workspace_root().join("crates/shipped-protocols/templates/answer")
}
