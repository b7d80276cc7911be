//! Does the timed drive keep the laws of queues and the closed forms that follow from the drive file's own numbers?

mod by_hand;
mod die_choice;
mod erases;
mod experiment;
mod fusing;
mod gc_throttling;
mod in_flight;
mod laws;
mod own_turns;
mod page_types;
mod reclaim_groups;
mod retries;
mod slc_groups;
mod suspending;
mod ties;
mod waiting_erases;
