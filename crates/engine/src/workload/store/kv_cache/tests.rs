//! The requests of the cache compared with a list of chunks, and with arithmetic.

use crate::random::Random;
use crate::request::{Operation, Request};
use crate::specification::Job;
use crate::specification::store::{Store, Tree};
use crate::workload::store::popularity::Popularity;
use crate::workload::store::{StoreCounts, StoreStream};
use std::collections::VecDeque;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const OFFSET_BYTES: u64 = 64 * KIB;
const CHUNK_BYTES: u64 = 96 * KIB;

#[derive(Clone, Copy)]
struct Cache {
    slots: u64,
    layers: u32,
    sessions: u32,
    turn_chunks: u32,
    context_chunks: u32,
    zipf_theta: Option<f64>,
}

const CACHE: Cache =
    Cache { slots: 40, layers: 1, sessions: 12, turn_chunks: 2, context_chunks: 10, zipf_theta: Some(0.8) };

fn store(cache: Cache) -> Store {
    let Cache { slots, layers, sessions, turn_chunks, context_chunks, zipf_theta } = cache;
    Store {
        tree: Tree::KvCache { chunk_bytes: CHUNK_BYTES, layers, sessions, turn_chunks, context_chunks, zipf_theta },
        // Part of a chunk at the end stays empty.
        data_bytes: slots * CHUNK_BYTES + 8 * KIB,
        request_bytes: 64 * KIB as u32,
        trims: true,
        identifiers: Vec::new(),
        begins_after_bytes: 0,
    }
}

fn job(io_bytes: u64) -> Job {
    Job { offset_bytes: OFFSET_BYTES, size_bytes: 100 * MIB, io_bytes, seed: 7, ..Job::default() }
}

fn played(store: &Store, io_bytes: u64) -> (Vec<Request>, StoreCounts) {
    let mut stream = StoreStream::new(&job(io_bytes), store).unwrap();
    let mut out = Vec::new();
    let mut random = Random::new(1);
    while stream.fill(&mut out, 1 + random.below(300) as usize).unwrap() > 0 {}
    (out, stream.counts().clone())
}

fn sum(requests: &[Request], operation: Operation) -> u64 {
    requests.iter().filter(|each| each.operation == operation).map(|each| u64::from(each.length_bytes)).sum()
}

/// A chunk of the twin: who wrote it, which life of that session, which chunk of its history.
type Name = (u64, u32, u32);

/// Slots with names; the order of use is a queue, least recent first; all is found by search.
struct Twin {
    in_slot: Vec<Option<Name>>,
    order: VecDeque<usize>,
    lives: Vec<(u32, u32)>,
    popularity: Popularity,
    random: Random,
    cache: Cache,
}

impl Twin {
    fn new(cache: Cache) -> Self {
        let mut random = Random::new(7);
        Self {
            in_slot: vec![None; cache.slots as usize],
            order: VecDeque::new(),
            lives: vec![(0, 0); cache.sessions as usize],
            popularity: Popularity::new(cache.zipf_theta, u64::from(cache.sessions), &mut random),
            random,
            cache,
        }
    }

    fn find(&self, name: Name) -> Option<usize> {
        self.in_slot.iter().position(|&found| found == Some(name))
    }

    fn use_slot(&mut self, slot: usize) {
        self.order.retain(|&other| other != slot);
        self.order.push_back(slot);
    }

    /// The slots that a turn reads, evicts and writes.
    fn turn(&mut self) -> [Vec<usize>; 3] {
        let session = self.popularity.draw(&mut self.random);
        let added = 1 + self.random.below(u64::from(2 * self.cache.turn_chunks - 1)) as u32;
        let added = added.min(self.cache.context_chunks);
        let (mut life, mut chunks) = self.lives[session as usize];
        if chunks + added > self.cache.context_chunks {
            (life, chunks) = (life + 1, 0);
        }
        self.lives[session as usize] = (life, chunks + added);
        let (mut read, mut evicted, mut written) = (Vec::new(), Vec::new(), Vec::new());
        let mut asked = 0..chunks + added;
        while let Some(slot) = self.find((session, life, asked.start)) {
            read.push(slot);
            asked.start += 1;
        }
        read.iter().rev().for_each(|&slot| self.use_slot(slot));
        for chunk in asked {
            assert_eq!(self.find((session, life, chunk)), None, "what is left of a history is its beginning");
            let slot = self.in_slot.iter().position(Option::is_none).unwrap_or_else(|| {
                evicted.push(self.order[0]);
                self.order[0]
            });
            self.in_slot[slot] = Some((session, life, chunk));
            self.use_slot(slot);
            written.push(slot);
        }
        read.iter().chain(&written).rev().for_each(|&slot| self.use_slot(slot));
        [read, evicted, written]
    }
}

