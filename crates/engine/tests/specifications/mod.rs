//! Every specification is survived: its run ends, without a panic. `found/` has those on which a run once did not.

mod drawing;
mod drawn;
mod found;
mod running;
