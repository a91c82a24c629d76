//! One case: a text, what it means, and what it must not be taken for.

use countersign_core::reply::Finish;
use serde_json::Value;

use super::around;
use super::corrupt::{self, Corruption, Stage};
use super::decoy;
use super::generate::{self, CONTRACTS};
use testkit::Chance;

/// How often a case is tried with other corruptions where the reply has nothing for the first ones.
const TRIES: usize = 8;

/// One case of the trial.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its number under the seed.
    pub(crate) number: u64,
    /// The contract it is held against.
    pub(crate) contract: &'static str,
    /// The reply as a model would have sent it.
    pub(crate) text: String,
    /// What the provider says about its end.
    pub(crate) finish: Finish,
    /// What it means.
    pub(crate) truth: Value,
    /// Whether accepting the truth is right; if not, only refusing is.
    pub(crate) tolerable: bool,
    /// What it must not be taken for.
    pub(crate) decoy: Option<Value>,
    /// What was done to it, by the names of the tables.
    pub(crate) labels: Vec<&'static str>,
}

impl Case {
    /// The case with this number under this seed. One in four has a decoy.
    pub(crate) fn make(seed: u64, number: u64) -> Self {
        let mut rng = Chance::for_case(seed, number);
        let contract = *rng.pick(&CONTRACTS);
        let reply = generate::reply(&mut rng, contract);
        let other = another(&mut rng, contract, &reply);
        if number % 4 == 3 {
            decoy::make(&mut rng, number, contract, &reply, &other)
        } else {
            Self::corrupted(&mut rng, number, contract, &reply, &other)
        }
    }

    fn corrupted(
        rng: &mut Chance,
        number: u64,
        contract: &'static str,
        reply: &Value,
        other: &Value,
    ) -> Self {
        let mut corruptions = choose(rng);
        let mut corrupted = corrupt::corrupt(rng, contract, reply, other, &corruptions);
        // Not every reply has a number to make lossy or a quote to leave bare: then something else is done to it.
        for _ in 0..TRIES {
            if corruptions
                .iter()
                .all(|one| one.stage() == Stage::Around || corrupted.applied.contains(one))
            {
                break;
            }
            corruptions = choose(rng);
            corrupted = corrupt::corrupt(rng, contract, reply, other, &corruptions);
        }
        let cut = corrupted.applied.contains(&Corruption::Truncation);
        let around: Vec<Corruption> = corruptions
            .into_iter()
            .filter(|corruption| corruption.stage() == Stage::Around)
            .collect();
        let text = around::wrap(rng, &corrupted.object, &around, cut);
        let mut labels: Vec<&str> =
            corrupted.applied.iter().chain(&around).map(|corruption| corruption.name()).collect();
        if labels.is_empty() {
            labels.push("nothing");
        }
        // Providers do not always say that they cut a reply off.
        let finish = if cut && rng.percent(50) { Finish::Length } else { Finish::Stop };
        let (truth, tolerable) = (corrupted.truth, corrupted.tolerable);
        Self { number, contract, text, finish, truth, tolerable, decoy: None, labels }
    }
}

/// A second reply of the contract, different from the first.
fn another(rng: &mut Chance, contract: &str, reply: &Value) -> Value {
    loop {
        let other = generate::reply(rng, contract);
        if other != *reply {
            return other;
        }
    }
}

/// None (one in thirty), one, two or three different corruptions.
fn choose(rng: &mut Chance) -> Vec<Corruption> {
    let count = match rng.below(30) {
        0 => 0,
        1..=14 => 1,
        15..=25 => 2,
        _ => 3,
    };
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let corruption = *rng.pick(Corruption::ALL);
        // Of two stray characters, one could hide from the judge what the other did to a string.
        let clashes = |one: &Corruption| {
            *one == corruption
                || (one.stage() == Stage::Characters && corruption.stage() == Stage::Characters)
        };
        if !chosen.iter().any(clashes) {
            chosen.push(corruption);
        }
    }
    chosen
}
