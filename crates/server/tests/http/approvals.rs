//! A signature binds: what a server takes for a yes, and from whom.

use countersign_runtime::clock::{Clock as _, SystemClock};
use countersign_server::access::{AccessRole, AuthMode, NewApiKey};
use serde_json::{Value, json};

use crate::mcp::problem_of;
use crate::rig::{Answer, Client, Rig, demo_folder, json as with_json, serve, signed};

/// A claim that the manager pays: two people of a group sign, and a denial goes back.
const CLAIM: &str = "id: text
phases:
  - { id: approval, writes: [/amount] }
  - { id: denied, terminal: true }
  - { id: paid, terminal: true }
transitions:
  - from: approval
    to: paid
    gate: { type: manual, description: 'Pay {{ state.amount }}?', subject: [/amount], who: 'group:managers', need: 2, distinct_from: [starter, author], verified: true, note: on_denial }
  - { from: approval, to: denied, after: denied, apply: { set: { at: /why, value: run.decision.note } } }
";

/// A server with the claim, and a client for each of these users.
async fn claims(users: &[(&str, &[&str])]) -> (Rig, Vec<Client>) {
    let folder = demo_folder();
    let workflow = folder.path().join(".opencode/protocol/workflows/text.yaml");
    std::fs::write(workflow, CLAIM).unwrap();
    let rig = Rig::open(folder, AuthMode::KeyRequired).await;
    let client = |(user, groups): &(&str, &[&str])| {
        let new = NewApiKey {
            tenant: "default".to_owned(),
            role: AccessRole::Operator,
            user: Some((*user).to_owned()),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            expires_at: None,
        };
        let secret = rig.keyring.create(new, SystemClock.now()).unwrap().1;
        Client::new(rig.address, Some(secret.reveal().to_owned()))
    };
    let clients = users.iter().map(client).collect();
    (rig, clients)
}

async fn post(client: &Client, path: &str, body: &Value) -> Answer {
    Answer::of(with_json(client.request("POST", path), body).header("prefer", "wait=20")).await
}

#[tokio::test]
async fn a_text_is_not_changed_under_a_decision_and_an_unseen_one_is_not_approved() {
    let rig = serve().await;
    let client = rig.client();
    let started = post(&client, "/v1/runs", &json!({})).await.good();
    let (run, version) = (started["run"].as_str().unwrap(), started["version"].to_string());
    let draft = started["waits"][0]["subject"]["parts"][0].clone();
    assert_eq!((&draft["pointer"], draft["value"]["title"].is_string()), (&json!("/draft"), true));

    let forged =
        json!({"text": "{\"merge\": {\"draft\": {\"title\": \"Mine\", \"body\": \"Mine\"}}}"});
    let submit = with_json(client.request("POST", &format!("/v1/runs/{run}/submit")), &forged);
    let submit = submit.header("if-match", format!("\"{version}\""));
    assert_eq!(Answer::of(submit).await.problem(409), "patch_not_expected");

    let path = format!("/v1/runs/{run}/waits/w1");
    let approve = format!("{path}/approve");
    assert_eq!(client.post(&approve, &json!({})).await.problem(422), "subject_required");
    let other = json!({"subject": "sha256:0000"});
    assert_eq!(client.post(&approve, &other).await.problem(409), "subject_changed");
    let deny = format!("{path}/deny");
    assert_eq!(client.post(&deny, &json!({})).await.problem(422), "note_required");
    let denied = post(&client, &deny, &json!({"note": "the end is missing"})).await.good();
    assert_eq!(denied["waits"][0]["kind"], "approval", "it was written again: {denied}");
    let document = client.get(&format!("/v1/runs/{run}/document")).await.good();
    assert_eq!(document["feedback"], "the end is missing");
    rig.end().await;
}

