//! The flash itself: its geometry, the wear of its blocks, its faults.

pub mod array;
pub mod geometry;
pub mod occupancy;

pub use array::{Array, Erased};
pub use geometry::Geometry;
