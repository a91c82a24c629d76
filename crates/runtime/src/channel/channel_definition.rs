//! What a channel is: its kind with address and secrets, its limits, and who uses it.

use std::time::Duration;

use countersign_protocol::ChannelSubscription;

use super::{DeliveryRetryPolicy, SecretSource};

/// Longest time that one attempt may take, in seconds.
pub const MAX_TIMEOUT_SECS: u64 = 60;

/// A channel of the settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelDefinition {
    /// Its name, by which protocols refer to it.
    pub name: String,
    /// How it delivers.
    pub kind: ChannelKind,
    /// What it is told of every run that starts here; absent if only protocols subscribe it.
    pub subscription: Option<ChannelSubscription>,
    /// When a failed delivery is attempted again, and when it is given up.
    pub retry: DeliveryRetryPolicy,
    /// Longest time that one attempt may take; 1 to 60 seconds, 10 by default.
    pub timeout: Duration,
    /// Names of the tenants whose runs may use it; `default` by default.
    pub tenants: Vec<String>,
}

/// How a channel delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelKind {
    /// A signed JSON request, by the Standard Webhooks convention.
    Webhook {
        /// The address that receives the requests.
        url: SecretSource,
        /// One or two secrets; with two, every request has a signature of each.
        secrets: Vec<SecretSource>,
    },
    /// A message to an incoming webhook of Slack.
    Slack {
        /// The address of the incoming webhook, which is a secret.
        url: SecretSource,
    },
    /// A card to a workflow webhook of Microsoft Teams.
    Teams {
        /// The address of the workflow webhook, which is a secret.
        url: SecretSource,
    },
    /// A mail over SMTP.
    Email(EmailSettings),
}

impl ChannelKind {
    /// The name in the settings file.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook",
            Self::Slack { .. } => "slack",
            Self::Teams { .. } => "teams",
            Self::Email(_) => "email",
        }
    }
}

/// The mail server, sender and receivers of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmailSettings {
    /// Name or address of the mail server.
    pub host: String,
    /// Port of the mail server.
    pub port: u16,
    /// How the connection is protected.
    pub encryption: SmtpEncryption,
    /// User name and password; absent if the server needs none.
    pub login: Option<(String, SecretSource)>,
    /// Address of the sender.
    pub from: String,
    /// Addresses of the receivers, at least one.
    pub to: Vec<String>,
}

/// How a connection to a mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpEncryption {
    /// TLS begins after a plain greeting; a server without STARTTLS is refused. Port 587.
    Starttls,
    /// TLS from the first byte. Port 465.
    Tls,
    /// No encryption, which is only allowed for a server on this machine.
    None,
}

impl ChannelDefinition {
    /// Returns the environment variable that the channel needs and that is not set, if there is one.
    #[must_use]
    pub fn find_missing_variable(&self) -> Option<&str> {
        let sources: Vec<&SecretSource> = match &self.kind {
            ChannelKind::Webhook { url, secrets } => secrets.iter().chain([url]).collect(),
            ChannelKind::Slack { url } | ChannelKind::Teams { url } => vec![url],
            ChannelKind::Email(mail) => mail.login.iter().map(|(_, password)| password).collect(),
        };
        sources.into_iter().find_map(|source| match source {
            SecretSource::MissingVariable(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Describes the channel in one line for people who decide whether to trust it: where it
    /// delivers, and which secrets it uses, without their content.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { name, kind, .. } = self;
        let (to, secrets): (String, Vec<&SecretSource>) = match kind {
            ChannelKind::Webhook { url, secrets } => (describe_url(url), secrets.iter().collect()),
            ChannelKind::Slack { url } | ChannelKind::Teams { url } => {
                (describe_url(url), Vec::new())
            }
            ChannelKind::Email(mail) => {
                let EmailSettings { host, port, login, to, .. } = mail;
                let secrets = login.iter().map(|(_, password)| password).collect();
                (format!("{host}:{port} for {}", to.join(", ")), secrets)
            }
        };
        let secrets: Vec<String> = secrets.into_iter().map(ToString::to_string).collect();
        let secrets = match &secrets[..] {
            [] => String::new(),
            some => format!(" with a secret from {}", some.join(" and ")),
        };
        format!("channel {name}: {} to {to}{secrets}", kind.as_str())
    }
}

/// Describes an address by its server, because path and query may be secret.
fn describe_url(url: &SecretSource) -> String {
    let SecretSource::Text { text, origin } = url else {
        return format!("the address from {url}");
    };
    match reqwest::Url::parse(text) {
        Ok(url) if !origin.starts_with("environment") => super::http_post::format_server(&url),
        _ => format!("the address from {origin}"),
    }
}