#[tokio::test]
async fn two_managers_sign_one_amount_and_nobody_else_does() {
    let (rig, clients) = claims(&[
        ("clerk", &[]),
        ("anna", &["managers"]),
        ("ben", &["managers"]),
        ("carl", &["managers"]),
    ])
    .await;
    let [clerk, anna, ben, carl] = &clients[..] else { panic!("four clients") };
    let body = json!({"document": {"amount": 1420.5}});
    let started = post(clerk, "/v1/runs", &body).await.good();
    let run = started["run"].as_str().unwrap();
    assert_eq!(started["waits"][0]["question"], "Pay 1420.5?");
    let approve = |wait: &str| format!("/v1/runs/{run}/waits/{wait}/approve");
    let seen = signed(&started, "fine");
    assert_eq!(clerk.post(&approve("w1"), &seen).await.problem(403), "not_assignee");
    let first = post(anna, &approve("w1"), &seen).await.good();
    assert_eq!(first["status"], "waiting", "one of two: {first}");
    assert_eq!(first["waits"][0]["approval"]["votes"][0]["by"], "anna");
    assert_eq!(anna.post(&approve("w1"), &seen).await.problem(409), "already_approved");
    // Only those who may decide are shown a wait that they may decide.
    let may = |rows: Value| rows["items"][0]["may_answer"].clone();
    assert_eq!(may(anna.get("/v1/inbox").await.good()), json!(false));
    assert_eq!(may(ben.get("/v1/inbox").await.good()), json!(true));
    assert_eq!(clerk.get("/v1/inbox?who=me").await.good()["items"], json!([]));

    // The amount changes between the look and the second yes: both are asked again.
    let patch = json!({"text": "{\"merge\": {\"amount\": 9000}}"});
    let submit = with_json(carl.request("POST", &format!("/v1/runs/{run}/submit")), &patch);
    let submit = submit.header("if-match", format!("\"{}\"", first["version"]));
    let changed = Answer::of(submit).await.good();
    let wait = &changed["waits"][0];
    assert_eq!((&wait["id"], &wait["supersedes"]), (&json!("w2"), &json!(["w1"])), "{changed}");
    assert_eq!(
        wait["subject"]["changes"],
        json!([{"op": "replace", "path": "/amount", "value": 9000}])
    );
    for old in ["w1", "w2"] {
        let refused = ben.post(&approve(old), &seen).await;
        assert_eq!(refused.problem(409), "subject_changed", "{old}");
        let problem: Value = serde_json::from_str(&refused.text).unwrap();
        let difference = json!([{"op": "replace", "path": "/amount", "value": 9000}]);
        let now =
            json!({"wait": "w2", "subject": wait["subject"]["digest"], "changes": difference});
        assert_eq!(problem["changed"], now, "the difference is shown");
    }
    let new = signed(&changed, "fine");
    assert_eq!(carl.post(&approve("w2"), &new).await.problem(403), "not_distinct");
    let forged =
        with_json(ben.request("POST", &approve("w2")), &new).header("countersign-as", "anna");
    assert_eq!(Answer::of(forged).await.problem(403), "impersonation_denied");

    let delegate = format!("/v1/runs/{run}/waits/w2/delegate");
    let to = json!({"to": "clerk", "note": "on leave"});
    assert_eq!(clerk.post(&delegate, &to).await.problem(403), "not_assignee");
    anna.post(&delegate, &to).await.good();
    assert_eq!(clerk.post(&approve("w2"), &new).await.problem(403), "not_distinct");
    post(ben, &approve("w2"), &new).await.good();
    let paid = post(anna, &approve("w2"), &new).await.good();
    assert_eq!((&paid["status"], &paid["phase"]), (&json!("completed"), &json!("paid")), "{paid}");
    let proof = anna.get(&format!("/v1/runs/{run}/verify")).await.good();
    assert_eq!(proof["verified"], true, "{proof}");
    rig.end().await;
}

#[tokio::test]
async fn an_admin_who_acts_as_another_is_not_a_verified_signer() {
    let (rig, clients) = claims(&[("clerk", &[]), ("anna", &["managers"])]).await;
    let body = json!({"document": {"amount": 3}});
    let started = post(&clients[0], "/v1/runs", &body).await.good();
    let approve = format!("/v1/runs/{}/waits/w1/approve", started["run"].as_str().unwrap());
    let seen = signed(&started, "fine");
    let admin = rig.client_of("default", AccessRole::Admin);
    let acting = with_json(admin.request("POST", &approve), &seen).header("countersign-as", "anna");
    assert_eq!(Answer::of(acting).await.problem(403), "not_assignee");
    post(&clients[1], &approve, &seen).await.good();
    rig.end().await;
}

