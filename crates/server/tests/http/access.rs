//! Who comes in where: every route with every role, without a key, with a key of another tenant, from elsewhere.

use std::collections::BTreeSet;

use countersign_server::access::{AccessRole, ROUTE_POLICIES, RouteEntry, RoutePolicy};
use serde_json::json;

use crate::rig::{Answer, Client, serve, serve_keyed, signed};

/// A request to a route, with something in the places of its path, and a body that nothing comes of.
async fn send_request(client: &Client, needed: &RouteEntry, run: &str) -> Answer {
    let path = needed
        .path
        .replace("{run}", run)
        .replace("{wait}", "w1")
        .replace("{name}", "demo")
        .replace("{id}", "outline")
        .replace("{digest}", "0")
        .replace("{build}", "b-0");
    let request = client.request(needed.method, &path).header("content-type", "application/json");
    // A body that no route can read, so that nothing is done by whoever is let in.
    let request = if needed.method == "GET" { request } else { request.body("{\"never\": 1}") };
    let response = request.send().await.unwrap();
    if response.headers()["content-type"] == "text/event-stream" {
        // It has no end; that it began says enough.
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        return Answer { status, headers, text: String::new() };
    }
    Answer::read(response).await
}

/// Every route that says what a run is has to be told where a run is.
const OF_A_RUN: &str = "/v1/runs/{run}";

#[tokio::test]
async fn every_route_lets_in_whom_the_table_names_and_nobody_else() {
    let rig = serve_keyed().await;
    let owner = rig.client_of("acme", AccessRole::Admin);
    let started =
        owner.post("/v1/runs", &json!({"protocol": "demo", "model": "human"})).await.good();
    let run = started["run"].as_str().unwrap().to_owned();
    let nobody = rig.client();
    let stranger = Client::new(rig.address, Some("csk_nobody".to_owned()));
    let foreign = rig.client_of("other", AccessRole::Admin);
    for needed in ROUTE_POLICIES {
        let named = format!("{} {}", needed.method, needed.path);
        let role = match needed.policy {
            RoutePolicy::Public => {
                assert!(send_request(&nobody, needed, &run).await.status < 400, "{named}");
                continue;
            }
            RoutePolicy::Role(role) | RoutePolicy::DefaultTenant(role) => role,
        };
        assert_eq!(send_request(&nobody, needed, &run).await.problem(401), "no_key", "{named}");
        assert_eq!(send_request(&stranger, needed, &run).await.problem(401), "no_key", "{named}");
        let default_only = matches!(needed.policy, RoutePolicy::DefaultTenant(_));
        for held in AccessRole::ALL {
            let answer = send_request(&rig.client_of("acme", held), needed, &run).await;
            if held < role {
                assert_eq!(answer.problem(403), "role", "{named} as {held}");
            } else if default_only {
                assert_eq!(answer.problem(403), "tenant", "{named} as {held}");
                let ours = send_request(&rig.client_of("default", held), needed, &run).await;
                assert!(!matches!(ours.status, 401 | 403), "{named} as {held}: {}", ours.text);
            } else {
                assert!(!matches!(answer.status, 401 | 403), "{named} as {held}: {}", answer.text);
            }
        }
        let theirs = send_request(&foreign, needed, &run).await;
        if needed.path.starts_with(OF_A_RUN) && needed.method == "GET" {
            // These routes need a parameter, which is missing here.
            let incomplete = ["/diff", "/content"].iter().any(|end| needed.path.ends_with(end));
            let response = theirs.problem(if incomplete { 400 } else { 404 });
            assert!(
                matches!(response.as_str(), "unknown_run" | "bad_query"),
                "{named}: {response}"
            );
        }
        assert!(!theirs.text.contains(&format!("\"{run}\"")), "{named}: {}", theirs.text);
    }
    rig.end().await;
}

