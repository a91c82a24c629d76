//! The way through a proxy: for https only, and without a word about its password.

use countersign_models::{ModelSettings, ProviderKey, connect_model};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::asking::{PATIENT, ask};

#[tokio::test]
async fn https_goes_through_the_proxy() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://user:hunter2hunter2@{}", listener.local_addr().unwrap());
    let settings = ModelSettings {
        timeouts: PATIENT,
        proxy: ProviderKey::parse(&proxy),
        ..ModelSettings::default()
    };
    let model =
        connect_model(&"openai:m@https://model.invalid/v1".parse().unwrap(), &settings).unwrap();
    let request = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let (mut head, mut portion) = (Vec::new(), [0; 1024]);
        while !head.ends_with(b"\r\n\r\n") {
            let count = socket.read(&mut portion).await.unwrap();
            head.extend_from_slice(&portion[..count]);
        }
        socket.write_all(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(head).unwrap()
    });
    let error = model.complete(&ask(), &mut |_| {}).await.unwrap_err();
    let head = request.await.unwrap();
    assert!(head.starts_with("CONNECT model.invalid:443 HTTP/1.1"), "{head}");
    assert_eq!(error.code(), "unreachable");
    assert!(!format!("{error} {error:?} {settings:?}").contains("hunter2"));
}
