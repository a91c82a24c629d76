//! Deliveries to the channels that the run is subscribed to: requests them at the end of every
//! decision, plans reminders, and handles the results.
//!
//! What is delivered follows from the waits before and after the decision, so that a wait that one
//! decision opens and closes is not mentioned.

use std::collections::BTreeMap;

use countersign_protocol::{ChannelEvent, ChannelSubscription};

use super::run_decision::RunDecision;
use super::size_limits::clip_text;
use crate::Timestamp;
use crate::delivery::{DeliveredWait, RunDelivery};
use crate::event::RunEvent;
use crate::pending_action::PendingAction;
use crate::state::BlockReason;
use crate::wait::{RunWait, WaitResolution};

/// Maximum number of attempts of one delivery, whatever the channel says.
const MAX_ATTEMPTS: u32 = 100;

/// Longest pause between two attempts, in milliseconds: one day.
const MAX_PAUSE_MS: i64 = 86_400_000;

/// Bounds in milliseconds of the default time between a reminder and its deadline.
const REMIND_BEFORE_MS: std::ops::RangeInclusive<i64> = 60_000..=86_400_000;

/// Something that channels are told, before it is addressed.
struct RunNews<'w> {
    event: ChannelEvent,
    wait: Option<(&'w RunWait, Option<WaitResolution>)>,
    reason: Option<String>,
    /// The channels that are due, for a reminder; all subscribed ones if `None`.
    channels: Option<&'w [String]>,
}

impl RunDecision<'_> {
    /// Plans when each channel is reminded of a wait's deadline. Channels whose reminder would come
    /// at once get none.
    pub(super) fn plan_reminders(
        &self,
        deadline: Option<Timestamp>,
    ) -> BTreeMap<String, Timestamp> {
        let opened = self.input.time;
        let Some(deadline) = deadline else { return BTreeMap::new() };
        let remind = |one: &ChannelSubscription| {
            let whole = i64::try_from(deadline.millis_since(opened)).unwrap_or(i64::MAX);
            let default = (whole / 10).clamp(*REMIND_BEFORE_MS.start(), *REMIND_BEFORE_MS.end());
            let before = one.remind_before.unwrap_or(default);
            let wanted = one.on.contains(&ChannelEvent::DeadlineNear) && before < whole;
            wanted.then(|| (one.channel.clone(), deadline.plus_millis(-before)))
        };
        self.state.channels.iter().filter_map(remind).collect()
    }

    /// Records which channels are reminded of a deadline now; `false` if none is due.
    pub(super) fn remind_of_deadline(&mut self) -> bool {
        let now = self.input.time;
        let due = self.state.waits.values().find_map(|wait| {
            let due = wait.reminders.iter().filter(|(_, at)| **at <= now);
            let channels: Vec<String> = due.map(|(channel, _)| channel.clone()).collect();
            (!channels.is_empty()).then(|| (wait.id.clone(), channels))
        });
        let Some((wait, channels)) = due else { return false };
        self.emit(RunEvent::DeadlineNear { wait, channels });
        true
    }

    /// Requests a delivery for everything that this decision made true, to each channel that is
    /// subscribed to it.
    pub(super) fn request_deliveries(&mut self) {
        let channels = self.state.channels.clone();
        if channels.is_empty() {
            return;
        }
        let mut deliveries = Vec::new();
        for news in self.collect_news() {
            for to in &channels {
                if let Some(event) = news.event_for(to) {
                    deliveries.push(self.build_delivery(&news, event, to));
                }
            }
        }
        for delivery in deliveries {
            let action = self.next_action_id();
            let delivery = Box::new(RunDelivery { id: action.clone(), ..delivery });
            let (attempt, not_before) = (1, None);
            self.emit(RunEvent::DeliveryRequested { action, attempt, delivery, not_before });
        }
    }

    /// What this decision made true, in the order of [`ChannelEvent::ALL`].
    fn collect_news(&self) -> Vec<RunNews<'_>> {
        let (before, after) = (&self.before.waits, &self.state.waits);
        let mut news = Vec::new();
        for wait in before.values().filter(|wait| !after.contains_key(&wait.id)) {
            let replaced = after.values().any(|open| open.supersedes.contains(&wait.id));
            if !replaced {
                let resolution = self.find_resolution(&wait.id);
                news.push(RunNews::from_wait(ChannelEvent::WaitClosed, wait, resolution));
            }
        }
        for wait in after.values().filter(|wait| !before.contains_key(&wait.id)) {
            let asked_before = wait.supersedes.iter().any(|old| before.contains_key(old));
            let event =
                if asked_before { ChannelEvent::WaitSuperseded } else { ChannelEvent::WaitOpened };
            news.push(RunNews::from_wait(event, wait, None));
        }
        for event in &self.events {
            if let RunEvent::DeadlineNear { wait, channels } = event
                && let Some(wait) = after.get(wait)
            {
                let channels = Some(&channels[..]);
                let near = RunNews::from_wait(ChannelEvent::DeadlineNear, wait, None);
                news.push(RunNews { channels, ..near });
            }
        }
        if let Some(blocked) = &self.state.blocked
            && self.events.iter().any(|event| matches!(event, RunEvent::Blocked { .. }))
        {
            let reason = Some(describe_block(blocked));
            news.push(RunNews::from_run(ChannelEvent::RunBlocked, reason));
        }
        if let (Some((_, reason)), None) = (&self.state.end, &self.before.end) {
            news.push(RunNews::from_run(ChannelEvent::RunEnded, reason.clone()));
        }
        news
    }

    fn find_resolution(&self, closed: &str) -> Option<WaitResolution> {
        self.events.iter().find_map(|event| match event {
            RunEvent::WaitClosed { wait, resolution } if wait == closed => Some(resolution.clone()),
            _ => None,
        })
    }

    fn build_delivery(
        &self,
        news: &RunNews<'_>,
        event: ChannelEvent,
        to: &ChannelSubscription,
    ) -> RunDelivery {
        let wait = news.wait.as_ref().map(|(wait, resolution)| {
            let question = clip_text(wait.question.clone());
            let delivered = DeliveredWait::from_wait(wait, question, to.subject);
            DeliveredWait { resolution: resolution.clone(), ..delivered }
        });
        let ended = event == ChannelEvent::RunEnded;
        RunDelivery {
            id: String::new(),
            channel: to.channel.clone(),
            event,
            time: self.input.time,
            protocol: self.protocol.name.clone(),
            workflow: self.state.workflow.clone(),
            phase: self.state.phase.clone(),
            title: self.state.title.clone(),
            wait,
            end: self.state.end.as_ref().filter(|_| ended).map(|(end, _)| *end),
            reason: news.reason.clone().map(clip_text),
        }
    }

    /// Handles a failed attempt: the delivery is requested again, or given up.
    pub(super) fn handle_delivery_failed(
        &mut self,
        action: &str,
        failure: &str,
        message: &str,
        retry_in: Option<i64>,
    ) {
        let failed = self.before.pending.get(action);
        let Some(PendingAction::Delivery { attempt, delivery, .. }) = failed else { return };
        let pause = retry_in.filter(|_| *attempt < MAX_ATTEMPTS);
        let retry_at = pause.map(|pause| self.input.time.plus_millis(pause.clamp(1, MAX_PAUSE_MS)));
        self.emit(RunEvent::DeliveryFailed {
            action: action.to_owned(),
            failure: failure.to_owned(),
            message: clip_text(message),
            retry_at,
        });
        if let Some(retry_at) = retry_at {
            let (attempt, delivery) = (attempt + 1, delivery.clone());
            let (action, not_before) = (self.next_action_id(), Some(retry_at));
            self.emit(RunEvent::DeliveryRequested { action, attempt, delivery, not_before });
        }
    }
}