#[tokio::test]
async fn another_tenant_finds_nothing_and_moves_nothing() {
    let rig = serve_keyed().await;
    let (owner, foreign) =
        (rig.client_of("acme", AccessRole::Admin), rig.client_of("other", AccessRole::Admin));
    let started =
        owner.post("/v1/runs", &json!({"protocol": "demo", "model": "human"})).await.good();
    let run = started["run"].as_str().unwrap();
    let version = owner.get(&format!("/v1/runs/{run}")).await.good()["version"].clone();
    for (path, body) in [
        ("submit", json!({"text": "{}", "action": "1"})),
        ("halt", json!({})),
        ("resume", json!({})),
        ("cancel", json!({})),
        ("fork", json!({})),
        ("waits/w1/answer", json!({"value": 1})),
        ("waits/w1/approve", json!({})),
        ("waits/w1/deny", json!({})),
    ] {
        let response = foreign.post(&format!("/v1/runs/{run}/{path}"), &body).await;
        assert_eq!(response.problem(404), "unknown_run", "{path}");
    }
    let diff = foreign.get(&format!("/v1/runs/{run}/diff?from=1")).await;
    assert_eq!(diff.problem(404), "unknown_run");
    assert_eq!(foreign.get("/v1/runs").await.good()["items"], json!([]));
    assert_eq!(foreign.get("/v1/inbox").await.good()["items"], json!([]));
    assert_eq!(owner.get(&format!("/v1/runs/{run}")).await.good()["version"], version);
    assert!(!rig.folder.path().join(".countersign/tenants/acme/out").exists());
    rig.end().await;
}

#[tokio::test]
async fn files_of_a_tenant_stay_in_its_own_folder() {
    let rig = serve_keyed().await;
    let owner = rig.client_of("acme", AccessRole::Operator);
    let post = |path: String, body: serde_json::Value| {
        let request = crate::rig::json(owner.request("POST", &path), &body);
        Answer::of(request.header("prefer", "wait=20"))
    };
    let started = post("/v1/runs".to_owned(), json!({})).await.good();
    assert_eq!(started["status"], "waiting", "{started}");
    let run = started["run"].as_str().unwrap();
    let done =
        post(format!("/v1/runs/{run}/waits/w1/approve"), signed(&started, "good")).await.good();
    assert_eq!(done["status"], "completed", "{done}");
    assert!(rig.folder.path().join(".countersign/tenants/acme/out/text.md").is_file());
    assert!(!rig.folder.path().join("out").exists());
    rig.end().await;
}

#[tokio::test]
async fn a_key_that_was_taken_back_or_is_over_opens_nothing() {
    let rig = serve_keyed().await;
    let reader = rig.client_of("acme", AccessRole::Reader);
    let me = reader.get("/v1/me").await.good();
    assert_eq!(
        (&me["tenant"], &me["role"], &me["keyless"]),
        (&json!("acme"), &json!("reader"), &json!(false))
    );
    rig.keyring.revoke(me["key"].as_str().unwrap(), countersign_run::Timestamp(1)).unwrap();
    let response = reader.get("/v1/me").await;
    assert_eq!(response.problem(401), "no_key");
    assert!(response.text.contains("revoked") && response.header("www-authenticate") == "Bearer");
    rig.end().await;
}

#[tokio::test]
async fn only_an_admin_acts_as_another_and_names_a_model_that_reaches_out() {
    let rig = serve_keyed().await;
    let (operator, admin) =
        (rig.client_of("acme", AccessRole::Operator), rig.client_of("acme", AccessRole::Admin));
    let owner = rig.client_of("default", AccessRole::Admin);
    let who = |client: &Client, name: &str| {
        Answer::of(client.request("GET", "/v1/me").header("countersign-as", name))
    };
    assert_eq!(who(&operator, "bob").await.problem(403), "impersonation_denied");
    assert_eq!(who(&operator, "acme-operator").await.good()["user"], "acme-operator");
    assert_eq!(who(&admin, "bob").await.good()["user"], "bob");
    for model in ["script:replies.yaml", "openai:x@http://127.0.0.1:9/v1"] {
        let body = json!({"protocol": "demo", "model": model});
        assert_eq!(operator.post("/v1/runs", &body).await.problem(403), "model");
        assert_eq!(admin.post("/v1/runs", &body).await.problem(403), "model");
        assert_eq!(owner.post("/v1/runs", &body).await.status, 201);
    }
    rig.end().await;
}

#[tokio::test]
async fn without_a_key_a_foreign_name_or_page_is_refused() {
    let rig = serve().await;
    let client = rig.client();
    let with = |name: &'static str, value: String| {
        let client = if name == "authorization" { rig.stranger() } else { client.clone() };
        async move { Answer::of(client.request("GET", "/v1/runs").header(name, value)).await }
    };
    assert_eq!(with("host", "evil.example".to_owned()).await.problem(403), "foreign_host");
    assert_eq!(with("host", format!("localhost:{}", rig.address.port())).await.status, 200);
    assert_eq!(
        with("origin", "http://evil.example".to_owned()).await.problem(403),
        "foreign_origin"
    );
    assert_eq!(with("origin", "null".to_owned()).await.problem(403), "foreign_origin");
    assert_eq!(with("origin", format!("http://{}", rig.address)).await.status, 200);
    // A key that is wrong is wrong, also where the token is enough.
    assert_eq!(with("authorization", "Bearer csk_x".to_owned()).await.problem(401), "no_key");
    assert_eq!(with("authorization", "Basic eDp5".to_owned()).await.problem(401), "no_key");
    rig.end().await;
}

