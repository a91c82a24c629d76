//! The simulation: processes die at every commit and between any two steps, commits are lost or go
//! unheard, and every run ends as it would have ended without.
//!
//! One life is one process: an engine and a worker over a store that fails by plan. When it dies, the
//! next one begins with nothing but what is kept. Time stands still but for what somebody waits for.

mod clock;
mod stories;
mod world;
mod judge;
mod brood;
mod signed;

use countersign_store::{FaultPlan, InjectedFault};
use testkit::SeededRng;

use judge::Judgement;
use stories::Story;
use world::{Life, World};

/// How a story ends when nothing goes wrong, and how many writes that takes.
async fn undisturbed(story: &Story) -> (Judgement, u64) {
    let world = World::new(story);
    let writes = world.live(&Life::good()).expect("nothing goes wrong");
    (world.judge().await, writes)
}

/// Lives through a story with these deaths, then in peace; it must end as without them.
async fn survives(story: &Story, lives: &[Life], expected: &Judgement, label: &str) -> World {
    let world = World::new(story);
    for life in lives {
        if world.live(life).is_some() {
            break;
        }
    }
    assert!(world.live(&Life::good()).is_some(), "{label}: the last life comes to an end");
    let judgement = world.judge().await;
    assert_eq!(judgement.ends, expected.ends, "{label}: the same end");
    assert_eq!(judgement.files, expected.files, "{label}: the same files");
    assert_eq!(judgement.programs, expected.programs, "{label}: the same orders to programs");
    assert_eq!(judgement.kinds, expected.kinds, "{label}: the same history");
    world
}

/// Every write of a story as the last of a life, on every side of it.
async fn dies_at_every_write(story: Story) {
    let (expected, writes) = undisturbed(&story).await;
    assert!(writes > 10, "a story worth telling: {writes} writes");
    for write in 1..=writes {
        for fault in
            [InjectedFault::BeforeWrite, InjectedFault::AfterWrite, InjectedFault::LostReply]
        {
            let life = Life { plan: FaultPlan::Crash { write, fault }, polls: None };
            let label = format!("{} dies at write {write}, {fault:?}", story.name);
            survives(&story, &[life], &expected, &label).await;
        }
    }
}

#[tokio::test]
async fn deeds_survive_death_at_every_write() {
    dies_at_every_write(stories::deeds()).await;
}

#[tokio::test]
async fn people_s_answers_survive_death_at_every_write() {
    dies_at_every_write(stories::people()).await;
}

#[tokio::test]
async fn families_survive_death_at_every_write() {
    dies_at_every_write(stories::family()).await;
}

/// Deaths at any await, not only where something is written.
async fn dies_anywhere(story: Story, most: usize) {
    let (expected, _) = undisturbed(&story).await;
    for polls in 1..=most {
        let life = Life { plan: FaultPlan::NoFaults, polls: Some(polls) };
        let label = format!("{} dies after {polls} polls", story.name);
        survives(&story, &[life], &expected, &label).await;
    }
}

#[tokio::test]
async fn deeds_survive_death_between_any_two_steps() {
    dies_anywhere(stories::deeds(), 40).await;
}

#[tokio::test]
async fn long_runs_survive_many_deaths() {
    let stories = [stories::long(), stories::family(), stories::people(), stories::deeds()];
    let seeds: u64 =
        std::env::var("COUNTERSIGN_SEEDS_OF_CHANCE").map_or(200, |seeds| seeds.parse().unwrap());
    for story in stories {
        let (expected, writes) = undisturbed(&story).await;
        for seed in 0..seeds / 4 {
            let mut chance = SeededRng::for_case(0xC0DE, seed);
            let lives: Vec<Life> = (0..chance.next_between(1, 5))
                .map(|_| Life::by_chance(&mut chance, writes))
                .collect();
            let label = format!("{}, seed {seed}: {lives:?}", story.name);
            survives(&story, &lives, &expected, &label).await;
        }
    }
}

#[tokio::test]
async fn the_same_seed_gives_the_same_bytes() {
    for story in [stories::long(), stories::family(), stories::people(), stories::deeds()] {
        let (expected, writes) = undisturbed(&story).await;
        for seed in 0..4 {
            let mut logs = Vec::new();
            for _ in 0..2 {
                let mut chance = SeededRng::for_case(0xB17E5, seed);
                let lives: Vec<Life> =
                    (0..4).map(|_| Life::by_writes(&mut chance, writes)).collect();
                let label = format!("{}, seed {seed}", story.name);
                logs.push(survives(&story, &lives, &expected, &label).await.logs().await);
            }
            assert!(logs[0].iter().map(String::len).sum::<usize>() > 1_000);
            assert!(logs[0] == logs[1], "{}, seed {seed}: other bytes", story.name);
        }
    }
}

#[tokio::test]
async fn both_stores_keep_the_same_bytes() {
    for story in [stories::long(), stories::family(), stories::people(), stories::deeds()] {
        let (memory, sqlite) = (World::new(&story), World::on_sqlite(&story));
        memory.live(&Life::good()).unwrap();
        sqlite.live(&Life::good()).unwrap();
        assert!(memory.logs().await == sqlite.logs().await, "{}: other bytes", story.name);
        sqlite.judge().await;
        if story.name == "long" {
            let run = sqlite.app.engine().run_id("r1");
            let loaded = sqlite.app.store.load_run(&run, None).await.unwrap().unwrap();
            assert!(loaded.snapshot.is_some(), "it is long enough for a snapshot");
        }
    }
}
