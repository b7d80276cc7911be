//! What each policy on the engine's lists decides, as its definition says, from a full look at the twin.
//!
//! A policy that is on a list and not here fails `every_policy_on_the_lists_has_a_twin`, which says where it belongs.

use super::model::{State, Twin};
use serde_json::{Map, Value};
use ssdlab_engine::policies::{Description, placement, victim, wear};
use ssdlab_engine::random::{Random, mix, scale};
use ssdlab_engine::specification::drive::{Drive, PolicyChoice};

pub struct Policies {
    victim: Victim,
    placement: Placement,
    wear: Wear,
    /// By stream: units that the host wrote to it, halved whenever all of them are more than four drives full.
    recent_units: Vec<u64>,
    /// The identifier that came with the last request.
    pub said: u8,
}

enum Victim {
    Greedy,
    Fifo,
    /// Random garbage collection draws one.
    DChoices {
        d: u64,
        random: Random,
    },
    WindowedGreedy {
        window: usize,
    },
    CostBenefit,
    CostBenefitByLoss,
}

#[derive(Debug, PartialEq)]
enum Placement {
    Single,
    HostGcSplit,
    HostStreams {
        identifiers: u8,
        persistently_isolated: bool,
        reclaim_groups: usize,
    },
    /// The ages at which one class ends and the next, colder one begins.
    Frequency {
        borders: Vec<u64>,
        has_spare_each: bool,
        error_share: f64,
    },
    /// The units at which one class ends and the next begins, each with its own spare area.
    Parts {
        borders: Vec<u32>,
    },
}

enum Wear {
    None,
    Dynamic,
    Static { threshold: u32, next: usize },
}

impl Policies {
    pub fn new(drive: &Drive, erase_units: usize, seed: u64) -> Self {
        let placement = placement_of(drive);
        Self {
            victim: victim_of(&drive.ftl.victim, erase_units, seed),
            recent_units: vec![0; placement.streams()],
            placement,
            wear: wear_of(&drive.ftl.wear_leveling),
            said: 0,
        }
    }

    pub fn streams(&self) -> usize {
        self.placement.streams()
    }

    pub fn reclaim_groups(&self) -> usize {
        match self.placement {
            Placement::HostStreams { reclaim_groups, .. } => reclaim_groups,
            _ => 1,
        }
    }
}

/// What a drive says of a policy, defaults filled in.
fn parameters(choice: &PolicyChoice, list: &[Description]) -> Map<String, Value> {
    let listed = list.iter().find(|description| description.name == choice.name);
    let mut all = listed.unwrap_or_else(|| panic!("no policy is called {}", choice.name)).parameters.clone();
    all.extend(choice.parameters.clone());
    all
}

fn no_twin(kind: &str, name: &str) -> ! {
    panic!("the {kind} policy {name:?} has no twin: say in crates/engine/tests/twin/policies.rs what it decides")
}

fn victim_of(choice: &PolicyChoice, erase_units: usize, seed: u64) -> Victim {
    let parameters = parameters(choice, &victim::descriptions());
    let random = Random::new(seed ^ 0x7669_6374);
    match choice.name.as_str() {
        "greedy" => Victim::Greedy,
        "fifo" => Victim::Fifo,
        "d-choices" => Victim::DChoices { d: parameters["d"].as_u64().unwrap(), random },
        "random" => Victim::DChoices { d: 1, random },
        "windowed-greedy" => {
            let share = parameters["window"].as_f64().unwrap();
            Victim::WindowedGreedy { window: (erase_units as f64 * share).ceil() as usize }
        }
        "cost-benefit" => Victim::CostBenefit,
        "cost-benefit-by-loss" => Victim::CostBenefitByLoss,
        name => no_twin("victim", name),
    }
}

