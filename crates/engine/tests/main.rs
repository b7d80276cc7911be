//! All tests that use the engine from outside, as one program: as one program each, the engine's generic code is compiled
//! again for every one of them.

mod against_fio;
mod background;
mod host;
mod live;
mod memory;
mod namespaces;
mod policies;
mod reduction;
mod slc_cache;
mod specifications;
mod state;
mod stripe;
mod timed;
mod twin;
mod zones;
