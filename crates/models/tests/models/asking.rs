//! What the tests ask, and whom.

use std::sync::Arc;
use std::time::Duration;

use countersign_contract::contract::{Contract, load_inline_contract};
use countersign_models::{
    ChatMessage, ChatModel, ChatRole, ModelError, ModelProvider, ModelRequest, ModelResponse,
    ModelSettings, ModelTimeouts, ProviderAddresses, ProviderKey, ProviderKeys, connect_model,
};

use crate::loopback::{Server, Step};

/// A key that may show nowhere.
pub(crate) const KEY: &str = "sk-test/4f9a\\0c\"1d-secret";

/// Short enough for a test, long enough for a busy machine.
pub(crate) const PATIENT: ModelTimeouts = ModelTimeouts {
    connect: Duration::from_secs(20),
    first_byte: Duration::from_secs(20),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(30),
};

/// Settings under which a provider listens at an address.
pub(crate) fn settings(
    provider: ModelProvider,
    address: &str,
    timeouts: ModelTimeouts,
) -> ModelSettings {
    let path = if provider == ModelProvider::OpenAi { "/v1" } else { "" };
    ModelSettings {
        keys: ProviderKeys::default().with_provider(provider, ProviderKey::parse(KEY).unwrap()),
        addresses: ProviderAddresses::default().with_provider(provider, format!("{address}{path}")),
        timeouts,
        ..ModelSettings::default()
    }
}

/// A model of a provider at an address.
pub(crate) fn model(
    provider: ModelProvider,
    address: &str,
    timeouts: ModelTimeouts,
) -> Arc<dyn ChatModel> {
    let spec = format!("{provider}:some-model-high").parse().unwrap();
    connect_model(&spec, &settings(provider, address, timeouts)).unwrap()
}

/// One call to a server that does as it is told; with the pieces that were heard live.
pub(crate) async fn call(
    provider: ModelProvider,
    steps: Vec<Step>,
    ask: &ModelRequest,
) -> (Result<ModelResponse, ModelError>, Vec<String>, Server) {
    let server = Server::start(steps).await;
    let mut pieces = Vec::new();
    let mut live = |piece: &str| pieces.push(piece.to_owned());
    let outcome = model(provider, &server.address, PATIENT).complete(ask, &mut live).await;
    (outcome, pieces, server)
}

/// A question with everything in it but a contract.
pub(crate) fn ask() -> ModelRequest {
    let turn = |role, text: &str| ChatMessage { role, text: text.to_owned() };
    ModelRequest {
        system: "Judge. Answer in JSON.".to_owned(),
        messages: vec![
            turn(ChatRole::User, "How good is \"it\"?"),
            turn(ChatRole::Assistant, "Which one?"),
            turn(ChatRole::User, "Вторая 🙂"),
        ],
        temperature: Some(0.2),
        max_tokens: Some(300),
        ..ModelRequest::default()
    }
}

/// A contract that every provider's language can say.
pub(crate) fn closed() -> Arc<Contract> {
    contract("additionalProperties: false")
}

/// A contract whose objects are open, which the strict languages cannot say.
pub(crate) fn open() -> Arc<Contract> {
    contract("additionalProperties: true")
}

/// A contract with a value of any kind, which no schema language of a provider can say.
pub(crate) fn anything() -> Arc<Contract> {
    contract("additionalProperties: false, patternProperties: {}, required: [any]")
}

fn contract(more: &str) -> Arc<Contract> {
    let properties = if more.contains("any]") {
        "any: {}"
    } else {
        "score: { type: integer, minimum: 0 }, note: { type: string }"
    };
    let text = format!(
        "id: verdict.v1\nversion: 1.0.0\nschema: {{ type: object, properties: {{ {properties} }}, {more} }}\n"
    );
    Arc::new(load_inline_contract(&text).unwrap())
}
