//! Mail over SMTP: plain text, one message per delivery to all receivers of the channel.

use std::time::{Duration, SystemTime};

use countersign_contract::Timestamp;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};

use super::delivery_text::{DeliveryText, clean_line, truncate_chars};
use super::{DeliveryError, DeliveryFailure, DeliveryReceipt, EmailSettings, SmtpEncryption};

/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 150;

/// Says that a program sent the mail, so that no mailbox answers it.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Sends a mail. `id` is the same for every attempt and becomes the Message-ID.
pub(super) async fn send_email(
    settings: &EmailSettings,
    id: &str,
    now: Timestamp,
    text: &DeliveryText,
    limit: Duration,
) -> Result<DeliveryReceipt, DeliveryError> {
    let misconfigured =
        |message: String| DeliveryError::new(DeliveryFailure::Misconfigured, message);
    let message = build_message(settings, id, now, text).map_err(misconfigured)?;
    let transport = build_transport(settings, limit).map_err(misconfigured)?;
    let server = format!("{}:{}", settings.host, settings.port);
    // The limit of the transport counts for each command; this one for all of them.
    let Ok(sent) = tokio::time::timeout(limit, transport.send(message)).await else {
        let message = format!("the mail server {server} took longer than {limit:?}");
        return Err(DeliveryError::new(DeliveryFailure::TimedOut, message));
    };
    match sent {
        Ok(response) => Ok(DeliveryReceipt { answer: format!("status {}", response.code()) }),
        Err(error) => Err(to_delivery_error(&server, limit, &error)),
    }
}

fn build_transport(
    settings: &EmailSettings,
    limit: Duration,
) -> Result<AsyncSmtpTransport<Tokio1Executor>, String> {
    let EmailSettings { host, port, encryption, login, .. } = settings;
    let tls =
        || TlsParameters::new(host.clone()).map_err(|error| format!("TLS cannot be used: {error}"));
    let tls = match encryption {
        SmtpEncryption::None => Tls::None,
        SmtpEncryption::Starttls => Tls::Required(tls()?),
        SmtpEncryption::Tls => Tls::Wrapper(tls()?),
    };
    let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host.as_str());
    let builder = builder.port(*port).tls(tls).timeout(Some(limit));
    Ok(match login {
        Some((user, password)) => {
            builder.credentials(Credentials::new(user.clone(), password.load_secret()?)).build()
        }
        None => builder.build(),
    })
}

fn build_message(
    settings: &EmailSettings,
    id: &str,
    now: Timestamp,
    text: &DeliveryText,
) -> Result<Message, String> {
    let mailbox = |address: &str| {
        address.parse::<Mailbox>().map_err(|_| format!("`{address}` is not a mail address"))
    };
    let from = mailbox(&settings.from)?;
    let message_id = format!("<{id}@{}>", from.email.domain());
    let subject = truncate_chars(&clean_line(&text.title), MAX_SUBJECT_CHARS);
    let date = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    let mut builder = Message::builder().from(from).subject(subject).message_id(Some(message_id));
    for to in &settings.to {
        builder = builder.to(mailbox(to)?);
    }
    let builder = builder.date(date).header(AutoSubmitted);
    let content_type = lettre::message::header::ContentType::TEXT_PLAIN;
    let message = builder.header(content_type).body(build_body(text));
    message.map_err(|error| format!("the mail cannot be built: {error}"))
}

fn build_body(text: &DeliveryText) -> String {
    let mut body = format!("{}\n", clean_line(&text.title));
    if let Some(message) = &text.message {
        let lines = message.lines().map(|line| format!("> {}\n", clean_line(line)));
        body.push('\n');
        body.extend(lines);
    }
    body.push('\n');
    for (label, value) in &text.facts {
        body.push_str(&format!("{label}: {}\n", clean_line(value)));
    }
    if let Some(link) = &text.link {
        body.push_str(&format!("\n{link}\n"));
    }
    body
}

fn to_delivery_error(
    server: &str,
    limit: Duration,
    error: &lettre::transport::smtp::Error,
) -> DeliveryError {
    if error.is_timeout() {
        let message = format!("the mail server {server} took longer than {limit:?}");
        return DeliveryError::new(DeliveryFailure::TimedOut, message);
    }
    match error.status() {
        Some(code) => {
            let number = code.to_string();
            let message = format!("the mail server {server} answered with status {number}");
            // A wrong login can be corrected; any other permanent refusal is final.
            let gone = error.is_permanent() && !number.starts_with("53");
            let failure = if gone { DeliveryFailure::Gone } else { DeliveryFailure::Refused };
            DeliveryError::new(failure, message)
        }
        None => {
            let mut inner: &dyn std::error::Error = error;
            while let Some(deeper) = inner.source() {
                inner = deeper;
            }
            let message = format!("the mail server {server} cannot be used: {inner}");
            DeliveryError::new(DeliveryFailure::Unavailable, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_add_headers() {
        let settings = EmailSettings {
            host: "127.0.0.1".to_owned(),
            port: 25,
            encryption: SmtpEncryption::None,
            login: None,
            from: "Countersign <bot@example.org>".to_owned(),
            to: vec!["anna@example.org".to_owned()],
        };
        let text = DeliveryText {
            title: "Run r1\r\nBcc: all@example.org".to_owned(),
            message: Some("Pay?\r\n\r\n.\r\nRCPT TO:<x>".to_owned()),
            facts: vec![("Who", "anna\r\nX: y".to_owned())],
            link: None,
        };
        let mail = build_message(&settings, "msg_1", Timestamp(0), &text).unwrap();
        let mail = String::from_utf8(mail.formatted()).unwrap();
        let (head, body) = mail.split_once("\r\n\r\n").unwrap();
        assert!(!head.lines().any(|line| line.starts_with("Bcc")), "{head}");
        assert!(head.contains("Message-ID: <msg_1@example.org>"), "{head}");
        assert!(head.contains("Auto-Submitted: auto-generated"), "{head}");
        assert!(body.contains("> Pay?\r\n> \r\n> .\r\n> RCPT TO:<x>"), "{body}");
        assert!(body.contains("Who: anna  X: y"), "{body}");
        let wrong = EmailSettings { to: vec!["anna".to_owned()], ..settings };
        let error = build_message(&wrong, "msg_1", Timestamp(0), &text).unwrap_err();
        assert_eq!(error, "`anna` is not a mail address");
    }
}
