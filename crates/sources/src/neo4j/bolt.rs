//! A connection over Bolt 4.4 or 5: logs in, runs one query at a time, and commits nothing.

use std::io;

use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{pack, unpack};

/// Maximum size of one message from a server.
const MAX_MESSAGE_BYTES: usize = 4 * 1024 * 1024;

const HELLO: u8 = 0x01;
const LOGON: u8 = 0x6A;
const RESET: u8 = 0x0F;
const RUN: u8 = 0x10;
const BEGIN: u8 = 0x11;
const PULL: u8 = 0x3F;
const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const FAILURE: u8 = 0x7F;

/// A bidirectional byte stream.
pub(super) trait BoltTransport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> BoltTransport for S {}

/// An authenticated connection.
pub(super) struct BoltConnection {
    transport: Box<dyn BoltTransport>,
}

/// A query with its parameters and limits.
pub(super) struct BoltQuery<'q> {
    pub(super) text: &'q str,
    pub(super) params: Map<String, Value>,
    pub(super) database: Option<&'q str>,
    pub(super) timeout_ms: u64,
    pub(super) limit: usize,
}

/// Why a query failed.
#[derive(Debug, Error)]
pub(super) enum BoltError {
    #[error("the connection was lost")]
    ConnectionLost(#[from] io::Error),
    #[error("the server does not support a known version of Bolt")]
    UnexpectedMessage,
    /// The server's code, such as `Neo.ClientError.Statement.SyntaxError`. Its message is left out,
    /// because it may contain values.
    #[error("the server returned {code}")]
    Refused { code: String },
    #[error("the server sent a message of more than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge,
}

impl BoltConnection {
    /// Negotiates the version with a server and logs in.
    pub(super) async fn connect(
        mut wire: Box<dyn BoltTransport>,
        login: Option<&(String, String)>,
    ) -> Result<Self, BoltError> {
        // The magic bytes, then the supported versions, best first: 5.4 down to 5.0, and 4.4.
        let hello = [0x60, 0x60, 0xB0, 0x17, 0, 4, 4, 5, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0];
        wire.write_all(&hello).await?;
        wire.flush().await?;
        let mut version = [0; 4];
        wire.read_exact(&mut version).await?;
        let (minor, major) = (version[2], version[3]);
        if !matches!((major, minor), (4, 4) | (5, 0..=4)) {
            return Err(BoltError::UnexpectedMessage);
        }
        let mut bolt = Self { transport: wire };
        let auth = match login {
            Some((user, password)) => {
                json!({ "scheme": "basic", "principal": user, "credentials": password })
            }
            None => json!({ "scheme": "none" }),
        };
        let agent = concat!("countersign/", env!("CARGO_PKG_VERSION"));
        let mut extra = json!({ "user_agent": agent });
        if (major, minor) >= (5, 3) {
            extra["bolt_agent"] = json!({ "product": agent });
        }
        let separate = (major, minor) >= (5, 1);
        if !separate && let (Some(extra), Some(auth)) = (extra.as_object_mut(), auth.as_object()) {
            extra.extend(auth.clone());
        }
        bolt.request(HELLO, &[extra]).await?;
        if separate {
            bolt.request(LOGON, &[auth]).await?;
        }
        Ok(bolt)
    }

    /// Runs a query and leaves the connection as it was. Anything that the statement may have
    /// written is rolled back.
    ///
    /// After an error, the connection can no longer be used.
    pub(super) async fn run_query(
        &mut self,
        question: BoltQuery<'_>,
    ) -> Result<(Vec<Map<String, Value>>, bool), BoltError> {
        let mut begin = json!({ "mode": "r", "tx_timeout": question.timeout_ms });
        if let Some(database) = question.database {
            begin["db"] = json!(database);
        }
        self.request(BEGIN, &[begin]).await?;
        let run = [json!(question.text), Value::Object(question.params), json!({})];
        let described = self.request(RUN, &run).await?;
        let columns: Option<Vec<String>> = described["fields"]
            .as_array()
            .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        let columns = columns.ok_or(BoltError::UnexpectedMessage)?;
        self.send(PULL, &[json!({ "n": question.limit + 1 })]).await?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            let (message, size) = self.receive().await?;
            match (message.kind, message.fields.into_iter().next()) {
                (RECORD, Some(Value::Array(cells))) if cells.len() == columns.len() => {
                    bytes += size;
                    if bytes > MAX_MESSAGE_BYTES {
                        return Err(BoltError::TooLarge);
                    }
                    rows.push(columns.iter().cloned().zip(cells).collect());
                }
                (SUCCESS, _) => break,
                (FAILURE, details) => return Err(failure_error(details)),
                _ => return Err(BoltError::UnexpectedMessage),
            }
        }
        // The transaction is open; this ends it without committing.
        self.request(RESET, &[]).await?;
        let more = rows.len() > question.limit;
        rows.truncate(question.limit);
        Ok((rows, more))
    }