#[tokio::test]
async fn a_wait_says_what_follows_and_why_somebody_may_not_decide() {
    let (rig, clients) = claims(&[("clerk", &[]), ("anna", &["managers"])]).await;
    let [clerk, anna] = &clients[..] else { panic!("two clients") };
    let body = json!({"document": {"amount": 12}});
    let started = post(clerk, "/v1/runs", &body).await.good();
    let run = started["run"].as_str().unwrap();
    let read = async |client: &Client| {
        client.get(&format!("/v1/runs/{run}")).await.good()["waits"][0].clone()
    };
    let wait = read(anna).await;
    assert_eq!(
        wait["outcomes"],
        json!({
            "approve": {"kind": "phase", "phase": "paid", "ends": true, "conditional": false},
            "deny": {"kind": "phase", "phase": "denied", "ends": true, "conditional": false},
        })
    );
    assert_eq!((&wait["may_answer"], &wait["refusal"]), (&json!(true), &Value::Null), "{wait}");
    assert_eq!(wait["requested_by"], json!(["clerk"]));
    let wait = read(clerk).await;
    assert_eq!(
        (&wait["may_answer"], &wait["refusal"]["code"]),
        (&json!(false), &json!("not_assignee"))
    );
    let listed = clerk.get("/v1/inbox").await.good();
    assert_eq!(listed["items"][0]["refusal"]["code"], "not_assignee", "{listed}");
    // A reader decides nothing, whoever the wait is assigned to.
    let new = NewApiKey {
        tenant: "default".to_owned(),
        role: AccessRole::Reader,
        user: Some("anna".to_owned()),
        groups: vec!["managers".to_owned()],
        expires_at: None,
    };
    let secret = rig.keyring.create(new, SystemClock.now()).unwrap().1;
    let reader = Client::new(rig.address, Some(secret.reveal().to_owned()));
    for wait in [read(&reader).await, reader.get("/v1/inbox").await.good()["items"][0].clone()] {
        assert_eq!(
            (&wait["may_answer"], &wait["refusal"]["code"]),
            (&json!(false), &json!("role")),
            "{wait}"
        );
    }
    let approve = format!("/v1/runs/{run}/waits/w1/approve");
    post(anna, &approve, &signed(&started, "fine")).await.good();
    assert_eq!(read(anna).await["refusal"]["code"], "already_approved");
    rig.end().await;
}

/// What a coding agent could try: the codes are those of the HTTP API, and nothing is paid.
#[tokio::test]
async fn the_same_attacks_over_mcp_are_refused() {
    let people: [(&str, &[&str]); 3] = [("clerk", &[]), ("anna", &["managers"]), ("mallory", &[])];
    let (rig, clients) = claims(&people).await;
    let [clerk, anna, mallory] = &clients[..] else { panic!("three clients") };
    let body = json!({"document": {"amount": 1420.5}});
    let started = post(clerk, "/v1/runs", &body).await.good();
    let run = started["run"].as_str().unwrap();
    let seen = &started["waits"][0]["subject"]["digest"];
    let approve = |wait: &str, subject: &Value| json!({"run": run, "wait": wait, "subject": subject, "note": "fine"});
    let code = async |client: &Client, name: &str, arguments: Value| {
        problem_of(client, name, arguments).await["code"].clone()
    };
    assert_eq!(code(anna, "approve", approve("w1", &Value::Null)).await, "subject_required");
    assert_eq!(code(anna, "approve", approve("w1", &json!("sha256:0"))).await, "subject_changed");
    assert_eq!(code(mallory, "approve", approve("w1", seen)).await, "not_assignee");
    assert_eq!(code(mallory, "deny", approve("w1", seen)).await, "not_assignee");
    assert_eq!(code(anna, "deny", json!({"run": run, "wait": "w1"})).await, "note_required");

    // What the phase does not let others write stays as it is; what it does is asked anew.
    let submit =
        |version: &Value, text: &str| json!({"run": run, "version": version, "text": text});
    let elsewhere = submit(&started["version"], r#"{"merge": {"paid_by": "mallory"}}"#);
    assert_eq!(problem_of(mallory, "submit_reply", elsewhere).await, Value::Null);
    let now = clerk.get(&format!("/v1/runs/{run}")).await.good();
    let document = clerk.get(&format!("/v1/runs/{run}/document")).await.good();
    assert_eq!((&now["waits"][0]["id"], document.get("paid_by")), (&json!("w1"), None), "{now}");
    let more = submit(&now["version"], r#"{"merge": {"amount": 9000}}"#);
    assert_eq!(problem_of(mallory, "submit_reply", more).await, Value::Null);
    for old in ["w1", "w2"] {
        let problem = problem_of(anna, "approve", approve(old, seen)).await;
        assert_eq!(problem["code"], "subject_changed", "{problem}");
        assert_eq!(problem["changed"]["wait"], "w2");
        assert_eq!(problem["changed"]["changes"][0]["value"], 9000);
    }
    let end = clerk.get(&format!("/v1/runs/{run}")).await.good();
    assert_eq!((&end["status"], &end["phase"]), (&json!("waiting"), &json!("approval")), "{end}");
    rig.end().await;
}
