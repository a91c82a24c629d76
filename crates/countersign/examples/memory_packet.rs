//! Uses the memory alone, without runs: remembers what a user said, and composes a packet of it for
//! the next prompt.
//!
//! ```sh
//! cargo run -p countersign --example memory_packet
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use countersign::contract::Timestamp;
use countersign::memory::compose::compose_packet;
use countersign::memory::packet::meta::PacketPurpose;
use countersign::memory::policy::MemoryPolicy;
use countersign::memory::record::{MemoryFact, MemoryOrigin};
use countersign::memory::render::render_packet;
use countersign::memory::rules::ClaimAssurance;
use countersign::memory::store::{
    EphemeralMemory, MemoryReader as _, MemoryWriter as _, NewMemoryEvent, RetrievalLimits,
};
use countersign::memory::tokens::find_counter;
use countersign::memory::{MemoryScope, PacketRequest};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Whose memory it is: tenant, user, agent; and where it is said: session, run.
    let scope = MemoryScope::new("default", "ann", "assistant", "monday", "run-1")?;
    let monday = Timestamp::from_date(2026, 3, 2);
    // `SqliteMemory::open` keeps the same in a file.
    let memory = EphemeralMemory::new();

    // Events are what was said. They never change.
    let said = [
        ("e1", "I am allergic to nuts, please keep that in mind."),
        ("e2", "The team offsite is in Lisbon this year."),
        ("e3", "My printer is broken again."),
    ];
    let events =
        said.map(|(id, text)| NewMemoryEvent::from_user_message(scope.clone(), id, text, monday));
    memory.append_events(events.to_vec()).await?;

    // Facts are what is true because of it. Each names its evidence.
    let fact = MemoryFact::new("f1", "allergy", "nuts", monday).with_evidence("e1");
    let (origin, assurance) = (MemoryOrigin::User, ClaimAssurance::Claimed);
    memory.record_claim(&scope, fact.into(), origin, assurance, monday).await?;

    // On Tuesday, in another session, a planner needs what matters for one message.
    let later = MemoryScope::new("default", "ann", "assistant", "tuesday", "run-2")?;
    let request =
        PacketRequest::new(later, PacketPurpose::Planner, Timestamp::from_date(2026, 3, 3))
            .with_message("Find a restaurant for the offsite.");
    let policy = MemoryPolicy::load_shipped("default").ok_or("the policy is shipped")?;
    let counter = find_counter("o200k_base")?;
    let limits = RetrievalLimits::from_policy(&policy);
    let candidates = memory.retrieve_candidates(&request, limits).await?;
    let packet = compose_packet(&request, &policy, &candidates, &*counter)?;
    let text = render_packet(&packet, request.purpose)?;
    println!("{text}");
    println!("{} of at most {} tokens", counter.count(&text), policy.max_tokens);
    if text.contains("allergy") && text.contains("Lisbon") {
        Ok(())
    } else {
        Err("the packet lacks what the message needs".into())
    }
}
