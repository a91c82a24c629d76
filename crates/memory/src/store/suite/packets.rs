//! Cases: packets of what a memory finds, and the same again from their builds.

use std::sync::Arc;

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::insight::ValidationState;
use countersign_contracts::memory::meta::Purpose;

use super::sample::{NOW, ask, insight, keep, said, scope, tell, within};
use crate::compose::compose;
use crate::policy::{Policy, Strength};
use crate::record::{Claim, Origin, Role};
use crate::rules::Assurance;
use crate::store::{Build, Limits, Memory};
use crate::tokens::CharCounter;
use crate::{Found, Request};

fn policy() -> Policy {
    Policy::shipped("default").unwrap()
}

async fn packet(memory: &dyn Memory, request: &Request) -> (Found, MemoryPacket) {
    let found = memory.found(request, Limits::of(&policy())).await.unwrap();
    let packet = compose(request, &policy(), &found, &CharCounter).unwrap();
    (found, packet)
}

fn quoted(packet: &MemoryPacket) -> Vec<&str> {
    packet.short_term.key_quotes.iter().flatten().map(|quote| quote.quote.as_str()).collect()
}

fn reason<'p>(packet: &'p MemoryPacket, id: &str) -> Option<&'p str> {
    let omitted = packet.explain.omitted.iter().find(|omitted| omitted.item == id);
    omitted.map(|omitted| omitted.reason.as_str())
}

pub async fn a_guess_of_another_run_is_kept_from_a_responder(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let (earlier, later) = (scope(), within("u", "s1", "r2"));
    let mut guess = insight("i1", "r1", "Bob may like tofu");
    keep(memory, &earlier, Claim::Insight(Box::new(guess.clone()))).await.unwrap();
    let mut reply = said(&earlier, "e1", "I think that Bob may like tofu!");
    (reply.role, reply.origin) = (Role::Assistant, Origin::Model);
    let asked = said(&earlier, "e2", "Is there tofu for Bob?");
    memory.remember(vec![reply, asked]).await.unwrap();

    let request = Request { purpose: Purpose::Responder, ..ask(&later, "tofu") };
    let (found, made) = packet(memory, &request).await;
    assert!(found.insights.is_empty(), "it is not there to be given");
    assert_eq!(quoted(&made), ["Is there tofu for Bob?"]);
    assert_eq!(reason(&made, "e1"), Some("quarantined"));
    assert_eq!(made.explain.filters["guesses_withheld"], 1);
    assert!(!serde_json::to_string(&made).unwrap().contains("may like tofu"));
    let build = Build::of("b1", &request, &policy(), &found, &made, "chars/4");
    memory.keep_build(build).await.unwrap();

    // A planner may see it, so that nothing is looked up for one.
    let (for_planner, made_for_planner) = packet(memory, &ask(&later, "tofu")).await;
    assert!(for_planner.guesses.is_empty());
    assert_eq!(quoted(&made_for_planner).len(), 2);

    // Once it is validated its words may be told; what was built is built again as it was.
    guess.validation = ValidationState::Validated;
    keep(memory, &earlier, Claim::Insight(Box::new(guess))).await.unwrap();
    assert_eq!(quoted(&packet(memory, &request).await.1).len(), 2);
    let (build, again) = memory.build(&scope().subject(), "b1").await.unwrap().unwrap();
    assert_eq!(again, found);
    assert_eq!(build.again(&again).unwrap(), made);
}

pub async fn of_too_many_guesses_the_newest_are_kept_back(memory: Arc<dyn Memory>) {
    for (number, guess) in (0..).zip(["Anna may be late", "Boris may be late", "Clara may be late"])
    {
        let claim = Claim::Insight(Box::new(insight(&format!("i{number}"), "r1", guess)));
        let now = NOW.after(number);
        memory.keep(&scope(), claim, Origin::User, Assurance::Claimed, now).await.unwrap();
    }
    let request = Request { purpose: Purpose::Responder, ..ask(&within("u", "s1", "r2"), "late") };
    let limits = Limits { insights: 2, ..Limits::default() };
    let found = memory.found(&request, limits).await.unwrap();
    let guesses: Vec<&str> = found.guesses.iter().map(|guess| &*guess.id).collect();
    assert_eq!(guesses, ["i2", "i1"]);
    let packet = compose(&request, &policy(), &found, &CharCounter).unwrap();
    let cut = &packet.explain.filters["cut"];
    assert_eq!(cut, &serde_json::json!([{ "what": "insights", "read": 2 }]));
}

pub async fn what_is_said_again_and_again_crowds_nothing_out(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    let others = ["bread", "milk", "salt", "cheese", "honey"].map(|what| {
        format!(
            "Later on, when we had walked all the way home, we spoke about the price of {what}."
        )
    });
    for (number, text) in others.iter().enumerate() {
        tell(memory, &scope, &format!("o{number}"), text).await;
    }
    // More than are looked at for a packet that needs no more.
    let again = |number: usize| said(&scope, &format!("a{number}"), "The price is 12.");
    memory.remember((0..70).map(again).collect()).await.unwrap();

    let request = ask(&scope, "price");
    let (found, made) = packet(memory, &request).await;
    let mut quotes = quoted(&made);
    quotes.sort_unstable();
    let mut all: Vec<&str> = others.iter().map(String::as_str).collect();
    all.push("The price is 12.");
    all.sort_unstable();
    assert_eq!(quotes, all);
    // Of those that say the same some are named, and the number of the others is told.
    let named = made.explain.omitted.iter().filter(|omitted| omitted.reason == "duplicate").count();
    assert_eq!((named, found.quotes.len()), (19, 25));
    let cut = &made.explain.filters["cut"];
    let what = "events that say what a better one says";
    assert_eq!(cut, &serde_json::json!([{ "what": what, "read": 19, "of": 69 }]));
    // Whoever looks for events is given them as they are.
    let hits = memory.search(&request, 20).await.unwrap();
    assert!(hits.iter().all(|hit| hit.row.text == "The price is 12."));
}

pub async fn how_far_was_read_on_is_told(memory: Arc<dyn Memory>) {
    let memory = &*memory;
    let scope = scope();
    tell(memory, &scope, "o", "We spoke at great length about the price of bread.").await;
    let again = |number: usize| said(&scope, &format!("a{number}"), "The price is 12.");
    memory.remember((0..700).map(again).collect()).await.unwrap();
    let (_, made) = packet(memory, &ask(&scope, "price")).await;
    assert_eq!(quoted(&made), ["The price is 12."]);
    let cut = serde_json::json!([
        { "what": "events that answer", "read": 532 },
        { "what": "events that say what a better one says", "read": 19, "of": 531 },
    ]);
    assert_eq!(made.explain.filters["cut"], cut);
}

pub async fn a_window_is_looked_up_where_a_policy_gives_one(memory: Arc<dyn Memory>) {
    tell(&*memory, &scope(), "e1", "Good morning.").await;
    let request = ask(&scope(), "nothing");
    let (found, _) = packet(&*memory, &request).await;
    assert!(found.window.is_empty());
    let mut policy = policy();
    policy.matrix.responder.window = Strength::Weak;
    let found = memory.found(&request, Limits::of(&policy)).await.unwrap();
    assert_eq!(found.window.len(), 1);
    let packet = compose(&request, &policy, &found, &CharCounter).unwrap();
    assert_eq!(reason(&packet, "e1"), Some("purpose"), "it is for a responder");
}
