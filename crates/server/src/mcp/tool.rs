//! One tool: what a model reads of it, what it needs, and the operation it stands for.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::schema::schema;
use crate::access::{Caller, Need, Role, needed};
use crate::http::{ApiError, App};

/// What a tool does to the world, for clients that ask before they let it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It looks.
    Looks,
    /// It adds something that stays.
    Adds,
    /// It decides something that cannot be taken back.
    Decides,
}

/// What is told of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// By which it is called.
    pub(super) name: &'static str,
    /// For people.
    pub(super) title: &'static str,
    /// The route that does the same: who may use it may use the tool.
    pub(super) route: (&'static str, &'static str),
    /// What it does to the world.
    pub(super) effect: Effect,
    /// For models: when to use it, what comes back, what next.
    pub(super) says: &'static str,
}

type Doing = Pin<Box<dyn Future<Output = Result<Value, ApiError>> + Send>>;

/// One tool.
pub(super) struct Tool {
    told: Told,
    role: Role,
    input: Arc<JsonObject>,
    output: Arc<JsonObject>,
    call: Box<dyn Fn(App, Caller, JsonObject) -> Doing + Send + Sync>,
}

impl Tool {
    /// A tool that stands for an operation.
    pub(super) fn new<I, O, F>(told: Told, operation: fn(App, Caller, I) -> F) -> Self
    where
        I: DeserializeOwned + ToSchema + Send + 'static,
        O: Serialize + ToSchema + 'static,
        F: Future<Output = Result<O, ApiError>> + Send + 'static,
    {
        let (method, path) = told.route;
        let role = match needed(method, path) {
            Some(Need::Role(role) | Need::House(role)) => role,
            Some(Need::Nothing) | None => unreachable!("tool `{}` has no route", told.name),
        };
        let call = move |app, caller, arguments| -> Doing {
            Box::pin(async move {
                let arguments = serde_json::from_value(Value::Object(arguments));
                let arguments = arguments.map_err(|error| {
                    ApiError::wrong("bad_arguments", format!("the arguments: {error}"))
                })?;
                Ok(json!(operation(app, caller, arguments).await?))
            })
        };
        let (input, output) = (Arc::new(schema::<I>()), Arc::new(schema::<O>()));
        Self { told, role, input, output, call: Box::new(call) }
    }

    /// By which it is called.
    pub(super) fn name(&self) -> &'static str {
        self.told.name
    }

    /// Whether it says yes or no in a person's place.
    pub(super) fn decides(&self) -> bool {
        self.told.effect == Effect::Decides
    }

    /// Whether somebody with a role may use it.
    pub(super) fn is_for(&self, role: Role) -> bool {
        role >= self.role
    }

    /// Does it for a caller who may.
    pub(super) async fn call(
        &self,
        app: App,
        caller: Caller,
        arguments: JsonObject,
    ) -> Result<Value, ApiError> {
        if !self.is_for(caller.role) {
            let Self { role, told: Told { name, .. }, .. } = self;
            let detail =
                format!("`{name}` needs the role `{role}`, and yours is `{}`", caller.role);
            return Err(ApiError::forbidden("role", detail));
        }
        // A task of its own: one that breaks down ends by itself, and is told.
        let done = tokio::spawn((self.call)(app, caller, arguments)).await;
        done.map_err(|_| ApiError::ours("broke_down", "the server broke down over this call"))?
    }

    /// As clients list it.
    pub(super) fn listed(&self) -> rmcp::model::Tool {
        let Told { name, title, effect, says, .. } = self.told;
        let annotations = ToolAnnotations::new()
            .read_only(effect == Effect::Looks)
            .destructive(effect == Effect::Decides)
            .open_world(false);
        let input = Arc::clone(&self.input);
        rmcp::model::Tool::new_with_raw(name, Some(Cow::Borrowed(says)), input)
            .with_title(title)
            .with_raw_output_schema(Arc::clone(&self.output))
            .with_annotations(annotations)
    }
}
