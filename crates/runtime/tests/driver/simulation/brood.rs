//! Children side by side under death: which ends first is chance, and nothing else is.

use std::collections::BTreeMap;

use countersign_store::{FaultPlan, InjectedFault};
use serde_json::Value;
use testkit::SeededRng;

use super::judge::Judgement;
use super::stories;
use super::world::{Life, World};

/// What must be the same in whatever order children end.
#[derive(Debug, PartialEq)]
struct Brood {
    /// Status and phase of the parent, and its lists in the order of the alphabet.
    parent: (String, String, Vec<String>, Vec<String>),
    /// The children, by what they were started for: status, phase, result.
    children: BTreeMap<String, Vec<(String, String, Value)>>,
    /// How often each word stands in the parent's log.
    words: BTreeMap<&'static str, usize>,
    files: BTreeMap<String, String>,
}

fn brood(judgement: Judgement) -> Brood {
    let Judgement { ends, kinds, files, .. } = judgement;
    let list = |document: &Value, name: &str| {
        let mut list: Vec<String> = serde_json::from_value(document[name].clone()).unwrap();
        list.sort();
        list
    };
    let mut children: BTreeMap<String, Vec<_>> = BTreeMap::new();
    let mut parent = None;
    for (run, (status, phase, document)) in ends {
        if run == "r1" {
            parent = Some((status, phase, list(&document, "got"), list(&document, "kept")));
        } else {
            let title = document["title"].as_str().unwrap().to_owned();
            children.entry(title).or_default().push((status, phase, document["result"].clone()));
        }
    }
    let mut words = BTreeMap::new();
    for word in &kinds["r1"] {
        *words.entry(*word).or_default() += 1;
    }
    Brood { parent: parent.unwrap(), children, words, files }
}

async fn undisturbed() -> (Brood, u64) {
    let world = World::new(&stories::brood());
    let writes = world.live(&Life::good()).expect("nothing goes wrong");
    let brood = brood(world.judge().await);
    let (status, _, got, kept) = &brood.parent;
    assert_eq!(status, "completed");
    assert_eq!(*got, ["a all of it", "b all of it", "c<a all of it", "taken child_failed"]);
    assert_eq!(*kept, ["kept/a.md", "kept/b.md", "kept/c.md", "kept/taken.md"]);
    assert_eq!(brood.children.len(), 4);
    assert!(brood.children.values().all(|runs| runs.len() == 1), "each was started once");
    assert_eq!((brood.words["child_requested"], brood.words["child_ended"]), (4, 4));
    assert_eq!(brood.files["out/taken.md"].trim(), "somebody else's");
    (brood, writes)
}

async fn survives(lives: &[Life], expected: &Brood, label: &str) {
    let world = World::new(&stories::brood());
    for life in lives {
        if world.live(life).is_some() {
            break;
        }
    }
    assert!(world.live(&Life::good()).is_some(), "{label}: the last life comes to an end");
    assert_eq!(brood(world.judge().await), *expected, "{label}");
}

#[tokio::test]
async fn broods_survive_death_at_every_write() {
    let (expected, writes) = undisturbed().await;
    assert!(writes > 40, "a story worth telling: {writes} writes");
    for write in 1..=writes {
        for fault in
            [InjectedFault::BeforeWrite, InjectedFault::AfterWrite, InjectedFault::LostReply]
        {
            let life = Life { plan: FaultPlan::Crash { write, fault }, polls: None };
            survives(&[life], &expected, &format!("dies at write {write}, {fault:?}")).await;
        }
    }
}

#[tokio::test]
async fn broods_survive_many_deaths() {
    let (expected, writes) = undisturbed().await;
    for seed in 0..40 {
        let mut chance = SeededRng::for_case(0xB400D, seed);
        let lives: Vec<Life> =
            (0..chance.next_between(1, 5)).map(|_| Life::by_chance(&mut chance, writes)).collect();
        survives(&lives, &expected, &format!("seed {seed}: {lives:?}")).await;
    }
}

#[tokio::test]
async fn a_brood_is_the_same_over_the_other_store() {
    let (expected, _) = undisturbed().await;
    let world = World::on_sqlite(&stories::brood());
    world.live(&Life::good()).unwrap();
    assert_eq!(brood(world.judge().await), expected);
}
