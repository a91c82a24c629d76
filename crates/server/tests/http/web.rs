//! The page as a browser gets it: its files, what they say about themselves, and who gets none of them.

use countersign_server::web::{ASSETS_DIGEST, PAGE_PATHS, PAGE_SECURITY_POLICY};

use crate::rig::{Answer, serve};

#[tokio::test]
async fn every_address_of_the_page_gives_the_page() {
    let rig = serve().await;
    let client = rig.client();
    for page in PAGE_PATHS {
        let address = page.replace('{', "a").replace('}', "");
        let answer = client.get(&address).await;
        assert_eq!(answer.status, 200, "{address}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("content-security-policy"), PAGE_SECURITY_POLICY);
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.text.starts_with("<!doctype html>"));
    }
    rig.end().await;
}

#[tokio::test]
async fn a_file_is_sent_once_and_then_known() {
    let rig = serve().await;
    let client = rig.client();
    let first = client.get("/assets/js/main.js").await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), "text/javascript; charset=utf-8");
    let tag = first.header("etag").to_owned();
    let request = client.request("GET", "/assets/js/main.js").header("if-none-match", &tag);
    let again = Answer::of(request).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    for nothing in
        ["/assets/index.html", "/assets/none.js", "/assets/%2e%2e/Cargo.toml", "/nowhere"]
    {
        assert_eq!(client.get(nothing).await.problem(404), "unknown_path", "{nothing}");
    }
    rig.end().await;
}

#[tokio::test]
async fn the_page_names_its_files_by_their_edition() {
    let rig = serve().await;
    let client = rig.client();
    let page = client.get("/").await;
    let named = page.text.split("src=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert_eq!(named, format!("/assets/{}/js/main.js", *ASSETS_DIGEST));
    let (first, plain) = (client.get(named).await, client.get("/assets/js/main.js").await);
    assert_eq!((first.status, &first.text), (200, &plain.text));
    for nothing in ["/assets/0123456789abcdef/js/main.js", &format!("/assets/{}", *ASSETS_DIGEST)] {
        assert_eq!(client.get(nothing).await.problem(404), "unknown_path", "{nothing}");
    }
    let tag = page.header("etag").to_owned();
    let request = client.request("GET", "/").header("if-none-match", &tag);
    assert_eq!(Answer::of(request).await.status, 304);
    rig.end().await;
}

#[tokio::test]
async fn whoever_calls_the_server_by_another_name_gets_nothing_of_the_page() {
    let rig = serve().await;
    let request = rig.client().request("GET", "/").header("host", "evil.example");
    assert_eq!(Answer::of(request).await.problem(403), "foreign_host");
    rig.end().await;
}