    async fn request(&mut self, kind: u8, fields: &[Value]) -> Result<Value, BoltError> {
        self.send(kind, fields).await?;
        let (message, _) = self.receive().await?;
        let details = message.fields.into_iter().next();
        match message.kind {
            SUCCESS => Ok(details.unwrap_or(Value::Null)),
            FAILURE => Err(failure_error(details)),
            _ => Err(BoltError::UnexpectedMessage),
        }
    }

    async fn send(&mut self, kind: u8, fields: &[Value]) -> Result<(), BoltError> {
        let message = pack::encode_message(kind, fields);
        let mut out = Vec::with_capacity(message.len() + 8);
        for chunk in message.chunks(0xFFFF) {
            out.extend((chunk.len() as u16).to_be_bytes());
            out.extend(chunk);
        }
        out.extend([0, 0]);
        self.transport.write_all(&out).await?;
        self.transport.flush().await?;
        Ok(())
    }

    async fn receive(&mut self) -> Result<(unpack::BoltMessage, usize), BoltError> {
        let mut bytes = Vec::new();
        loop {
            let size = usize::from(self.transport.read_u16().await?);
            if size == 0 {
                // An empty message is a keep-alive.
                if bytes.is_empty() {
                    continue;
                }
                break;
            }
            if bytes.len() + size > MAX_MESSAGE_BYTES {
                return Err(BoltError::TooLarge);
            }
            let start = bytes.len();
            bytes.resize(start + size, 0);
            self.transport.read_exact(&mut bytes[start..]).await?;
        }
        let message = unpack::decode_message(&bytes).ok_or(BoltError::UnexpectedMessage)?;
        Ok((message, bytes.len()))
    }
}

fn failure_error(details: Option<Value>) -> BoltError {
    let code = details.and_then(|details| details["code"].as_str().map(str::to_owned));
    // A code consists of letters and dots; anything else is not shown.
    let plain = |code: &String| {
        code.len() < 120
            && code.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '.')
    };
    let code = code.filter(plain).unwrap_or_else(|| "an error without a code".to_owned());
    BoltError::Refused { code }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;
    use crate::neo4j::address::BoltAddress;

    async fn run_query(
        bolt: &mut BoltConnection,
        text: &str,
    ) -> Result<Vec<Map<String, Value>>, BoltError> {
        let question = BoltQuery {
            text,
            params: Map::new(),
            database: Some("graph"),
            timeout_ms: 3_000,
            limit: 5,
        };
        bolt.run_query(question).await.map(|(rows, _)| rows)
    }

    /// Bypasses the keyword check of the source.
    #[tokio::test]
    async fn what_is_written_is_not_kept() {
        let Ok(address) = std::env::var("COUNTERSIGN_TEST_BOLT") else {
            let why = "COUNTERSIGN_TEST_BOLT is not set; `cargo xtask verify` starts a server where it can";
            testkit::report_not_run("neo4j::bolt::what_is_written_is_not_kept", why);
            return;
        };
        let address = BoltAddress::parse(&address).unwrap();
        let connect = async || {
            let stream = TcpStream::connect((address.host.as_str(), address.port)).await.unwrap();
            BoltConnection::connect(Box::new(stream), address.login.as_ref()).await.unwrap()
        };
        let mut bolt = connect().await;
        let systems = "MATCH (s:System) RETURN count(s) AS n";
        let before = run_query(&mut bolt, systems).await.unwrap();
        // A server may refuse the write, or roll it back; it must not keep it.
        let written =
            run_query(&mut bolt, "CREATE (s:System {name: 'x'}) RETURN s.name AS name").await;
        if written.is_err() {
            bolt = connect().await;
        }
        assert_eq!(run_query(&mut bolt, systems).await.unwrap(), before);
        assert_eq!(run_query(&mut connect().await, systems).await.unwrap(), before);
    }
}