#[tokio::test]
async fn on_loopback_the_token_lets_in_and_its_absence_says_how() {
    let rig = serve().await;
    let stranger = rig.stranger();
    for open in ["/v1/health", "/v1/ready", "/v1/openapi.json", "/"] {
        assert_eq!(stranger.get(open).await.status, 200, "{open}");
    }
    for (method, path) in
        [("GET", "/v1/me"), ("GET", "/v1/runs"), ("POST", "/v1/runs"), ("POST", "/mcp")]
    {
        let refused = Answer::of(stranger.request(method, path)).await;
        assert_eq!(refused.problem(401), "no_token", "{path}");
        assert!(refused.text.contains(".countersign/token"), "{}", refused.text);
    }
    let token = rig.token().unwrap();
    let wrong = format!("{}x", &token[..token.len() - 1]);
    let bearer = |shown: &str| {
        stranger.request("GET", "/v1/me").header("authorization", format!("Bearer {shown}"))
    };
    assert_eq!(Answer::of(bearer(&wrong)).await.problem(401), "no_key");
    let me = Answer::of(bearer(&token)).await.good();
    assert_eq!((&me["role"], &me["tenant"]), (&json!("admin"), &json!("default")));
    rig.end().await;
}

#[tokio::test]
async fn a_browser_gets_a_cookie_for_the_token_and_only_our_own_page_uses_it() {
    let rig = serve().await;
    let (token, stranger) = (rig.token().unwrap(), rig.stranger());
    // As a browser does it, and without going on by itself.
    let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let http = http.build().unwrap();
    let open = async |path: String| {
        let url = format!("http://{}{path}", rig.address);
        Answer::read(http.get(url).send().await.unwrap()).await
    };
    let wrong = open("/runs?token=cst_wrong&status=waiting".to_owned()).await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (303, ""));
    let opened = open(format!("/runs?token={token}&status=waiting")).await;
    assert_eq!((opened.status, opened.header("location")), (303, "/runs?status=waiting"));
    assert_eq!(opened.header("referrer-policy"), "no-referrer");
    let cookie = opened.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(&token), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with = |site: Option<&'static str>| {
        let request = stranger.request("GET", "/v1/me").header("cookie", cookie.clone());
        match site {
            Some(site) => request.header("sec-fetch-site", site),
            None => request,
        }
    };
    assert_eq!(Answer::of(with(None)).await.status, 200);
    assert_eq!(Answer::of(with(Some("same-origin"))).await.status, 200);
    for other in ["same-site", "cross-site"] {
        assert_eq!(Answer::of(with(Some(other))).await.problem(403), "foreign_origin", "{other}");
    }
    let foreign = with(None).header("origin", "http://127.0.0.1:9");
    assert_eq!(Answer::of(foreign).await.problem(403), "foreign_origin");
    let rebound = with(None).header("host", "evil.example");
    assert_eq!(Answer::of(rebound).await.problem(403), "foreign_host");
    rig.end().await;
}

#[tokio::test]
async fn every_route_of_the_description_is_in_the_table_and_the_other_way_round() {
    let rig = serve().await;
    let described = rig.client().get("/v1/openapi.json").await.good();
    assert_eq!(described["openapi"], "3.1.0");
    let mut routes = BTreeSet::new();
    for (path, item) in described["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            routes.insert((method.to_uppercase(), path.clone()));
        }
    }
    let mut table: BTreeSet<(String, String)> =
        ROUTE_POLICIES.iter().map(|one| (one.method.to_owned(), one.path.to_owned())).collect();
    // The description does not describe itself, and MCP describes its own.
    for (method, own) in [("GET", "/v1/openapi.json"), ("GET", "/v1/docs"), ("POST", "/mcp")] {
        assert!(table.remove(&(method.to_owned(), own.to_owned())));
    }
    assert_eq!(routes, table);
    rig.end().await;
}
