//! Encrypted connections: the server that was meant is reached, and another is not talked to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use countersign_runtime::effect::EffectErrorKind;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::asking::Asking;

fn certificates() -> PathBuf {
    testkit::workspace_root().join("crates/sources/tests")
}

/// What a server says before it is encrypted, and behind that.
struct Words {
    /// How many bytes it waits for, and what it says then.
    before: Option<(usize, &'static [u8])>,
    behind: Vec<u8>,
}

/// A server on loopback with the certificate of the tests.
async fn server(words: Words) -> u16 {
    let folder = certificates().join("tls");
    let chain = CertificateDer::pem_file_iter(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            if let Some((wait, said)) = words.before {
                let mut first = vec![0; wait];
                stream.read_exact(&mut first).await.unwrap();
                stream.write_all(said).await.unwrap();
            }
            // A client that does not trust us goes away here.
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut first = [0; 20];
            if stream.read_exact(&mut first).await.is_ok() {
                drop(stream.write_all(&words.behind).await);
                drop(stream.shutdown().await);
            }
        }
    }));
    port
}

async fn connect(kind: &str, address: String, more: Value) -> (EffectErrorKind, String) {
    let language = if kind == "neo4j" { "cypher" } else { "sql" };
    let mut settings =
        json!({ "url_env": "ADDRESS", "queries": { "q": { language: "RETURN 1" } } });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let source = Asking::of("db", kind, &settings, &certificates());
    source.with_variable("ADDRESS", address).refused(json!({ "query": "q" })).await
}

#[tokio::test]
async fn a_server_is_talked_to_when_its_authority_is_trusted() {
    let refused = b"E\0\0\0\x1cSFATAL\0C28P01\0Mno such\0\0".to_vec();
    // The client asks with eight bytes whether it may encrypt; `S` is yes.
    let port = server(Words { before: Some((8, b"S")), behind: refused }).await;
    let address = format!("postgresql://me@127.0.0.1:{port}/x?sslmode=require");
    let (kind, text) = connect("postgres", address.clone(), json!({ "ca": "tls/ca.pem" })).await;
    assert_eq!(kind, EffectErrorKind::NotConfigured);
    assert_eq!(text, "source `db` is rejected by its server (28P01)");
    let (_, text) = connect("postgres", address, json!({})).await;
    assert!(!text.contains("28P01"), "a stranger's certificate was taken: {text}");

    let port = server(Words { before: None, behind: vec![0, 0, 0, 0] }).await;
    let address = format!("bolt+s://127.0.0.1:{port}");
    let (kind, text) = connect("neo4j", address.clone(), json!({ "ca": "tls/ca.pem" })).await;
    assert_eq!(kind, EffectErrorKind::NotConfigured);
    assert_eq!(text, "source `db` has a server that does not support a known version of Bolt");
    let (_, text) = connect("neo4j", address, json!({})).await;
    assert!(
        !text.contains("does not support a known version of Bolt"),
        "a stranger's certificate was taken: {text}"
    );
}

#[tokio::test]
async fn a_server_without_encryption_is_not_talked_to_where_it_is_asked_for() {
    // `N` is no; behind that comes what a plain server would say.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut first = [0; 8];
        stream.read_exact(&mut first).await.unwrap();
        stream.write_all(b"N").await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        rest
    });
    let address = format!("postgresql://me:secret@127.0.0.1:{port}/x");
    let (kind, text) = connect("postgres", address, json!({ "ca": "tls/ca.pem" })).await;
    assert_eq!(
        (kind, text.as_str()),
        (EffectErrorKind::Unavailable, "source `db` cannot reach its server")
    );
    assert_eq!(heard.await.unwrap(), b"", "not even the name of the user was told");
}

#[tokio::test]
async fn an_authority_that_is_none_is_told() {
    for ca in ["tls/gone.pem", "tls/server.key", "tls/make.sh"] {
        let address = "postgresql://me@127.0.0.1:1/x".to_owned();
        let (kind, text) = connect("postgres", address, json!({ "ca": ca })).await;
        assert_eq!(kind, EffectErrorKind::NotConfigured);
        assert_eq!(text, "source `db` has a `ca` that is not a PEM file of certificates");
    }
    assert!(Path::new(&certificates()).join("tls/ca.pem").exists());
}
