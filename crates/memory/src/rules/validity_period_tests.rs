//! How claims change the validity periods of facts. The current timestamp is 9.

use ClaimAssurance::{Claimed, Confirmed};
use MemoryOrigin::{Model, User};
use countersign_contract::Timestamp;
use serde_json::json;

use super::fact_ruling_tests::{during, fact, paris, rome, sure};
use super::{ClaimAssurance, FactRevision, resolve_fact_claim};
use crate::record::MemoryOrigin;

/// Checks each written revision as `id.revision status from..to ->superseded_by`; parts are
/// prefixed with `+`.
#[track_caller]
fn check(
    claim: FactRevision,
    assurance: ClaimAssurance,
    standing: &[FactRevision],
    expected: &[&str],
) {
    let ruling = resolve_fact_claim(claim, assurance, standing, Timestamp(9));
    let told = |FactRevision { fact, .. }: &FactRevision| {
        let status = format!("{:?}", fact.status).to_lowercase();
        let end = |time: Option<Timestamp>| time.map(|time| time.0.to_string()).unwrap_or_default();
        let (from, to) = (end(fact.valid_from), end(fact.valid_to));
        let by = fact.superseded_by.as_ref().map(|by| format!(" ->{by}")).unwrap_or_default();
        format!("{}.{} {status} {from}..{to}{by}", fact.id, fact.revision)
    };
    let parts = ruling.parts.iter().map(|part| format!("+{}", told(part)));
    let all: Vec<String> = ruling.writes.iter().map(told).chain(parts).collect();
    assert_eq!(all, expected);
}

fn oslo(origin: MemoryOrigin) -> FactRevision {
    fact("other", json!("Oslo"), origin)
}

fn paris_again(origin: MemoryOrigin) -> FactRevision {
    fact("again", json!("Paris"), origin)
}

#[test]
fn what_begins_later_leaves_the_present_alone() {
    let next = || during(rome(User), Some(12), None);
    let both = ["old.2 active ..11 ->new", "new.1 active 12.."];
    check(next(), Claimed, &[paris(User)], &both);
    let both = ["old.2 active 3..11 ->new", "new.1 active 12.."];
    check(next(), Claimed, &[during(paris(User), Some(3), Some(20))], &both);
    check(next(), Confirmed, &[during(paris(User), Some(3), None)], &both);
    // A claim that starts now leaves the past to the older fact.
    let now = during(rome(User), Some(9), None);
    check(now, Claimed, &[paris(User)], &["old.2 deprecated ..8 ->new", "new.1 active 9.."]);
}

#[test]
fn what_holds_for_a_while_lets_the_older_go_on() {
    let rome = |from, to| during(rome(User), Some(from), Some(to));
    check(
        rome(12, 15),
        Claimed,
        &[paris(User)],
        &["old.2 active ..11 ->new", "new.1 active 12..15", "+old.1 active 16.."],
    );
    // The fact itself keeps the current part, or the next one.
    check(
        rome(5, 15),
        Claimed,
        &[paris(User)],
        &["old.2 active 16..", "new.1 active 5..15", "+old.1 deprecated ..4 ->new"],
    );
    check(
        rome(3, 5),
        Claimed,
        &[paris(User)],
        &["old.2 active 6..", "new.1 active 3..5", "+old.1 deprecated ..2 ->new"],
    );
    let surer = sure(during(super::fact_ruling_tests::rome(User), None, Some(15)), 0.9);
    check(surer, Claimed, &[paris(User)], &["old.2 active 16..", "new.1 active ..15"]);
    // The last part keeps its earlier end and successor.
    let mut closed = during(paris(User), None, Some(20));
    closed.fact.superseded_by = Some("other".to_owned());
    check(
        rome(12, 15),
        Claimed,
        &[closed],
        &["old.2 active ..11 ->new", "new.1 active 12..15", "+old.1 active 16..20 ->other"],
    );
}

#[test]
fn who_loses_keeps_the_time_that_the_winner_leaves() {
    let later = during(oslo(User), Some(12), None);
    let closed = during(paris(User), None, Some(11));
    check(
        during(rome(User), Some(5), None),
        Claimed,
        &[closed, later],
        &["old.2 deprecated ..4 ->new", "new.1 active 5..11 ->other"],
    );
    let while_away = during(oslo(User), Some(5), Some(15));
    check(
        during(rome(User), Some(2), None),
        Claimed,
        &[while_away],
        &["new.1 active 16..", "+new.1 deprecated 2..4 ->other"],
    );
    let before = during(oslo(User), Some(6), None);
    let lost = during(rome(User), Some(2), None);
    check(lost, Claimed, &[before], &["new.1 deprecated 2..5 ->other"]);
}

