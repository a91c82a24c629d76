//! The source of kind `neo4j`: any server that speaks Cypher over Bolt.

use std::time::Duration;

use countersign_runtime::effect::{BoxFuture, EffectError, EffectErrorKind, Source};
use rustls::pki_types::ServerName;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::Address;
use super::bolt::{Bolt, BoltError, Question, Wire};
use crate::query::{Asked, Bound, Language, Queries};
use crate::settings::{Settings, not_configured};
use crate::tls::connector;

/// How long it may take to reach the server and be let in.
const CONNECTING: Duration = Duration::from_secs(5);

/// How long after the server's own limit we still wait for its word.
const GRACE: Duration = Duration::from_secs(1);

/// Words that begin clauses which write or rule. Nothing is committed either way.
const WRITING: [&str; 16] = [
    "ALTER",
    "CREATE",
    "DELETE",
    "DENY",
    "DETACH",
    "DROP",
    "FOREACH",
    "GRANT",
    "INSERT",
    "LOAD",
    "MERGE",
    "REMOVE",
    "REVOKE",
    "SET",
    "TERMINATE",
    "STOP",
];

/// A graph that can be asked.
pub(crate) struct Neo4j {
    name: String,
    address: Address,
    tls: Option<TlsConnector>,
    database: Option<String>,
    queries: Queries,
    limit: usize,
    timeout: Duration,
    /// A connection that nobody uses. One that broke, or that was left in the middle, is not put back.
    idle: Mutex<Option<Bolt>>,
}

impl Neo4j {
    /// Reads the settings. The server is reached when it is asked.
    pub(crate) fn configure(settings: &Settings<'_>) -> Result<Self, EffectError> {
        let queries = Queries::read(settings, Language::Cypher)?;
        for query in queries.all() {
            let writes = |word: &&String| WRITING.contains(&word.as_str());
            if let Some(word) = query.scan.words.iter().find(writes) {
                let name = &query.name;
                let advice = "a name that is spelt like that stands between backticks";
                return Err(settings.fault(format!(
                    "has a query `{name}` with `{word}`, which does more than read; {advice}"
                )));
            }
        }
        let limit = settings.count("limit", 50, 500)? as usize;
        let wait = settings.timeout()?;
        let database = settings.text("database")?.map(str::to_owned);
        let ca = settings.place("ca")?;
        // What is wrong with it could show a password, so only that it is wrong is told.
        let address = Address::parse(&settings.variable("url_env")?).ok_or_else(|| {
            settings.fault(
                "has a variable `url_env` that does not hold a Bolt address, \
                 such as `bolt://user:password@host:7687`",
            )
        })?;
        let encrypted = address.encrypted.then(|| connector(settings.name, ca.as_deref()));
        let tls = encrypted.transpose()?;
        let name = settings.name.to_owned();
        let idle = Mutex::new(None);
        Ok(Self { name, address, tls, database, queries, limit, timeout: wait, idle })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["url_env", "ca", "ca_env", "database", "queries", "limit", "timeout", "confidence"];

    async fn answer(&self, query: &Value) -> Result<Value, EffectError> {
        let asked = Asked::read(&self.name, &self.queries, query)?;
        let text = asked.query.scan.written(|name| format!("$`{name}`"));
        let kept = self.idle.lock().await.take();
        let was_kept = kept.is_some();
        let mut bolt = match kept {
            Some(bolt) => bolt,
            None => self.connect().await?,
        };
        let mut answer = self.read(&mut bolt, &asked, &text).await?;
        if was_kept && matches!(answer, Err(BoltError::Broken(_))) {
            // A server ends connections that were idle for long; a new one is worth a try.
            bolt = self.connect().await?;
            answer = self.read(&mut bolt, &asked, &text).await?;
        }
        let (rows, more) = answer.map_err(|error| self.failed(&asked, &error))?;
        *self.idle.lock().await = Some(bolt);
        asked.evidence(rows, more)
    }

    async fn read(
        &self,
        bolt: &mut Bolt,
        asked: &Asked<'_>,
        text: &str,
    ) -> Result<Result<(Vec<Map<String, Value>>, bool), BoltError>, EffectError> {
        let params = asked.values.iter().map(|(name, value)| (name.clone(), param(value)));
        let question = Question {
            text,
            params: params.collect(),
            database: self.database.as_deref(),
            millis: self.timeout.as_millis() as u64,
            limit: self.limit,
        };
        timeout(self.timeout + GRACE, bolt.read(question)).await.map_err(|_| self.late(asked))
    }

    async fn connect(&self) -> Result<Bolt, EffectError> {
        let unreachable = || {
            let message = format!("source `{}` does not reach its server", self.name);
            EffectError::passing(EffectErrorKind::Unavailable, message)
        };
        let greeted = timeout(CONNECTING, async {
            let place = (self.address.host.as_str(), self.address.port);
            let stream = TcpStream::connect(place).await?;
            let wire: Box<dyn Wire> = match &self.tls {
                None => Box::new(stream),
                Some(tls) => {
                    let host = ServerName::try_from(self.address.host.clone());
                    let host = host.map_err(|_| BoltError::Strange)?;
                    Box::new(tls.connect(host, stream).await?)
                }
            };
            Bolt::greet(wire, self.address.login.as_ref()).await
        });
        match greeted.await {
            Ok(Ok(bolt)) => Ok(bolt),
            Ok(Err(BoltError::Refused { code })) => {
                Err(not_configured(&self.name, format!("is not let in by its server ({code})")))
            }
            Ok(Err(BoltError::Strange)) => {
                Err(not_configured(&self.name, "has a server that speaks no Bolt known here"))
            }
            Ok(Err(_)) | Err(_) => Err(unreachable()),
        }
    }

    fn late(&self, asked: &Asked<'_>) -> EffectError {
        let about = format!("source `{}`: its query `{}`", self.name, asked.query.name);
        let message = format!("{about} was ended after {:?}, its time limit", self.timeout);
        EffectError::passing(EffectErrorKind::TimedOut, message)
    }

    fn failed(&self, asked: &Asked<'_>, error: &BoltError) -> EffectError {
        let about = format!("source `{}`: its query `{}`", self.name, asked.query.name);
        let kind = match error {
            BoltError::Broken(_) => {
                let message = format!("{about} lost its server");
                return EffectError::passing(EffectErrorKind::Unavailable, message);
            }
            BoltError::Refused { code } if code.contains("TransactionTimedOut") => {
                return self.late(asked);
            }
            BoltError::Refused { code } if code.contains("TransientError") => {
                let message = format!("{about} was not answered: {error}");
                return EffectError::passing(EffectErrorKind::Unavailable, message);
            }
            BoltError::Refused { .. } | BoltError::Strange => EffectErrorKind::Failed,
            BoltError::TooLarge => EffectErrorKind::TooLarge,
        };
        EffectError::lasting(kind, format!("{about} failed: {error}"))
    }
}

fn param(value: &Bound) -> Value {
    match value {
        Bound::Nothing => Value::Null,
        Bound::Text(text) | Bound::Date(text) => json!(text),
        Bound::Integer(number) => json!(number),
        // A whole number stays one with a point: Cypher tells them apart.
        Bound::Number(number) => json!(number),
        Bound::Boolean(value) => json!(value),
    }
}

impl Source for Neo4j {
    fn retrieve<'a>(&'a self, query: &'a Value) -> BoxFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.answer(query))
    }
}