/// The slots in the order in which their whole chunks are asked for.
fn slots(requests: &[Request], operation: Operation) -> Vec<usize> {
    let starts =
        requests.iter().filter(|each| each.operation == operation).map(|each| each.offset_bytes - OFFSET_BYTES);
    starts.filter(|start| start % CHUNK_BYTES == 0).map(|start| (start / CHUNK_BYTES) as usize).collect()
}

#[test]
fn as_a_twin_that_searches_a_list() {
    let few = Cache { slots: 10, ..CACHE };
    let uniform = Cache { zipf_theta: None, sessions: 5, ..CACHE };
    for cache in [CACHE, few, uniform, Cache { turn_chunks: 10, ..CACHE }] {
        let (requests, _) = played(&store(cache), 4000 * CHUNK_BYTES);
        let mut twin = Twin::new(cache);
        let mut expected: [Vec<usize>; 3] = Default::default();
        while expected[2].len() < 4000 {
            for (all, part) in expected.iter_mut().zip(twin.turn()) {
                all.extend(part);
            }
        }
        for (operation, mut expected) in [Operation::Read, Operation::Trim, Operation::Write].into_iter().zip(expected)
        {
            let found = slots(&requests, operation);
            assert!(!found.is_empty() || cache.turn_chunks == 10);
            // The job ends within the last turn.
            assert!(expected.len() - found.len() < 20, "{operation:?}");
            expected.truncate(found.len());
            assert_eq!(found, expected, "{operation:?}");
        }
    }
}

#[test]
fn what_fits_is_written_once_and_always_hit() {
    // Sessions of up to ten chunks, in their first and second lives.
    let cache = Cache { slots: 600, ..CACHE };
    let (requests, counts) = played(&store(cache), 200 * CHUNK_BYTES);
    assert_eq!(counts.rebuilt_bytes, 0, "nothing is computed again: a hit rate of 1");
    assert_eq!(counts.user_bytes, sum(&requests, Operation::Write), "only what is new is written");
    assert_eq!(counts.read_bytes, sum(&requests, Operation::Read));
    assert!(counts.read_bytes > counts.user_bytes);
    assert_eq!(counts.deleted_bytes, 0);
    let mut written = slots(&requests, Operation::Write);
    written.sort_unstable();
    assert_eq!(written, (0..200).collect::<Vec<_>>());
}

#[test]
fn sessions_that_never_return_make_a_ring() {
    let cache = Cache { turn_chunks: 1, context_chunks: 1, ..CACHE };
    let (requests, counts) = played(&store(cache), 400 * CHUNK_BYTES);
    assert_eq!((counts.read_bytes, counts.rebuilt_bytes), (0, 0), "a hit rate of 0");
    let expected: Vec<usize> = (0..400).map(|index| index % 40).collect();
    assert_eq!(slots(&requests, Operation::Write), expected);
    assert_eq!(slots(&requests, Operation::Trim), expected[40..]);
}

/// A session returns with its history in the cache only if it took one of the last few turns.
#[test]
fn a_cache_of_one_context_hits_next_to_nothing() {
    let cache = Cache { slots: 10, sessions: 5000, zipf_theta: None, ..CACHE };
    let (_, counts) = played(&store(cache), 100_000 * CHUNK_BYTES);
    let hit_rate = counts.read_bytes as f64 / (counts.read_bytes + counts.rebuilt_bytes) as f64;
    assert!((0.0..0.002).contains(&hit_rate), "{hit_rate}");
}

#[test]
fn trims_equal_evictions_and_change_no_other_request() {
    let with = store(Cache { layers: 4, ..CACHE });
    let (mut requests, counts) = played(&with, 1000 * CHUNK_BYTES);
    let evicted = counts.user_bytes + counts.rebuilt_bytes - 40 * CHUNK_BYTES;
    let of_the_last_turn = 10 * CHUNK_BYTES;
    assert!((evicted..=evicted + of_the_last_turn).contains(&counts.deleted_bytes), "{counts:?}");
    assert_eq!(sum(&requests, Operation::Trim), counts.deleted_bytes);
    let (untrimmed, same) = played(&Store { trims: false, ..with }, 1000 * CHUNK_BYTES);
    requests.retain(|request| request.operation != Operation::Trim);
    assert_eq!(untrimmed, requests);
    assert_eq!(same, counts);
}