impl<'w> RunNews<'w> {
    fn from_wait(
        event: ChannelEvent,
        wait: &'w RunWait,
        resolution: Option<WaitResolution>,
    ) -> Self {
        Self { event, wait: Some((wait, resolution)), reason: None, channels: None }
    }

    fn from_run(event: ChannelEvent, reason: Option<String>) -> Self {
        Self { event, wait: None, reason, channels: None }
    }

    /// The event under which a channel is told; `None` if it is not subscribed to it. A channel
    /// that asks for opened waits, but not for superseded ones, is told that the new wait opened.
    fn event_for(&self, to: &ChannelSubscription) -> Option<ChannelEvent> {
        if self.channels.is_some_and(|due| !due.contains(&to.channel)) {
            return None;
        }
        let opened = ChannelEvent::WaitOpened;
        match self.event {
            event if to.on.contains(&event) => Some(event),
            ChannelEvent::WaitSuperseded if to.on.contains(&opened) => Some(opened),
            _ => None,
        }
    }
}

/// Describes for people what blocks a run.
fn describe_block(blocked: &BlockReason) -> String {
    match blocked {
        BlockReason::Budget { budget, limit } => {
            format!("the budget `{budget}` is spent; its limit is {limit}")
        }
        BlockReason::Refused => "every attempt of the model step was refused".to_owned(),
        BlockReason::MissingTicket { phase, ticket } => {
            format!("phase `{phase}` needs the ticket `{ticket}`, which the run does not hold")
        }
        BlockReason::Incident { message } => message.clone(),
    }
}
