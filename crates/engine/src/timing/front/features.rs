//! The stages between host and flash, as types: a drive without a stage runs code without it.

pub(super) trait Features {
    /// No link, no limit of commands, no time for trims, no buffer, no waits for map pages or streams, and no decision
    /// that depends on the load.
    const IS_DIRECT: bool;
    /// Whether the breakdown of latencies is recorded; None: decided at run time.
    const TELLS_PARTS: Option<bool>;
}

pub(super) enum Direct {}
pub(super) enum DirectWithoutParts {}
pub(super) enum AnyFeatures {}

impl Features for Direct {
    const IS_DIRECT: bool = true;
    const TELLS_PARTS: Option<bool> = Some(true);
}

impl Features for DirectWithoutParts {
    const IS_DIRECT: bool = true;
    const TELLS_PARTS: Option<bool> = Some(false);
}

impl Features for AnyFeatures {
    const IS_DIRECT: bool = false;
    const TELLS_PARTS: Option<bool> = None;
}

/// The features of a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeatureSet {
    Direct,
    DirectWithoutParts,
    Any,
}

/// Calls a method for the features of a front.
macro_rules! for_features {
    ($front:ident . $method:ident ( $($argument:expr),* )) => {
        match $front.features {
            $crate::timing::front::features::FeatureSet::Direct => {
                $front.$method::<$crate::timing::front::features::Direct>($($argument),*)
            }
            $crate::timing::front::features::FeatureSet::DirectWithoutParts => {
                $front.$method::<$crate::timing::front::features::DirectWithoutParts>($($argument),*)
            }
            $crate::timing::front::features::FeatureSet::Any => {
                $front.$method::<$crate::timing::front::features::AnyFeatures>($($argument),*)
            }
        }
    };
}
pub(super) use for_features;
