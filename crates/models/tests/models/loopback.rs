//! An HTTP/1.1 server on this machine that says what it is told to say, byte for byte.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What the server does with one connection, in order; at the end it hangs up.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Writes bytes.
    Send(Vec<u8>),
    /// Writes the request's own headers, as a JSON string inside this frame around it.
    Echo(&'static str, &'static str),
    /// Stays silent until the other side hangs up.
    Hold,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// The server; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Arc<tokio::sync::Notify>,
    task: JoinHandle<()>,
}

impl Server {
    /// Listens, and treats every connection alike.
    pub(crate) async fn start(steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hung_up = Arc::new(tokio::sync::Notify::new());
        let (noted, gone) = (Arc::clone(&seen), Arc::clone(&hung_up));
        let task = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let Some(request) = read(&mut socket).await else {
                    gone.notify_one();
                    continue;
                };
                noted.lock().unwrap().push(request.clone());
                play(&mut socket, &steps, &request, &gone).await;
            }
        });
        Self { address, seen, hung_up, task }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until the other side has hung up on a server that holds.
    pub(crate) async fn hung_up(&self) {
        self.hung_up.notified().await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn play(socket: &mut TcpStream, steps: &[Step], request: &Seen, gone: &tokio::sync::Notify) {
    for step in steps {
        let bytes = match step {
            Step::Send(bytes) => bytes.clone(),
            Step::Echo(before, after) => {
                let quoted = serde_json::to_string(&request.head).unwrap();
                let body = format!("{before}{quoted}{after}");
                format!("content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
            }
            Step::Hold => {
                let mut nothing = [0];
                while !matches!(socket.read(&mut nothing).await, Ok(0) | Err(_)) {}
                gone.notify_one();
                return;
            }
        };
        // The client may hang up as soon as it has heard enough.
        if socket.write_all(&bytes).await.is_err() {
            return;
        }
    }
    let _ = socket.shutdown().await;
}

async fn read(socket: &mut TcpStream) -> Option<Seen> {
    let (mut bytes, mut portion) = (Vec::new(), [0; 4096]);
    loop {
        let count = socket.read(&mut portion).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&portion[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if bytes.len() - end - 4 == length.parse::<usize>().unwrap() {
            return Some(Seen { head, body: bytes.split_off(end + 4) });
        }
    }
}

/// A response with a length.
pub(crate) fn response(status: u16, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n{body}");
    vec![Step::Send(text.into_bytes())]
}

/// The beginning of a stream that ends when the server hangs up.
pub(crate) fn stream(media_type: &str) -> Step {
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\nconnection: close\r\n\r\n");
    Step::Send(head.into_bytes())
}

/// A whole stream in chunks of so many bytes, ended as HTTP wants it.
pub(crate) fn chunked(media_type: &str, body: &[u8], size: usize) -> Vec<Step> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    for chunk in body.chunks(size) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    vec![Step::Send(bytes)]
}
