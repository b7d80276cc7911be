//! What a drive does with data, as one program: as one program each, the engine's generic code is compiled again for
//! every one of them. NVMe is another, since it looks at the memory that the process takes.

mod as_a_run;
mod durability;
mod full_disk;
mod in_flight;
mod killed;
mod map_cache;
mod model;
mod power_loss;
mod recorded;
mod reduction;
#[path = "../tiny/durability.rs"]
mod simulation;
mod slc_cache;
#[path = "../tiny/mod.rs"]
mod tiny;
