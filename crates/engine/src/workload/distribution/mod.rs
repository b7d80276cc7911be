//! Positions of requests, one distribution a file. A scattered one draws blocks (`Blocks`), a sequential one advances
//! through bytes (`Place`); `Places` is the choice among them, made once when a stream is built.

pub mod cut_map;
pub mod like_fio;
pub mod normal;
pub mod pareto;
pub mod random_map;
pub mod sequential;
pub mod strided;
pub mod uniform;
pub mod zipf;
pub mod zoned;

use super::composed::Composed;
use super::place::{Extent, Place, Scattered};
use super::sizes::Sizes;
use super::zones::Zones;
use crate::random::Random;

/// The positions of a stream's requests.
#[derive(Clone, Debug)]
pub enum Places {
    /// See `sequential`.
    Sequential(sequential::Sequential),
    /// See `strided`.
    Strided(strided::Strided),
    /// See `uniform`.
    Uniform(Scattered<uniform::Uniform>),
    /// See `random_map`.
    RandomMap(Scattered<random_map::RandomMap>),
    /// See `cut_map`.
    CutMap(cut_map::CutMap),
    /// See `zipf`.
    Zipf(Scattered<zipf::Zipf>),
    /// See `zipf`.
    CoarseZipf(Scattered<zipf::CoarseZipf>),
    /// See `pareto`.
    Pareto(Scattered<pareto::Pareto>),
    /// See `normal`.
    Normal(Scattered<normal::Normal>),
    /// See `zoned`.
    Zoned(Scattered<zoned::Zoned>),
    /// See `zoned`.
    ScatteredZones(Scattered<zoned::ScatteredZones>),
    /// See `like_fio`.
    LikeFio(Scattered<like_fio::LikeFio>),
    /// See [`Composed`].
    Composed(Box<Composed<Self>>),
    /// See [`Zones`].
    Zones(Box<Zones<Self>>),
}

/// Applies the same to each variant.
macro_rules! each {
    ($places:expr, $inner:ident => $does:expr) => {
        match $places {
            Places::Sequential($inner) => $does,
            Places::Strided($inner) => $does,
            Places::Uniform($inner) => $does,
            Places::RandomMap($inner) => $does,
            Places::CutMap($inner) => $does,
            Places::Zipf($inner) => $does,
            Places::CoarseZipf($inner) => $does,
            Places::Pareto($inner) => $does,
            Places::Normal($inner) => $does,
            Places::Zoned($inner) => $does,
            Places::ScatteredZones($inner) => $does,
            Places::LikeFio($inner) => $does,
            Places::Composed($inner) => $does,
            Places::Zones($inner) => $does,
        }
    };
}
pub(super) use each;

impl Place for Places {
    /// For nested positions, with a branch a request; a stream chooses once for a batch.
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        each!(self, places => places.next(job_class, sizes, random))
    }

    fn start_over(&mut self, random: &mut Random) {
        each!(self, places => places.start_over(random));
    }

    fn pass_is_over(&self, job_class: usize) -> bool {
        each!(self, places => places.pass_is_over(job_class))
    }
}