fn placement_of(drive: &Drive) -> Placement {
    let choice = &drive.ftl.placement;
    let parameters = parameters(choice, &placement::descriptions());
    let user_units = drive.ftl.user_bytes / super::UNIT;
    // Four times as long a life for each class colder, the middle at one drive write.
    let frequency = |key: &str, has_spare_each| {
        let classes = parameters[key].as_u64().unwrap() as i32;
        let life = |class: i32| user_units as f64 * 4f64.powf(f64::from(class) - (f64::from(classes) - 2.0) / 2.0);
        let error_share = parameters["error_share"].as_f64().unwrap();
        let borders = (0..classes - 1).map(|class| life(class) as u64).collect();
        Placement::Frequency { borders, has_spare_each, error_share }
    };
    match choice.name.as_str() {
        "single" => Placement::Single,
        "host-gc-split" => Placement::HostGcSplit,
        "host-streams" => Placement::HostStreams {
            identifiers: parameters["identifiers"].as_u64().unwrap() as u8,
            persistently_isolated: parameters["persistently_isolated"].as_bool().unwrap(),
            reclaim_groups: parameters["reclaim_groups"].as_u64().unwrap() as usize,
        },
        "frequency-frontiers" => frequency("frontiers", false),
        "class-spare" => match parameters["borders"].as_array().unwrap().as_slice() {
            [] => frequency("classes", true),
            shares => {
                let unit = |share: &Value| (user_units as f64 * share.as_f64().unwrap()).round() as u32;
                Placement::Parts { borders: shares.iter().map(unit).collect() }
            }
        },
        name => no_twin("placement", name),
    }
}

fn wear_of(choice: &PolicyChoice) -> Wear {
    let parameters = parameters(choice, &wear::descriptions());
    match choice.name.as_str() {
        "none" => Wear::None,
        "dynamic" => Wear::Dynamic,
        "static" => Wear::Static { threshold: parameters["threshold"].as_u64().unwrap() as u32, next: 0 },
        name => no_twin("wear", name),
    }
}

impl Placement {
    fn streams(&self) -> usize {
        match self {
            Self::Single => 1,
            Self::HostGcSplit => 2,
            Self::HostStreams { identifiers, persistently_isolated, reclaim_groups } => {
                let for_gc = match (persistently_isolated, reclaim_groups) {
                    (false, _) => 1,
                    (true, 1) => 0,
                    (true, _) => usize::from(*identifiers),
                };
                (usize::from(*identifiers) + for_gc) * reclaim_groups
            }
            Self::Frequency { borders, .. } => borders.len() + 1,
            Self::Parts { borders } => borders.len() + 1,
        }
    }
}

impl Twin {
    /// Host units written since the drive was new.
    fn now(&self) -> u64 {
        self.ledger.programmed_units.host
    }

    fn is_in(&self, erase_unit: usize, pool: Option<usize>) -> bool {
        self.state[erase_unit] == State::Closed
            && self.is_in_turn(erase_unit)
            && pool.is_none_or(|stream| self.stream[erase_unit] == stream)
    }

    /// A victim of the stream's erase units, or of any where it has none.
    pub fn victim(&mut self, pool: Option<usize>) -> usize {
        self.victim_in(pool).or_else(|| self.victim_in(None)).expect("a closed erase unit")
    }

    fn victim_in(&mut self, pool: Option<usize>) -> Option<usize> {
        let oldest_first: Vec<usize> =
            self.closed_in_order.iter().copied().filter(|&closed| self.is_in(closed, pool)).collect();
        let mut by_number = oldest_first.clone();
        by_number.sort_unstable();
        match &self.policies.victim {
            Victim::Fifo => oldest_first.first().copied(),
            Victim::Greedy => by_number.into_iter().min_by_key(|&closed| self.live(closed)),
            Victim::CostBenefit => self.most_beneficial(by_number, |twin, unit| twin.now() - twin.closed_at[unit] + 1),
            Victim::CostBenefitByLoss => self.most_beneficial(by_number, Self::since_loss),
            Victim::WindowedGreedy { window } => {
                let stream = self.stream[*oldest_first.first()?];
                let of_stream = oldest_first.iter().copied().filter(|&closed| self.stream[closed] == stream);
                of_stream.take(*window).min_by_key(|&closed| self.live(closed))
            }
            &Victim::DChoices { d, .. } => {
                let drawn: Vec<usize> = (0..d).map_while(|_| self.draw(pool, &by_number)).collect();
                drawn.into_iter().min_by_key(|&closed| self.live(closed))
            }
        }
    }

