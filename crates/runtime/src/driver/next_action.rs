//! Selects the next action to perform.

use countersign_run::{PendingAction, RunState, Timestamp};

/// Returns the next action: the oldest one that is ready and not listed in `left`. Deliveries are
/// not among them; they are performed beside the other actions.
pub(super) fn select_next_action(
    state: &RunState,
    now: Timestamp,
    left: &[String],
) -> Option<(String, PendingAction)> {
    let ready = state.ready_actions(now).filter(|(id, _)| !left.contains(id));
    let ours = ready.filter(|(_, order)| !matches!(order, PendingAction::Delivery { .. }));
    let next = ours.min_by_key(|(id, _)| parse_action_id(id));
    next.map(|(id, order)| (id.clone(), order.clone()))
}

/// Parses an action id, which is a version and a number within it, so that `10.1` sorts after
/// `9.2`.
fn parse_action_id(id: &str) -> (u64, u64) {
    let (version, number) = id.split_once('.').unwrap_or((id, "0"));
    let read = |text: &str| text.parse().unwrap_or(u64::MAX);
    (read(version), read(number))
}

#[cfg(test)]
mod tests {
    use countersign_run::{RunNotification, ToolCall};

    use super::*;

    fn tool() -> PendingAction {
        PendingAction::Tool { call: ToolCall::read_file("a") }
    }

    fn state(orders: impl IntoIterator<Item = (&'static str, PendingAction)>) -> RunState {
        let mut state = RunState::new("r1");
        state.pending.extend(orders.into_iter().map(|(id, order)| (id.to_owned(), order)));
        state
    }

    fn in_turn(mut state: RunState) -> Vec<String> {
        let mut done = Vec::new();
        while let Some((id, _)) = select_next_action(&state, Timestamp(0), &[]) {
            state.pending.remove(&id);
            done.push(id);
        }
        done
    }

    #[test]
    fn orders_are_done_in_the_order_they_were_asked_for() {
        let asked = ["10.1", "9.2", "9.10", "9.1", "100.1"].map(|id| (id, tool()));
        assert_eq!(in_turn(state(asked)), ["9.1", "9.2", "9.10", "10.1", "100.1"]);
    }

    #[test]
    fn a_halted_run_tells_what_it_has_to_and_does_nothing_else() {
        let tell = PendingAction::Notify {
            run: "r0".into(),
            notification: RunNotification::ChildEnded { action: "1.1".into() },
        };
        let mut state = state([("1.1", tool()), ("2.1", tell)]);
        state.halted = Some(("anna".to_owned(), None));
        assert_eq!(in_turn(state), ["2.1"]);
    }

    #[test]
    fn what_is_not_due_or_left_for_others_waits() {
        let model = PendingAction::Model { not_before: Some(Timestamp(5)) };
        let state = state([("1.1", model), ("1.2", tool())]);
        assert_eq!(select_next_action(&state, Timestamp(4), &["1.2".to_owned()]), None);
        assert_eq!(select_next_action(&state, Timestamp(5), &[]).unwrap().0, "1.1");
    }
}
