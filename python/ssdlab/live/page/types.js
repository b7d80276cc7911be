// The words that the server and the page share, as types for the checker. Nothing here runs.

/**
 * @typedef {object} Choice
 * @property {string} name
 * @property {number | null} op
 * @property {string | null} victim
 * @property {string | null} placement
 */

/**
 * @typedef {object} DriveStatus
 * @property {string} label
 * @property {Choice} choice
 * @property {string} name
 * @property {string} description
 * @property {string} scale
 * @property {string} victim
 * @property {string} placement
 * @property {number} erase_units
 * @property {number} units_per_erase_unit
 * @property {number} mapping_unit_bytes
 * @property {number} physical_bytes
 * @property {number} user_bytes
 * @property {number} over_provisioning
 * @property {number} used_over_provisioning
 * @property {number} endurance_cycles
 */

/**
 * @typedef {object} Workload
 * @property {"random" | "sequential"} kind
 * @property {number} block_bytes
 * @property {number} read_percent
 * @property {number} skew
 * @property {number} trim_percent
 * @property {number} iodepth
 */

/**
 * @typedef {object} Moment
 * @property {string} name
 * @property {number[]} host_written_bytes
 * @property {(number | null)[]} simulated_seconds
 */

/**
 * @typedef {object} Expectation
 * @property {number | null} value
 * @property {string | null} formula
 * @property {string | null} reason
 */

/**
 * @typedef {object} Status
 * @property {number} generation
 * @property {boolean} running
 * @property {boolean} finished
 * @property {string | null} failure
 * @property {number | null} requests_per_second
 * @property {Workload | null} workload
 * @property {string | null} job
 * @property {number} partition_percent
 * @property {boolean} timed
 * @property {number} seed
 * @property {string | null} watched What is watched and not steered, in words; null for a session of this page.
 * @property {DriveStatus[]} drives
 * @property {Moment[]} moments
 * @property {{name: string, step: number} | null} tour
 * @property {Recovery | null} recovery A loss of power that is being shown.
 * @property {Expectation[]} expectations
 */

/**
 * @typedef {object} TourStep
 * @property {string} title
 * @property {string} text
 * @property {string} look
 * @property {string} view
 */

/**
 * @typedef {object} Tour
 * @property {string} name
 * @property {string} title
 * @property {string} source
 * @property {TourStep[]} steps
 */

/**
 * @typedef {object} Hello
 * @property {string} version
 * @property {string[]} columns
 * @property {string[]} parts
 * @property {string[]} views
 * @property {{name: string, description: string, cell: string}[]} drives
 * @property {Record<string, {name: string, summary: string}[]>} policies
 * @property {{name: string, summary: string}[]} jobs
 * @property {Tour[]} tours
 * @property {boolean} [shared] Whether this page can only look, because its session belongs to another.
 */

/**
 * @typedef {Record<string, number | null>} Latency
 */

/**
 * @typedef {object} Since
 * @property {number | null} seconds
 * @property {number} requests
 * @property {number | null} iops
 * @property {number | null} waf
 * @property {number} written_bytes
 * @property {Record<string, number>} programmed_bytes
 * @property {number | null} die_utilization
 * @property {Latency | null} read_latency_ns
 * @property {Latency | null} write_latency_ns
 */

/**
 * @typedef {object} Lately
 * @property {number | null} waf
 * @property {number | null} iops
 */

/**
 * @typedef {object} Figures
 * @property {number | null} simulated_seconds
 * @property {number} requests
 * @property {number} host_written_bytes
 * @property {number} host_read_bytes
 * @property {number} host_trimmed_bytes
 * @property {number} nand_programmed_bytes
 * @property {number | null} waf
 * @property {Record<string, number> | null} waf_parts
 * @property {number} drive_writes
 * @property {number} free_erase_units
 * @property {number | null} effective_over_provisioning
 * @property {{min: number, mean: number, max: number, stddev: number}} erase_count
 * @property {Since} since
 */

/**
 * @typedef {object} Marks
 * @property {[number, string][]} open
 * @property {number[]} emptying
 * @property {number[]} victims
 * @property {[number, number, number][]} moves
 */

/**
 * @typedef {object} Picture
 * @property {number} drive
 * @property {number} view
 * @property {number} number
 * @property {Marks} marks
 * @property {Uint8Array} cells
 * @property {Uint8Array} states
 */

/**
 * What one drive does once its power is back; `recovery.py` makes it.
 * @typedef {object} PowerLoss
 * @property {boolean} power_loss_protection
 * @property {number} torn_units
 * @property {number} checkpoint_units
 * @property {number} scanned_pages
 * @property {number} duration_ns
 * @property {number} checkpoint_ns
 * @property {number} scan_ns
 * @property {number[]} scanned_in_full Erase units, in their order.
 */

/**
 * @typedef {object} Recovery
 * @property {number} number
 * @property {boolean} is_real Whether the drive went through it.
 * @property {boolean} goes_on
 * @property {PowerLoss[]} drives
 */

/**
 * One picture of a sweep: a chart for each panel, in it a line for each value of an axis. Points are a place along the
 * horizontal axis, and the mean, least and most of the runs there.
 * @typedef {object} SweepFigure
 * @property {string} name
 * @property {string} title
 * @property {string} word How its values are said; a function of `words.js`.
 * @property {{name: string, lines: {name: string, points: [number, number, number, number][]}[]}[]} panels
 */

/**
 * A sweep as far as it is kept; `sweep_state.py` makes it.
 * @typedef {object} Sweep
 * @property {string} name
 * @property {string} description
 * @property {string} place
 * @property {string[]} axes
 * @property {number} total
 * @property {number} kept
 * @property {number} read
 * @property {number} failed
 * @property {string[]} damaged
 * @property {string | null} unreachable
 * @property {number | null} runs_per_second
 * @property {number | null} seconds_left
 * @property {{name: string, names: string[] | null, low: number, high: number} | null} x
 * @property {SweepFigure[]} figures
 */

/**
 * @typedef {object} CloseUp
 * @property {string} state
 * @property {string | null} stream
 * @property {number} erase_count
 * @property {number} [slc_mode_erase_count]
 * @property {number} valid
 * @property {string} units
 * @property {number | null} age
 * @property {number | null} temperature
 */

export {};
