//! Reads the channels of the settings file: the tables `[channels.NAME]`.
//!
//! A secret is never written into the file: it comes from an environment variable or from a file of
//! its own.

use std::path::Path;
use std::time::Duration;

use countersign_protocol::{
    ChannelEvent, ChannelSubscription, MAX_CHANNELS, is_channel_name, parse_duration,
};
use countersign_runtime::channel::{
    ChannelDefinition, ChannelKind, DeliveryRetryPolicy, EmailSettings, MAX_DELIVERY_ATTEMPTS,
    MAX_TIMEOUT_SECS, SecretSource, SmtpEncryption,
};

use crate::exit::CliError;
use crate::settings::env_var;

/// The table of the settings file that defines channels.
pub(crate) const CHANNELS_TABLE: &str = "channels";

/// The keys of every channel.
const COMMON_KEYS: [&str; 8] =
    ["kind", "on", "remind_before", "subject", "max_attempts", "max_time", "timeout", "tenants"];

/// The kinds of channel with the keys that only they have.
const KINDS: [(&str, &[&str]); 4] = [
    ("webhook", &["url", "secret", "previous_secret"]),
    ("slack", &["url"]),
    ("teams", &["url"]),
    ("email", &["server", "encryption", "user", "password", "from", "to"]),
];

/// Reads the channels. `file` names the settings file in messages; paths of secrets are relative to
/// `base`.
pub(crate) fn parse_channels(
    table: Option<&toml::Value>,
    file: &str,
    base: &Path,
) -> Result<Vec<ChannelDefinition>, CliError> {
    let wrong = |what: String| CliError::Usage(format!("`{file}`: {what}"));
    let Some(table) = table else { return Ok(Vec::new()) };
    let Some(table) = table.as_table() else {
        return Err(wrong("`channels` must contain tables: `[channels.NAME]`".to_owned()));
    };
    if table.len() > MAX_CHANNELS {
        return Err(wrong(format!(
            "{} channels are defined; the limit is {MAX_CHANNELS}",
            table.len()
        )));
    }
    let read = |(name, channel): (&String, &toml::Value)| {
        if !is_channel_name(name) {
            return Err(wrong(format!(
                "`{name}` is not a name of a channel; expected a lower-case letter, then letters, digits, `-` or `_`"
            )));
        }
        let reader = ChannelReader { name, table: channel.as_table(), base };
        reader.read_channel().map_err(|what| wrong(format!("[channels.{name}]: {what}")))
    };
    table.iter().map(read).collect()
}

/// One table, with accessors whose errors say what was expected.
struct ChannelReader<'t> {
    name: &'t str,
    table: Option<&'t toml::Table>,
    base: &'t Path,
}

