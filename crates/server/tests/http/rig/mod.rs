//! An app with a server before it, in a folder of its own, and a client.

mod answer;
mod client;
mod server;
mod sound;

pub(crate) use answer::Answer;
pub(crate) use client::{Client, json, signed};
pub(crate) use server::{Rig, demo_folder, serve, serve_keyed};
pub(crate) use sound::sound_bodies;
