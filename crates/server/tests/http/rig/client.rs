//! A client: what a program outside would send, and nothing else.

use std::net::SocketAddr;

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::Answer;

/// A client of a server.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    address: SocketAddr,
    key: Option<String>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, key: Option<String>) -> Self {
        // The client wants one, also where nothing is encrypted; another test may have been first.
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { http, address, key }
    }

    /// A request to a path.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        let method: Method = method.parse().unwrap();
        let request = self.http.request(method, url);
        match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::of(json(self.request("POST", path), body)).await
    }
}

/// A request with a body of JSON.
pub(crate) fn json(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

/// An approval of the first wait of a run, with the digest of what the wait shows.
pub(crate) fn signed(run: &Value, note: &str) -> Value {
    serde_json::json!({ "note": note, "subject": run["waits"][0]["subject"]["digest"] })
}