impl ChannelReader<'_> {
    fn get(&self, key: &str) -> Option<&toml::Value> {
        self.table?.get(key)
    }

    fn read_channel(&self) -> Result<ChannelDefinition, String> {
        let kinds = KINDS.map(|(kind, _)| kind).join(", ");
        let kind = self.get("kind").and_then(toml::Value::as_str);
        let Some((kind, own)) = KINDS.into_iter().find(|(name, _)| Some(*name) == kind) else {
            return Err(format!("`kind` must be one of {kinds}"));
        };
        let known = |key: &str| COMMON_KEYS.contains(&key) || own.contains(&key);
        if let Some(other) = self.table.into_iter().flatten().find(|(key, _)| !known(key)) {
            let known = COMMON_KEYS.into_iter().chain(own.iter().copied());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(format!("unknown key `{}`; a {kind} channel has {known}", other.0));
        }
        let kind = match kind {
            "webhook" => self.read_webhook()?,
            "slack" => ChannelKind::Slack { url: self.read_url()? },
            "teams" => ChannelKind::Teams { url: self.read_url()? },
            _ => ChannelKind::Email(self.read_email()?),
        };
        let timeout = self.read_duration("timeout")?.unwrap_or(10_000);
        if timeout < 1_000 || timeout > MAX_TIMEOUT_SECS as i64 * 1_000 {
            return Err(format!("`timeout` must be from 1s to {MAX_TIMEOUT_SECS}s"));
        }
        let tenants = self.read_texts("tenants")?.unwrap_or_else(|| vec!["default".to_owned()]);
        Ok(ChannelDefinition {
            name: self.name.to_owned(),
            kind,
            subscription: self.read_subscription()?,
            retry: self.read_retry()?,
            timeout: to_duration(timeout),
            tenants,
        })
    }

    fn read_webhook(&self) -> Result<ChannelKind, String> {
        let secret = self.read_secret("secret")?;
        let Some(secret) = secret else {
            return Err(format!("a webhook needs a `secret`: {SECRET_FORM}"));
        };
        let secrets = std::iter::once(secret).chain(self.read_secret("previous_secret")?);
        Ok(ChannelKind::Webhook { url: self.read_url()?, secrets: secrets.collect() })
    }

    fn read_url(&self) -> Result<SecretSource, String> {
        match self.get("url") {
            Some(toml::Value::String(text)) => {
                Ok(SecretSource::Text { text: text.clone(), origin: "`url`".to_owned() })
            }
            Some(_) => self.read_secret("url")?.ok_or_else(|| "`url` is empty".to_owned()),
            None => Err(format!("`url` is missing: an address, or {SECRET_FORM}")),
        }
    }

    fn read_email(&self) -> Result<EmailSettings, String> {
        let encryption = match self.read_text("encryption")? {
            None | Some("starttls") => SmtpEncryption::Starttls,
            Some("tls") => SmtpEncryption::Tls,
            Some("none") => SmtpEncryption::None,
            Some(other) => {
                return Err(format!("`encryption` must be starttls, tls or none, found `{other}`"));
            }
        };
        let default = match encryption {
            SmtpEncryption::Starttls => 587,
            SmtpEncryption::Tls => 465,
            SmtpEncryption::None => 25,
        };
        let server =
            self.read_text("server")?.ok_or("`server` is missing: `smtp.example.org:587`")?;
        let (host, port) = match server.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && !host.ends_with(':') => {
                let port =
                    port.parse().map_err(|_| format!("`{port}` in `server` is not a port"))?;
                (host, port)
            }
            _ => (server, default),
        };
        let local = matches!(host, "localhost" | "127.0.0.1" | "::1" | "[::1]");
        if encryption == SmtpEncryption::None && !local {
            return Err(
                "`encryption = \"none\"` is only allowed for a server on this machine".to_owned()
            );
        }
        let login = match (self.read_text("user")?, self.read_secret("password")?) {
            (Some(user), Some(password)) => Some((user.to_owned(), password)),
            (None, None) => None,
            _ => return Err("`user` and `password` belong together".to_owned()),
        };
        let from = self.read_text("from")?.ok_or("`from` is missing: a mail address")?.to_owned();
        let to = self.read_texts("to")?.filter(|to| !to.is_empty());
        let to = to.ok_or("`to` is missing: a list of mail addresses")?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(EmailSettings { host, port, encryption, login, from, to })
    }

    fn read_subscription(&self) -> Result<Option<ChannelSubscription>, String> {
        let remind_before = self.read_duration("remind_before")?;
        let subject = match self.get("subject") {
            None => false,
            Some(value) => value.as_bool().ok_or("`subject` must be true or false")?,
        };
        let Some(names) = self.read_texts("on")? else {
            let unused = (remind_before.is_some() || subject)
                .then(|| "`remind_before` and `subject` need `on`".to_owned());
            return unused.map_or(Ok(None), Err);
        };
        let event = |name: &String| {
            ChannelEvent::parse(name).ok_or_else(|| {
                let known = ChannelEvent::ALL.map(ChannelEvent::as_str).join(", ");
                format!("`on` has `{name}`; expected some of {known}")
            })
        };
        let on = names.iter().map(event).collect::<Result<_, _>>()?;
        let channel = self.name.to_owned();
        Ok(Some(ChannelSubscription { channel, on, remind_before, subject }))
    }

    fn read_retry(&self) -> Result<DeliveryRetryPolicy, String> {
        let mut retry = DeliveryRetryPolicy::default();
        if let Some(value) = self.get("max_attempts") {
            let attempts = value.as_integer().and_then(|value| u32::try_from(value).ok());
            let attempts =
                attempts.filter(|attempts| (1..=MAX_DELIVERY_ATTEMPTS).contains(attempts));
            retry.max_attempts = attempts.ok_or_else(|| {
                format!("`max_attempts` must be a whole number from 1 to {MAX_DELIVERY_ATTEMPTS}")
            })?;
        }
        if let Some(millis) = self.read_duration("max_time")? {
            retry.max_time = to_duration(millis);
        }
        Ok(retry)
    }

    /// Reads a secret: `{ env = "NAME" }` or `{ file = "PATH" }`.
    fn read_secret(&self, key: &str) -> Result<Option<SecretSource>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let form = || format!("`{key}` must be {SECRET_FORM}");
        let table = value.as_table().filter(|table| table.len() == 1).ok_or_else(form)?;
        let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
        match (text("env"), text("file")) {
            (Some(name), _) => Ok(Some(match env_var(name) {
                Some(text) => {
                    SecretSource::Text { text, origin: format!("environment variable {name}") }
                }
                None => SecretSource::MissingVariable(name.to_owned()),
            })),
            (None, Some(path)) => Ok(Some(SecretSource::File(self.base.join(path)))),
            (None, None) => Err(form()),
        }
    }

    fn read_text(&self, key: &str) -> Result<Option<&str>, String> {
        let text = |value: &'_ toml::Value| value.as_str().is_some();
        match self.get(key) {
            None => Ok(None),
            Some(value) if text(value) => Ok(value.as_str()),
            Some(other) => Err(format!("`{key}` must be a string, found {}", other.type_str())),
        }
    }

    fn read_texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let texts = value.as_array().and_then(|list| {
            list.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        texts.map(Some).ok_or_else(|| format!("`{key}` must be a list of strings"))
    }

    /// Reads a duration, in milliseconds.
    fn read_duration(&self, key: &str) -> Result<Option<i64>, String> {
        let Some(text) = self.read_text(key)? else { return Ok(None) };
        let duration = parse_duration(text);
        let wrong =
            || format!("`{key}` must be a duration such as `30s`, `5m` or `2d`, found `{text}`");
        duration.map(|duration| Some(duration.millis)).ok_or_else(wrong)
    }
}

