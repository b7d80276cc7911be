//! Statistical judgement for the tests of the streams.

/// Fails if counts do not follow the weights by a chi-squared test.
///
/// Cells are merged until each expects 10 counts. The bound is 5 standard deviations of the statistic by the Wilson and
/// Hilferty (1931) approximation: a correct generator fails once in three million, and the seeds of tests are fixed.
pub fn assert_shares(counts: &[u64], weights: &[f64]) {
    assert_eq!(counts.len(), weights.len());
    let total = counts.iter().sum::<u64>() as f64;
    let weight: f64 = weights.iter().sum();
    let (mut statistic, mut cells) = (0.0, 0.0);
    let (mut observed, mut expected) = (0.0, 0.0);
    for (&count, &share) in counts.iter().zip(weights) {
        assert!(share > 0.0 || count == 0, "an impossible outcome came up {count} times");
        observed += count as f64;
        expected += share / weight * total;
        if expected >= 10.0 {
            statistic += (observed - expected) * (observed - expected) / expected;
            cells += 1.0;
            (observed, expected) = (0.0, 0.0);
        }
    }
    assert!(cells > 1.0, "too few counts to judge by");
    let freedom: f64 = cells - 1.0;
    let deviations = ((statistic / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / (2.0 / (9.0 * freedom)).sqrt();
    assert!(deviations < 5.0, "chi-squared {statistic} at {freedom} degrees: {deviations} deviations");
}

#[test]
#[should_panic(expected = "deviations")]
fn a_wrong_share_is_seen() {
    assert_shares(&[5400, 4600], &[1.0, 1.0]);
}

#[test]
fn a_right_share_passes() {
    assert_shares(&[5050, 4950], &[1.0, 1.0]);
}
