//! The source of kind `neo4j`: any server that supports Cypher over Bolt.

use std::time::Duration;

use countersign_runtime::effect::{EffectError, EffectErrorKind, RetrieverFuture, SourceRetriever};
use rustls::pki_types::ServerName;
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::BoltAddress;
use super::bolt::{BoltConnection, BoltError, BoltQuery, BoltTransport};
use crate::query::{DeclaredQueries, ParamValue, QueryCall, QueryLanguage};
use crate::settings::{SourceSettings, source_config_error};
use crate::tls::build_source_connector;

/// Time limit for connecting and logging in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for a reply after the server's own time limit.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);

/// Keywords of clauses that write or administer. Nothing is committed in any case.
const WRITE_KEYWORDS: [&str; 16] = [
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

/// A graph that can be queried.
pub(crate) struct Neo4jSource {
    name: String,
    address: BoltAddress,
    tls: Option<TlsConnector>,
    database: Option<String>,
    queries: DeclaredQueries,
    limit: usize,
    timeout: Duration,
    /// An idle connection. A connection that broke, or was interrupted in the middle of a query, is
    /// not kept.
    idle: Mutex<Option<BoltConnection>>,
}

impl Neo4jSource {
    /// Reads the settings. The first query connects to the server.
    pub(crate) fn from_settings(settings: &SourceSettings<'_>) -> Result<Self, EffectError> {
        let queries = DeclaredQueries::from_settings(settings, QueryLanguage::Cypher)?;
        for query in queries.iter() {
            let writes = |word: &&String| WRITE_KEYWORDS.contains(&word.as_str());
            if let Some(word) = query.template.words.iter().find(writes) {
                let name = &query.name;
                let advice = "if it is a name, put it between backticks";
                return Err(settings.config_error(format!(
                    "has a query `{name}` with `{word}`, which does more than read; {advice}"
                )));
            }
        }
        let limit = settings.get_count("limit", 50, 500)? as usize;
        let wait = settings.get_timeout()?;
        let database = settings.get_text("database")?.map(str::to_owned);
        let ca = settings.get_path("ca")?;
        // Details of the error could show a password, so it only says that the address is invalid.
        let address = BoltAddress::parse(&settings.read_variable("url_env")?).ok_or_else(|| {
            settings.config_error(
                "has a variable `url_env` that does not contain a Bolt address, \
                 such as `bolt://user:password@host:7687`",
            )
        })?;
        let encrypted =
            address.encrypted.then(|| build_source_connector(settings.name, ca.as_deref()));
        let tls = encrypted.transpose()?;
        let name = settings.name.to_owned();
        let idle = Mutex::new(None);
        Ok(Self { name, address, tls, database, queries, limit, timeout: wait, idle })
    }

    pub(crate) const SETTINGS: &[&str] =
        &["url_env", "ca", "ca_env", "database", "queries", "limit", "timeout", "confidence"];

    async fn run_query(&self, query: &Value) -> Result<Value, EffectError> {
        let call = QueryCall::parse(&self.name, &self.queries, query)?;
        let text = call.query.template.render(|name| format!("$`{name}`"));
        let kept = self.idle.lock().await.take();
        let was_kept = kept.is_some();
        let mut bolt = match kept {
            Some(bolt) => bolt,
            None => self.connect().await?,
        };
        let mut answer = self.read_rows(&mut bolt, &call, &text).await?;
        if was_kept && matches!(answer, Err(BoltError::ConnectionLost(_))) {
            // A server closes connections that were idle for long; try once with a new one.
            bolt = self.connect().await?;
            answer = self.read_rows(&mut bolt, &call, &text).await?;
        }
        let (rows, more) = answer.map_err(|error| self.query_error(&call, &error))?;
        *self.idle.lock().await = Some(bolt);
        call.build_evidence(rows, more)
    }

    async fn read_rows(
        &self,
        bolt: &mut BoltConnection,
        call: &QueryCall<'_>,
        text: &str,
    ) -> Result<Result<(Vec<Map<String, Value>>, bool), BoltError>, EffectError> {
        let params = call.values.iter().map(|(name, value)| (name.clone(), param_to_json(value)));
        let question = BoltQuery {
            text,
            params: params.collect(),
            database: self.database.as_deref(),
            timeout_ms: self.timeout.as_millis() as u64,
            limit: self.limit,
        };
        timeout(self.timeout + TIMEOUT_GRACE, bolt.run_query(question))
            .await
            .map_err(|_| self.timeout_error(call))
    }

    async fn connect(&self) -> Result<BoltConnection, EffectError> {
        let unreachable = || {
            let message = format!("source `{}` cannot reach its server", self.name);
            EffectError::new_transient(EffectErrorKind::Unavailable, message)
        };
        let greeted = timeout(CONNECT_TIMEOUT, async {
            let address = (self.address.host.as_str(), self.address.port);
            let stream = TcpStream::connect(address).await?;
            let wire: Box<dyn BoltTransport> = match &self.tls {
                None => Box::new(stream),
                Some(tls) => {
                    let host = ServerName::try_from(self.address.host.clone());
                    let host = host.map_err(|_| BoltError::UnexpectedMessage)?;
                    Box::new(tls.connect(host, stream).await?)
                }
            };
            BoltConnection::connect(wire, self.address.login.as_ref()).await
        });
        match greeted.await {
            Ok(Ok(bolt)) => Ok(bolt),
            Ok(Err(BoltError::Refused { code })) => {
                Err(source_config_error(&self.name, format!("is rejected by its server ({code})")))
            }
            Ok(Err(BoltError::UnexpectedMessage)) => Err(source_config_error(
                &self.name,
                "has a server that does not support a known version of Bolt",
            )),
            Ok(Err(_)) | Err(_) => Err(unreachable()),
        }
    }

    fn timeout_error(&self, call: &QueryCall<'_>) -> EffectError {
        let label = format!("source `{}`: its query `{}`", self.name, call.query.name);
        let message = format!("{label} was stopped after its time limit of {:?}", self.timeout);
        EffectError::new_transient(EffectErrorKind::TimedOut, message)
    }

    fn query_error(&self, call: &QueryCall<'_>, error: &BoltError) -> EffectError {
        let label = format!("source `{}`: its query `{}`", self.name, call.query.name);
        let kind = match error {
            BoltError::ConnectionLost(_) => {
                let message = format!("{label} lost the connection to its server");
                return EffectError::new_transient(EffectErrorKind::Unavailable, message);
            }
            BoltError::Refused { code } if code.contains("TransactionTimedOut") => {
                return self.timeout_error(call);
            }
            BoltError::Refused { code } if code.contains("TransientError") => {
                let message = format!("{label} got no answer: {error}");
                return EffectError::new_transient(EffectErrorKind::Unavailable, message);
            }
            BoltError::Refused { .. } | BoltError::UnexpectedMessage => EffectErrorKind::Failed,
            BoltError::TooLarge => EffectErrorKind::TooLarge,
        };
        EffectError::new_permanent(kind, format!("{label} failed: {error}"))
    }
}

fn param_to_json(value: &ParamValue) -> Value {
    match value {
        ParamValue::Null => Value::Null,
        ParamValue::Text(text) | ParamValue::Date(text) => json!(text),
        ParamValue::Integer(number) => json!(number),
        // A whole number keeps its decimal point, because Cypher distinguishes integers and floats.
        ParamValue::Number(number) => json!(number),
        ParamValue::Boolean(value) => json!(value),
    }
}

impl SourceRetriever for Neo4jSource {
    fn retrieve<'a>(&'a self, query: &'a Value) -> RetrieverFuture<'a, Result<Value, EffectError>> {
        Box::pin(self.run_query(query))
    }
}
