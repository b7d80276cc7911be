//! Specifications on which a run once did not end or panicked, found by drawing and made small.

use super::running::{Fate, check, outcome_within};
use serde_json::{Value, json};
use ssdlab_engine::simulation::start;

/// Writes wait for space in a buffer that is closed or paced, and all that could make space waits for further writes.
#[test]
fn writes_larger_than_what_a_closed_buffer_admits_pass() {
    passes(include_str!("found/closed-buffer-slc-cache.json"));
    passes(include_str!("found/closed-buffer-three-pages-a-program.json"));
    passes(include_str!("found/paced-buffer-smaller-than-a-write.json"));
}

/// A closed buffer that had no room for the first write asked again eight million times a second, until one had crossed a
/// link of 1 MB/s: so many events without a change were taken for a run that stands still.
#[test]
fn a_closed_buffer_that_has_no_room_waits_until_it_has() {
    passes(include_str!("found/closed-buffer-beside-a-slow-link.json"));
}

/// While the trims of another job were in progress nobody padded the group that a write waited for.
#[test]
fn a_write_does_not_wait_for_the_trims_of_another_job_to_end() {
    passes(include_str!("found/trims-beside-writes-until-steady.json"));
}

/// Units that are not stored free their space in the buffer when they arrive, and not when a program ends.
#[test]
fn writes_of_which_all_repeat_free_their_space() {
    passes(include_str!("found/repeated-writes-over-a-link.json"));
}

/// After a saved state the flash did not know which erase units were in SLC mode: a write without a buffer waited for the
/// rest of a larger program group.
#[test]
fn a_run_from_a_state_goes_on_in_slc_mode() {
    passes(include_str!("found/slc-cache-from-a-state.json"));
}

/// A read that a stream serves was charged with the last program's time, of which the flash knew no more.
#[test]
fn a_read_that_waits_for_no_flash_is_not_charged_with_a_program() {
    passes(include_str!("found/reads-from-a-stream-after-writes.json"));
}

/// Each read that a stream completed at once began the next within itself, until the stack was full.
#[test]
fn reads_that_a_window_holds_do_not_fill_the_stack() {
    passes(include_str!("found/reads-that-a-window-holds-without-a-link.json"));
}

/// A drive that admits a share of the rate of arrival halts a host that waits for it, more with each write; the time of
/// the next admission came to be later than the clock can tell.
#[test]
fn a_run_that_takes_longer_than_the_clock_can_tell_is_an_error() {
    let text = include_str!("found/pauses-longer-than-the-clock-can-tell.json");
    let mut run = start(&serde_json::from_str(text).unwrap()).unwrap();
    let error = std::iter::repeat_with(|| run.advance(1000)).take(10_000).find_map(Result::err).unwrap();
    assert!(error.to_string().ends_with("three days; this one does not"), "{error}");
}

/// A job that ended all others ended one that ends its stage, and the stages after that one went on.
#[test]
fn a_job_that_ends_all_others_is_not_overruled_by_one_that_ends_its_stage() {
    survives(include_str!("found/ended-by-a-job-that-ends-all.json"));
}

/// Where a write without a buffer waits for its group, whether that is filled up was asked at the end of each step.
#[test]
fn the_steps_change_nothing_on_a_drive_without_a_buffer() {
    survives(include_str!("found/superblocks-without-buffer-in-steps.json"));
    survives(include_str!("found/blocks-with-a-limit-of-commands-in-steps.json"));
}

/// The flush at the end of a job was subtracted from the requests of a depth that is refilled, which had not counted it.
#[test]
fn the_flush_at_the_end_is_none_of_the_requests_that_refill_a_depth() {
    passes(include_str!("found/refill-and-a-flush-at-the-end.json"));
}

/// Trims that take no time never reach the end of a job that runs for a time.
#[test]
fn commands_that_take_no_time_are_refused() {
    let mut specification: Value =
        serde_json::from_str(include_str!("found/trims-beside-writes-until-steady.json")).unwrap();
    for microseconds in [0.0, 0.0004] {
        specification["drive"]["controller"] = json!({ "command_us": microseconds });
        let refused = start(&serde_json::from_value(specification.clone()).unwrap()).err().expect("an error");
        assert_eq!(refused.key, "controller.command_us");
    }
}

/// What is held out was subtracted in slots, of which packed data has many in a unit, and so the flash was too small.
#[test]
fn reserved_flash_is_subtracted_in_mapping_units() {
    survives(include_str!("found/reserved-flash-with-data-reduction.json"));
}

/// A segment that was put in order took the erase units that garbage collection needs.
#[test]
fn putting_in_order_leaves_the_reserve() {
    survives(include_str!("found/defragmentation-of-small-blocks.json"));
}

/// The index of moved data took all that its stale slots gave: one pool was collected without an end, in one write,
/// until all memory was full of decisions.
#[test]
fn garbage_collection_that_gains_nothing_is_not_repeated_in_one_pool() {
    survives(include_str!("found/packed-data-without-room.json"));
}

/// On SATA the flush behind a write waited for commands that had entered, of which one waited for the write's slot.
#[test]
fn a_flush_does_not_wait_for_commands_without_a_slot() {
    survives(include_str!("found/synchronous-writes-with-fewer-slots.json"));
}

/// A device of a stripe heard that a program had begun only at its next event, and went on from the time of the beginning:
/// the others were later by then, and reads started before they came.
#[test]
fn devices_of_a_stripe_keep_time_where_programs_free_the_buffer_when_they_begin() {
    survives(include_str!("found/stripe-that-frees-its-buffer-at-programs.json"));
}

/// The clock of a stripe stood before the event with which a device became read-only, and its dies were busy longer.
#[test]
fn a_stripe_has_the_time_of_the_event_that_ends_it() {
    survives(include_str!("found/stripe-that-becomes-read-only.json"));
}

/// With no erased unit left, padding a whole group took the room that the rest of a victim needed.
#[test]
fn padding_leaves_room_for_the_victim() {
    survives(include_str!("found/padding-beside-a-victim.json"));
}

/// A job that only repeats what it wrote programs nothing, and no round of the steady state would ever begin.
#[test]
fn a_stage_until_the_steady_state_ends_without_rounds() {
    for timed in [false, true] {
        let mut specification: Value =
            serde_json::from_str(include_str!("found/repeated-writes-over-a-link.json")).unwrap();
        specification["timed"] = timed.into();
        specification["until"] = json!({ "kind": "steady-state", "round_bytes": 8 << 20, "host_bytes_max": 64 << 20 });
        passes(&specification.to_string());
        // Reads without an end, and writes that have ended.
        specification["drive"]["data_reduction"]["deduplication"] = false.into();
        specification["jobs"][0]["ends_others"] = "none".into();
        let mut reads = specification["jobs"][0].clone();
        reads["direction"] = "read".into();
        specification["jobs"][0]["runtime_ns"] = 1_000_000.into();
        specification["jobs"][0]["time_based"] = true.into();
        specification["jobs"].as_array_mut().unwrap().push(reads);
        passes(&specification.to_string());
    }
}

/// All that must hold of a run holds.
fn survives(specification_json: &str) {
    let specification = serde_json::from_str(specification_json).expect("a specification");
    assert_eq!(check(&specification), Fate::Ended);
}

fn passes(specification_json: &str) {
    let specification = serde_json::from_str(specification_json).expect("a specification");
    assert_eq!(outcome_within(30_000_000, &specification).failure, None);
}
