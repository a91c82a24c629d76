//! A receiver of deliveries on loopback, which answers as a test tells it.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How the receiver answers one request; the last answer repeats.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A status line with headers: `200 OK`, `503 Later\r\nretry-after: 60`.
    Status(&'static str),
    /// Never.
    Never,
    /// A status of success, and a body without end.
    Flood,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(own, _)| own.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A receiver, and what it has received.
pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: UnboundedReceiver<Received>,
}

impl Receiver {
    pub(crate) async fn open(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?key=secret", listener.local_addr().unwrap());
        let (tell, requests) = unbounded_channel();
        tokio::spawn(async move {
            for number in 0.. {
                let (mut stream, _) = listener.accept().await.unwrap();
                let Some(received) = read_request(&mut stream).await else { continue };
                let answer = answers.get(number).or(answers.last()).unwrap().clone();
                if tell.send(received).is_err() {
                    return;
                }
                tokio::spawn(respond(stream, answer));
            }
        });
        Self { url, requests }
    }

    /// The next request; waits for it.
    pub(crate) async fn next(&mut self) -> Received {
        let next = tokio::time::timeout(Duration::from_secs(30), self.requests.recv()).await;
        next.expect("a request arrives").unwrap()
    }

    /// Requests that have arrived and were not read.
    pub(crate) fn drain(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

async fn respond(mut stream: TcpStream, answer: Answer) {
    match answer {
        Answer::Status(status) => {
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
        Answer::Never => {
            // Until the other side hangs up.
            let _ = stream.read(&mut [0; 16]).await;
        }
        Answer::Flood => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        text.extend_from_slice(&buffer[..count]);
        let all = String::from_utf8_lossy(&text);
        let Some((head, body)) = all.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return Some(Received { head: head.to_owned(), body: body.to_owned() });
        }
    }
}
