//! The channels of a place where runs work, and delivering through them.

use std::collections::BTreeMap;

use countersign_contract::Timestamp;
use countersign_protocol::{ChannelSubscription, merge_subscriptions};
use countersign_run::{InputKind, RunDelivery};

use super::chat_payload::{build_slack_message, build_teams_card};
use super::delivery_text::DeliveryText;
use super::email::send_email;
use super::http_post::{parse_channel_url, post_json};
use super::webhook::{build_webhook_body, compute_message_id, parse_webhook_secret, sign_webhook};
use super::{
    ChannelDefinition, ChannelKind, DeliveryError, DeliveryFailure, DeliveryReceipt, SecretSource,
};

/// The channels that runs can be subscribed to; none by default.
#[derive(Debug, Clone, Default)]
pub struct ChannelSet {
    channels: BTreeMap<String, ChannelDefinition>,
    /// Address under which people reach the web page, for links; no links if absent.
    public_url: Option<String>,
    /// Why no channel may be used, in a sentence: the settings file is not trusted.
    refusal: Option<String>,
}

/// What a delivery needs beside its own content.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryContext<'d> {
    /// Name of the run's tenant.
    pub tenant: &'d str,
    /// Id of the run.
    pub run: &'d str,
    /// Address under which people reach the web page; no links if absent.
    pub public_url: Option<&'d str>,
    /// Time of the attempt.
    pub now: Timestamp,
}

impl DeliveryContext<'_> {
    /// The address of the run's page.
    pub(super) fn link(&self) -> Option<String> {
        let base = self.public_url?.trim_end_matches('/');
        let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
        self.run.chars().all(plain).then(|| format!("{base}/runs/{}", self.run))
    }

    /// The id that receivers see.
    pub(super) fn message_id(&self, delivery: &RunDelivery) -> String {
        compute_message_id(self.tenant, self.run, &delivery.id)
    }
}

impl ChannelSet {
    /// Creates a set of channels.
    #[must_use]
    pub fn new(channels: impl IntoIterator<Item = ChannelDefinition>) -> Self {
        let channels = channels.into_iter().map(|one| (one.name.clone(), one)).collect();
        Self { channels, public_url: None, refusal: None }
    }

    /// Sets the address under which people reach the web page.
    #[must_use]
    pub fn with_public_url(self, url: Option<String>) -> Self {
        Self { public_url: url, ..self }
    }

    /// Refuses every delivery with this sentence, and subscribes no run.
    #[must_use]
    pub fn refuse_deliveries(self, reason: impl Into<String>) -> Self {
        Self { refusal: Some(reason.into()), ..self }
    }

    /// The channels, in the order of their names.
    pub fn list_channels(&self) -> impl Iterator<Item = &ChannelDefinition> {
        self.channels.values()
    }

    /// Finds a channel by its name.
    #[must_use]
    pub fn find_channel(&self, name: &str) -> Option<&ChannelDefinition> {
        self.channels.get(name)
    }

    /// What every run of a tenant that starts here is subscribed to.
    #[must_use]
    pub fn list_subscriptions(&self, tenant: &str) -> Vec<ChannelSubscription> {
        if self.refusal.is_some() {
            return Vec::new();
        }
        let own = self.channels.values().filter(|one| one.tenants.iter().any(|it| it == tenant));
        merge_subscriptions(own.filter_map(|one| one.subscription.as_ref()))
    }

    /// Delivers, and returns the input that reports the result to the run.
    pub(crate) async fn deliver_for_run(
        &self,
        action: &str,
        attempt: u32,
        delivery: &RunDelivery,
        context: DeliveryContext<'_>,
    ) -> InputKind {
        let action = action.to_owned();
        match self.deliver(delivery, context).await {
            Ok(_) => InputKind::DeliveryFinished { action },
            Err(error) => {
                let id = context.message_id(delivery);
                let retry = self.channels.get(&delivery.channel).map(|one| one.retry);
                let times = (delivery.time, context.now);
                let retry_in = retry.unwrap_or_default().plan_retry(&id, attempt, times, &error);
                let failure = error.failure.as_str().to_owned();
                InputKind::DeliveryFailed { action, failure, message: error.message, retry_in }
            }
        }
    }

    /// Delivers once.
    ///
    /// # Errors
    /// Returns why the receiver did not accept the delivery, without its address or secrets.
    pub async fn deliver(
        &self,
        delivery: &RunDelivery,
        context: DeliveryContext<'_>,
    ) -> Result<DeliveryReceipt, DeliveryError> {
        let name = &delivery.channel;
        let channel = self.channels.get(name);
        let Some(channel) = channel.filter(|one| one.tenants.iter().any(|it| it == context.tenant))
        else {
            let message = format!(
                "no channel `{name}` is defined here for tenant `{}`; define it as `[channels.{name}]` in countersign.toml",
                context.tenant
            );
            return Err(DeliveryError::new(DeliveryFailure::UnknownChannel, message));
        };
        if let Some(reason) = &self.refusal {
            return Err(DeliveryError::new(DeliveryFailure::NotTrusted, reason.clone()));
        }
        let context = DeliveryContext { public_url: self.public_url.as_deref(), ..context };
        let (id, limit) = (context.message_id(delivery), channel.timeout);
        let misconfigured = |what: String| {
            let message = format!("channel `{name}` cannot be used: {what}");
            DeliveryError::new(DeliveryFailure::Misconfigured, message)
        };
        let load = |secret: &SecretSource| secret.load_secret().map_err(misconfigured);
        let load_url = |url: &SecretSource| parse_channel_url(&load(url)?).map_err(misconfigured);
        let text = || DeliveryText::from_delivery(delivery, &context);
        let (url, headers, body) = match &channel.kind {
            ChannelKind::Webhook { url, secrets } => {
                let parse = |text: String| parse_webhook_secret(&text).map_err(misconfigured);
                let secrets = secrets.iter().map(|one| parse(load(one)?));
                let secrets = secrets.collect::<Result<Vec<_>, _>>()?;
                let body = build_webhook_body(delivery, &context);
                let headers = sign_webhook(&id, context.now, &body, &secrets);
                (load_url(url)?, headers, body)
            }
            ChannelKind::Slack { url } => {
                let body = build_slack_message(&text()).to_string();
                (load_url(url)?, reqwest::header::HeaderMap::new(), body)
            }
            ChannelKind::Teams { url } => {
                let body = build_teams_card(&text()).to_string();
                (load_url(url)?, reqwest::header::HeaderMap::new(), body)
            }
            ChannelKind::Email(settings) => {
                return send_email(settings, &id, context.now, &text(), limit).await;
            }
        };
        post_json(url, headers, body, limit).await
    }
}
