//! What the tests ask, and whom.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::contract::{Contract, load_inline};
use countersign_models::{
    Addresses, Answer, Ask, Key, Keys, Model, ModelError, Provider, Role, Settings, Timeouts, Turn,
    connect,
};

use crate::loopback::{Server, Step};

/// A key that may show nowhere.
pub(crate) const KEY: &str = "sk-test/4f9a\\0c\"1d-secret";

/// Short enough for a test, long enough for a busy machine.
pub(crate) const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_secs(20),
    first_byte: Duration::from_secs(20),
    idle: Duration::from_secs(20),
    total: Duration::from_secs(30),
};

/// Settings under which a provider listens at an address.
pub(crate) fn settings(provider: Provider, address: &str, timeouts: Timeouts) -> Settings {
    let path = if provider == Provider::OpenAi { "/v1" } else { "" };
    Settings {
        keys: Keys::default().with(provider, Key::parse(KEY).unwrap()),
        addresses: Addresses::default().with(provider, format!("{address}{path}")),
        timeouts,
        ..Settings::default()
    }
}

/// A model of a provider at an address.
pub(crate) fn model(provider: Provider, address: &str, timeouts: Timeouts) -> Arc<dyn Model> {
    let spec = format!("{provider}:some-model-high").parse().unwrap();
    connect(&spec, &settings(provider, address, timeouts)).unwrap()
}

/// One call to a server that does as it is told; with the pieces that were heard live.
pub(crate) async fn call(
    provider: Provider,
    steps: Vec<Step>,
    ask: &Ask,
) -> (Result<Answer, ModelError>, Vec<String>, Server) {
    let server = Server::start(steps).await;
    let mut pieces = Vec::new();
    let mut live = |piece: &str| pieces.push(piece.to_owned());
    let outcome = model(provider, &server.address, PATIENT).complete(ask, &mut live).await;
    (outcome, pieces, server)
}

/// A question with everything in it but a contract.
pub(crate) fn ask() -> Ask {
    let turn = |role, text: &str| Turn { role, text: text.to_owned() };
    Ask {
        system: "Judge. Answer in JSON.".to_owned(),
        turns: vec![
            turn(Role::User, "How good is \"it\"?"),
            turn(Role::Assistant, "Which one?"),
            turn(Role::User, "Вторая 🙂"),
        ],
        temperature: Some(0.2),
        max_tokens: Some(300),
        ..Ask::default()
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
    Arc::new(load_inline(&text).unwrap())
}
