//! One case: a text, its meaning, and the decoy that must not be accepted.

use countersign_contract::reply::FinishReason;
use serde_json::Value;

use super::corrupt::{self, Corruption, CorruptionStage};
use super::decoy;
use super::generate::{self, CONTRACTS};
use super::wrapping;
use testkit::SeededRng;

/// How many times a case is tried with other corruptions if the reply offers nothing for the chosen
/// ones.
const MAX_ATTEMPTS: usize = 8;

/// One case of the trial.
#[derive(Debug, Clone)]
pub(crate) struct MutationCase {
    /// The case number under the seed.
    pub(crate) number: u64,
    /// The contract that the reply must satisfy.
    pub(crate) contract: &'static str,
    /// The reply as a model would send it.
    pub(crate) text: String,
    /// The finish reason that the provider reports.
    pub(crate) finish: FinishReason,
    /// The value that the text means.
    pub(crate) truth: Value,
    /// Whether accepting `truth` is correct; if not, only refusing is.
    pub(crate) recoverable: bool,
    /// The value that must not be accepted.
    pub(crate) decoy: Option<Value>,
    /// The corruptions applied to the case, by their names in the tables.
    pub(crate) labels: Vec<&'static str>,
}

impl MutationCase {
    /// Generates the case with this number under this seed. One case in four has a decoy.
    pub(crate) fn generate(seed: u64, number: u64) -> Self {
        let mut rng = SeededRng::for_case(seed, number);
        let contract = *rng.pick(&CONTRACTS);
        let reply = generate::generate_reply(&mut rng, contract);
        let other = generate_other(&mut rng, contract, &reply);
        if number % 4 == 3 {
            decoy::make_case(&mut rng, number, contract, &reply, &other)
        } else {
            Self::generate_corrupted(&mut rng, number, contract, &reply, &other)
        }
    }

    fn generate_corrupted(
        rng: &mut SeededRng,
        number: u64,
        contract: &'static str,
        reply: &Value,
        other: &Value,
    ) -> Self {
        let mut corruptions = choose_corruptions(rng);
        let mut corrupted = corrupt::corrupt_reply(rng, contract, reply, other, &corruptions);
        // Not every reply has a number to make lossy or a quote to remove: in this case, other
        // corruptions are tried.
        for _ in 0..MAX_ATTEMPTS {
            if corruptions.iter().all(|one| {
                one.stage() == CorruptionStage::Wrapping || corrupted.applied.contains(one)
            }) {
                break;
            }
            corruptions = choose_corruptions(rng);
            corrupted = corrupt::corrupt_reply(rng, contract, reply, other, &corruptions);
        }
        let cut = corrupted.applied.contains(&Corruption::Truncation);
        let around: Vec<Corruption> = corruptions
            .into_iter()
            .filter(|corruption| corruption.stage() == CorruptionStage::Wrapping)
            .collect();
        let text = wrapping::wrap_object(rng, &corrupted.object, &around, cut);
        let mut labels: Vec<&str> =
            corrupted.applied.iter().chain(&around).map(|corruption| corruption.name()).collect();
        if labels.is_empty() {
            labels.push("nothing");
        }
        // Providers do not always report that they truncated a reply.
        let finish =
            if cut && rng.roll_percent(50) { FinishReason::Length } else { FinishReason::Stop };
        let (truth, recoverable) = (corrupted.truth, corrupted.recoverable);
        Self { number, contract, text, finish, truth, recoverable, decoy: None, labels }
    }
}

/// Generates a second reply for the contract that differs from the first.
fn generate_other(rng: &mut SeededRng, contract: &str, reply: &Value) -> Value {
    loop {
        let other = generate::generate_reply(rng, contract);
        if other != *reply {
            return other;
        }
    }
}

/// Chooses no corruption (one case in thirty) or one, two or three different ones.
fn choose_corruptions(rng: &mut SeededRng) -> Vec<Corruption> {
    let count = match rng.next_below(30) {
        0 => 0,
        1..=14 => 1,
        15..=25 => 2,
        _ => 3,
    };
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let corruption = *rng.pick(Corruption::ALL);
        // With two stray characters, one could hide from the judge what the other did to a string.
        let clashes = |one: &Corruption| {
            *one == corruption
                || (one.stage() == CorruptionStage::Characters
                    && corruption.stage() == CorruptionStage::Characters)
        };
        if !chosen.iter().any(clashes) {
            chosen.push(corruption);
        }
    }
    chosen
}
