//! Every specification is survived: its run ends, without a panic. `found/` has those on which a run once did not.

mod found;
mod running;