/// How a secret is written, for messages.
const SECRET_FORM: &str = "`{ env = \"NAME\" }` or `{ file = \"PATH\" }`";

fn to_duration(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<ChannelDefinition>, String> {
        let table: toml::Table = text.parse().unwrap();
        parse_channels(table.get(CHANNELS_TABLE), "countersign.toml", Path::new("/base"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_is_read_and_shows_no_secret() {
        let channels = parse(
            r#"
            [channels.finance]
            kind = "webhook"
            url = "https://example.org/hooks/secret-path"
            secret = { file = "secrets/new" }
            previous_secret = { env = "COUNTERSIGN_TEST_UNSET" }
            on = ["wait_opened", "run_ended"]
            remind_before = "2h"
            max_attempts = 3
            max_time = "1h"
            timeout = "5s"
            [channels.chat]
            kind = "slack"
            url = { env = "COUNTERSIGN_TEST_UNSET" }
            tenants = ["acme"]
            [channels.mail]
            kind = "email"
            server = "smtp.example.org:2525"
            user = "bot"
            password = { file = "/run/secrets/smtp" }
            from = "bot@example.org"
            to = ["anna@example.org", "bob@example.org"]
            "#,
        );
        let channels = channels.unwrap();
        let described: Vec<String> = channels.iter().map(ChannelDefinition::describe).collect();
        assert_eq!(
            described,
            [
                "channel chat: slack to the address from environment variable COUNTERSIGN_TEST_UNSET",
                "channel finance: webhook to https://example.org with a secret from file /base/secrets/new and environment variable COUNTERSIGN_TEST_UNSET",
                "channel mail: email to smtp.example.org:2525 for anna@example.org, bob@example.org with a secret from file /run/secrets/smtp",
            ]
        );
        assert_eq!(channels[1].retry.max_attempts, 3);
        assert_eq!(channels[1].timeout, Duration::from_secs(5));
        assert_eq!(channels[1].subscription.as_ref().unwrap().remind_before, Some(7_200_000));
        assert_eq!(
            (&channels[0].tenants[..], &channels[0].subscription),
            (&["acme".to_owned()][..], &None)
        );
    }

    #[test]
    fn mistakes_name_the_place_and_what_was_expected() {
        let check = |text: &str, expected: &str| {
            let error = parse(text).unwrap_err();
            assert_eq!(error, format!("`countersign.toml`: {expected}"));
        };
        check("channels = 1", "`channels` must contain tables: `[channels.NAME]`");
        check(
            "[channels.x]\nkind = 1",
            "[channels.x]: `kind` must be one of webhook, slack, teams, email",
        );
        check(
            "[channels.x]\nkind = \"slack\"\nurl = \"https://a.b/\"\nsecret = 1",
            "[channels.x]: unknown key `secret`; a slack channel has kind, on, remind_before, subject, max_attempts, max_time, timeout, tenants, url",
        );
        check(
            "[channels.x]\nkind = \"webhook\"\nurl = \"https://a.b/\"\nsecret = \"whsec_x\"",
            "[channels.x]: `secret` must be `{ env = \"NAME\" }` or `{ file = \"PATH\" }`",
        );
        check(
            "[channels.x]\nkind = \"slack\"\nurl = \"https://a.b/\"\non = [\"run_start\"]",
            "[channels.x]: `on` has `run_start`; expected some of wait_closed, wait_superseded, wait_opened, deadline_near, run_blocked, run_ended",
        );
        check(
            "[channels.x]\nkind = \"email\"\nserver = \"mail.example.org\"\nencryption = \"none\"",
            "[channels.x]: `encryption = \"none\"` is only allowed for a server on this machine",
        );
        check(
            "[channels.x]\nkind = \"slack\"\nurl = \"https://a.b/\"\ntimeout = \"2m\"",
            "[channels.x]: `timeout` must be from 1s to 60s",
        );
        check(
            "[channels.\"A b\"]\nkind = \"slack\"",
            "`A b` is not a name of a channel; expected a lower-case letter, then letters, digits, `-` or `_`",
        );
    }
}