#[test]
fn a_claim_wins_here_and_is_disputed_there() {
    let later = during(oslo(Model), Some(12), None);
    check(
        during(rome(User), Some(5), None),
        Claimed,
        &[paris(User), later],
        &["other.2 disputed 12..", "old.2 deprecated ..4 ->new", "new.1 disputed 5.."],
    );
}

#[test]
fn the_same_value_ends_and_mends_what_stands() {
    let known = || during(paris(User), Some(3), None);
    let again = |from, to| during(paris_again(User), from, to);
    let mut plain = again(None, None);
    plain.fact.evidence.clear();
    plain.sources.clear();
    check(plain.clone(), Claimed, &[known()], &[]);
    let bare = |from: Option<i64>, to: Option<i64>| during(plain.clone(), from, to);
    check(bare(None, Some(7)), Claimed, &[known()], &["old.2 active 3..7"]);
    check(bare(Some(8), Some(12)), Claimed, &[known()], &["old.2 active 3..12"]);
    // A start only moves to an earlier timestamp, because it is often just when the claim was made.
    check(bare(Some(5), None), Claimed, &[known()], &[]);
    check(bare(Some(2), None), Claimed, &[known()], &["old.2 active 2.."]);
    let ended = during(paris(User), Some(3), Some(7));
    check(bare(None, Some(12)), Claimed, std::slice::from_ref(&ended), &["old.2 active 3..12"]);
    check(bare(None, None), Claimed, std::slice::from_ref(&ended), &[]);
    // A less trusted origin cannot end a fact; a confirmation can.
    let mut less = bare(None, Some(7));
    less.origin = Model;
    check(less.clone(), Claimed, &[known()], &[]);
    check(less, Confirmed, &[known()], &["old.2 active 3..7"]);
    // An ended fact that is confirmed is valid again from now on.
    check(bare(None, None), Confirmed, &[ended], &["again.1 active 9.."]);
}

#[test]
fn more_time_is_taken_from_others_only_by_who_wins_there() {
    let known = during(paris(User), Some(12), None);
    let earlier = |origin| during(paris_again(origin), Some(6), None);
    let rome = during(rome(User), Some(3), Some(11));
    check(
        earlier(User),
        Claimed,
        &[known.clone(), rome.clone()],
        &["new.2 deprecated 3..5 ->old", "old.2 active 6.."],
    );
    let later = during(rome.clone(), Some(7), Some(11));
    check(earlier(User), Claimed, &[known.clone(), later], &["old.2 active 12.."]);
    check(earlier(Model), Claimed, &[known.clone(), rome.clone()], &["old.2 active 12.."]);
    // Once confirmed, it is valid now.
    check(
        paris_again(Model),
        Confirmed,
        &[known, rome],
        &["new.2 deprecated 3..8 ->old", "old.2 active 9.."],
    );
    // A fact continues past an end that another fact had set.
    let closed = during(paris(User), None, Some(11));
    let next = during(oslo(User), Some(12), None);
    check(
        paris_again(User),
        Confirmed,
        &[closed, next],
        &["other.2 deprecated 12.. ->old", "old.2 active .."],
    );
}

#[test]
fn the_rest_of_a_repeated_claim_is_added() {
    let told = |origin| {
        let mut told = paris_again(origin);
        told.fact.tags = vec!["home".to_owned(), "move".to_owned()];
        told.fact.entities = vec!["Paris".to_owned()];
        told.fact.preference = true;
        "as of the lease".clone_into(&mut told.fact.notes);
        told
    };
    let mut known = paris(User);
    known.fact.tags = vec!["home".to_owned()];
    let ruled =
        |claim| resolve_fact_claim(claim, Claimed, std::slice::from_ref(&known), Timestamp(9));
    let better = ruled(told(User)).writes.remove(0).fact;
    assert_eq!((better.tags, better.entities.len()), (vec!["home".into(), "move".into()], 1));
    assert_eq!((better.preference, &*better.notes), (true, "as of the lease"));
    let same = ruled(told(Model)).writes.remove(0).fact;
    assert_eq!((same.tags, same.entities.len(), same.preference), (vec!["home".into()], 0, false));
    assert_eq!((&*same.notes, same.evidence.len()), ("", 2));
}