#[test]
fn layers_have_regions_and_the_same_bytes() {
    let (whole, counts) = played(&store(CACHE), 1000 * CHUNK_BYTES);
    let (layerwise, in_pieces) = played(&store(Cache { layers: 4, ..CACHE }), 1000 * CHUNK_BYTES);
    // The job ends within a turn, which is ordered differently.
    let close = |one: u64, other: u64| one.abs_diff(other) <= 10 * CHUNK_BYTES;
    assert!(close(counts.read_bytes, in_pieces.read_bytes) && close(counts.user_bytes, in_pieces.user_bytes));
    assert!(close(counts.rebuilt_bytes, in_pieces.rebuilt_bytes));
    assert_eq!(sum(&whole, Operation::Write), sum(&layerwise, Operation::Write));
    let piece = CHUNK_BYTES / 4;
    let region = 40 * piece;
    let mut by_layer = [0; 4];
    for request in layerwise.iter().filter(|request| request.operation == Operation::Write) {
        let layer = ((request.offset_bytes - OFFSET_BYTES) / region) as usize;
        by_layer[layer] += u64::from(request.length_bytes);
    }
    assert!(by_layer.iter().all(|&bytes| close(bytes, 250 * CHUNK_BYTES)), "{by_layer:?}");
    let slots_of = |requests: &[Request], layer: u64| -> Vec<u64> {
        let writes = requests.iter().filter(|request| request.operation == Operation::Write);
        let within = writes.map(|request| (request.offset_bytes - OFFSET_BYTES).wrapping_sub(layer * region));
        within.filter(|&within| within < region && within % piece == 0).map(|within| within / piece).collect()
    };
    let of_whole: Vec<u64> = slots(&whole, Operation::Write).into_iter().map(|slot| slot as u64).collect();
    for layer in 0..4 {
        let found = slots_of(&layerwise, layer);
        assert!(found.len() > 980);
        let both = found.len().min(of_whole.len());
        assert_eq!(found[..both], of_whole[..both], "every layer goes through the same slots");
    }
}

#[test]
fn first_turns_and_later_turns_have_their_identifiers() {
    let (requests, counts) = played(&Store { identifiers: vec![3, 5], ..store(CACHE) }, 1000 * CHUNK_BYTES);
    let of = |identifier: u8| {
        let writes = requests.iter().filter(|request| request.operation == Operation::Write);
        let those = writes.filter(|request| request.content.identifier == identifier);
        those.map(|request| u64::from(request.length_bytes)).sum::<u64>()
    };
    assert_eq!(of(3) + of(5), counts.user_bytes + counts.rebuilt_bytes);
    // A life of up to ten chunks, two a turn: about one turn in five is the first.
    let share = of(3) as f64 / counts.user_bytes as f64;
    assert!((0.15..0.3).contains(&share), "{share}");
}

#[test]
fn a_job_that_begins_later_goes_on_where_the_first_ended() {
    let (whole, _) = played(&store(CACHE), 900 * CHUNK_BYTES);
    let (mut parts, _) = played(&store(CACHE), 500 * CHUNK_BYTES);
    let later = Store { begins_after_bytes: 500 * CHUNK_BYTES, ..store(CACHE) };
    parts.extend(played(&later, 399 * CHUNK_BYTES).0);
    assert_eq!(parts, whole[..parts.len()]);
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    let refused = |cache: Cache| StoreStream::new(&job(MIB), &store(cache)).unwrap_err().to_string();
    let cases = [
        (Cache { layers: 0, ..CACHE }, "store.tree.layers = 0: allowed is 1 or more"),
        (Cache { layers: 5, ..CACHE }, "store.tree.chunk_bytes = 98304: allowed is a multiple of 20480, 4096 a layer"),
        (
            Cache { slots: 9, ..CACHE },
            "store.tree.context_chunks = 10: allowed is 1 to 9, the chunks that the cache holds",
        ),
        (Cache { turn_chunks: 11, ..CACHE }, "store.tree.turn_chunks = 11: allowed is 1 to 10, the context"),
        (Cache { turn_chunks: 0, ..CACHE }, "store.tree.turn_chunks = 0: allowed is 1 to 10, the context"),
        (Cache { sessions: 0, ..CACHE }, "store.tree.sessions = 0: allowed is 1 to 26843545, with up to 2^28 chunks"),
        (Cache { zipf_theta: Some(0.0), ..CACHE }, "store.tree.zipf_theta = 0: allowed is above 0"),
    ];
    for (cache, said) in cases {
        let error = refused(cache);
        assert!(error.starts_with(said), "{error}");
    }
}