    /// What is gained by its age, for the work: (1 - u) x age / 2u.
    fn most_beneficial(&self, by_number: Vec<usize>, age: impl Fn(&Self, usize) -> u64) -> Option<usize> {
        let benefit = |&erase_unit: &usize| {
            let (live, units) = (self.live(erase_unit) as f64, self.data_units() as f64);
            let age = age(self, erase_unit) as f64;
            if live == 0.0 { f64::INFINITY } else { (units - live) * age / (2.0 * live) }
        };
        by_number.into_iter().rev().max_by(|one, other| benefit(one).total_cmp(&benefit(other)))
    }

    /// Since the closing of any erase unit before which this one lost something, or since its own; and one erase unit.
    fn since_loss(&self, erase_unit: usize) -> u64 {
        let lost = |&at: &usize| {
            let (closed, _, live) = &self.closings[at];
            *closed == erase_unit || live[erase_unit] < self.closings[at - 1].2[erase_unit]
        };
        let last = (0..self.closings.len()).rev().find(lost).expect("it was closed");
        self.now() - self.closings[last].1 + self.data_units() as u64
    }

    /// One of the candidates, with the engine's own random numbers: any erase unit, until it is one of them; after 64
    /// in vain the candidates are listed.
    fn draw(&mut self, pool: Option<usize>, candidates: &[usize]) -> Option<usize> {
        let in_turn: Vec<usize> = (0..self.state.len()).filter(|&unit| self.is_in_turn(unit)).collect();
        for _ in 0..64 {
            let drawn = in_turn[self.random().below(in_turn.len() as u64) as usize];
            if self.is_in(drawn, pool) {
                return Some(drawn);
            }
        }
        let count = candidates.len() as u64;
        (count > 0).then(|| candidates[self.random().below(count) as usize])
    }

    fn random(&mut self) -> &mut Random {
        match &mut self.policies.victim {
            Victim::DChoices { random, .. } => random,
            _ => unreachable!("only policies that draw ask for numbers"),
        }
    }

    /// For how long, on average, what an erase unit holds has been there.
    fn age(&self, erase_unit: usize) -> u64 {
        self.now() - self.born_at[erase_unit]
    }

    pub fn host_stream(&self, lpn: u32) -> usize {
        match &self.policies.placement {
            Placement::Single | Placement::HostGcSplit => 0,
            Placement::HostStreams { .. } => usize::from(self.policies.said),
            Placement::Parts { borders } => borders.iter().filter(|&&border| lpn >= border).count(),
            Placement::Frequency { borders, error_share, .. } => {
                let (class, age) = match self.map.get(&lpn) {
                    None => (borders.len(), 0),
                    Some(&(old, _)) => match (self.stream[old], class_of(self.age(old), borders), self.age(old)) {
                        (class, seen, age) if seen < class => (class - 1, age),
                        (class, seen, age) if seen > class => (class + 1, age),
                        (class, _, age) => (class, age),
                    },
                };
                // A share of the hashes of address and age are errors, and a hash of the hash says which other class.
                let hash = mix(mix(u64::from(lpn)).wrapping_add(age));
                let is_error = (hash as f64) < error_share * 2f64.powi(64);
                let others: Vec<usize> = (0..=borders.len()).filter(|&other| other != class).collect();
                if is_error { others[scale(mix(hash), others.len() as u64).0 as usize] } else { class }
            }
        }
    }

    pub fn gc_stream(&self, victim: usize) -> usize {
        match &self.policies.placement {
            Placement::Single => 0,
            Placement::HostGcSplit => 1,
            Placement::HostStreams { persistently_isolated: false, identifiers, reclaim_groups } => {
                usize::from(*identifiers) * reclaim_groups + victim % reclaim_groups
            }
            Placement::HostStreams { identifiers, reclaim_groups, .. } if *reclaim_groups > 1 => {
                let (handles, stream) = (usize::from(*identifiers), self.stream[victim]);
                assert_eq!(stream % reclaim_groups, victim % reclaim_groups, "its group is that of its dies");
                if stream < handles * reclaim_groups { stream + handles * reclaim_groups } else { stream }
            }
            Placement::HostStreams { .. } | Placement::Parts { .. } => self.stream[victim],
            Placement::Frequency { borders, .. } => {
                let class = self.stream[victim];
                class + usize::from(class_of(self.age(victim), borders) > class)
            }
        }
    }

