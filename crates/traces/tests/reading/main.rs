//! The readers from outside: what they read, what they refuse, and that nothing makes them panic.

mod events;
mod fixtures;
mod formats;
mod malformed;
mod real_fio;
mod round_trip;
mod samples;
mod writers;