    /// The stream that is furthest above its part of the spare area, where each has one: a part in proportion to the
    /// square root of what it holds times what was lately written to it.
    pub fn pool_to_collect(&mut self) -> Option<usize> {
        match self.policies.placement {
            Placement::Parts { .. } | Placement::Frequency { has_spare_each: true, .. } => {}
            _ => return None,
        }
        let recent_units = &mut self.policies.recent_units;
        if recent_units.iter().sum::<u64>() > 4 * u64::from(self.user_units) {
            recent_units.iter_mut().for_each(|recent| *recent /= 2);
        }
        let streams = 0..self.policies.recent_units.len();
        let in_use: Vec<Vec<usize>> = streams
            .clone()
            .map(|stream| {
                let of_stream = |&unit: &usize| self.state[unit] != State::Free && self.stream[unit] == stream;
                (0..self.state.len()).filter(of_stream).collect()
            })
            .collect();
        let room: Vec<f64> = in_use.iter().map(|units| (units.len() * self.data_units()) as f64).collect();
        let live = |units: &Vec<usize>| units.iter().map(|&unit| self.live(unit)).sum::<usize>() as f64;
        let live: Vec<f64> = in_use.iter().map(live).collect();
        let weight = |stream: usize| (self.policies.recent_units[stream] as f64 * live[stream]).sqrt();
        let spare = room.iter().sum::<f64>() - live.iter().sum::<f64>();
        let weights: f64 = streams.clone().map(weight).sum();
        let part = |stream| if weights > 0.0 { spare * weight(stream) / weights } else { 0.0 };
        let above = |stream: usize| room[stream] - live[stream] - part(stream);
        let with_some = streams.filter(|&stream| in_use[stream].len() > 1);
        with_some.rev().max_by(|&one, &other| above(one).total_cmp(&above(other)))
    }

    pub fn note_host_write(&mut self, stream: usize) {
        self.policies.recent_units[stream] += 1;
    }

    /// The free erase unit among these places of the list that is opened next.
    pub fn next_free(&self, slots: impl Iterator<Item = usize>) -> Option<usize> {
        match self.policies.wear {
            Wear::None => slots.min(),
            Wear::Dynamic | Wear::Static { .. } => {
                slots.min_by_key(|&slot| (self.erase_counts[self.free[slot]], self.free[slot]))
            }
        }
    }

    /// What has fallen behind the most worn by more than the threshold, looking on from where the last look ended.
    pub fn erase_unit_to_level(&mut self) -> Option<usize> {
        let most = self.erase_counts.iter().copied().max().expect("erase units");
        let erase_units = self.state.len();
        let Wear::Static { threshold, next } = self.policies.wear else { return None };
        assert!(erase_units <= 64, "no more are looked at for an erase");
        let mut in_turn = (0..erase_units).map(|step| (next + step) % erase_units);
        let behind = in_turn.find(|&unit| most - self.erase_counts[unit] > threshold && self.is_in(unit, None))?;
        self.policies.wear = Wear::Static { threshold, next: (behind + 1) % erase_units };
        Some(behind)
    }
}

fn class_of(age: u64, borders: &[u64]) -> usize {
    borders.iter().filter(|&&border| age >= border).count()
}

#[test]
fn every_policy_on_the_lists_has_a_twin() {
    let drive = Drive::textbook();
    for description in victim::descriptions() {
        victim_of(&PolicyChoice::named(description.name), 16, 1);
    }
    for description in placement::descriptions() {
        let mut drive = drive.clone();
        drive.ftl.placement = PolicyChoice::named(description.name);
        placement_of(&drive);
    }
    for description in wear::descriptions() {
        wear_of(&PolicyChoice::named(description.name));
    }
}
