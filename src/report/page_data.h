// What the report page shows, as JSON: the manifest, the summary, and every plot's numbers, worked
// out here so that the page computes nothing.

#pragma once

#include <string>

#include "report/run_folder_reader.h"

namespace inferscale {

// Bounded in size however long the run was. Safe to stand inside a <script> element: it holds no
// '<', so no text of the run (a name, a warning, a path) can end the element.
//
//   {manifest, summary, fleet: null or {replicas, quantiles, rows: [{pool, replica, up_s,
//      busy_fraction, finished, preemptions, prefix_hit_rate, kv_used_mean, kv_used_peak,
//      queue_peak}]},
//    sessions: see session_page_data.h,
//    series: {cdf: {ttft, tpot, e2e, itl_max}: {ms: [], percent: [], count},
//             scatter: {t_s: [], ms: [], verdict: "+-.", candidates, group},
//             ttft_over_time: {t_s: [], p50: [], p95: []},
//             rates: {width_s, arrived: [], finished: [], refused: []},
//             lengths: {prompt, output}: {first, width, counts: [], open_ended, min, max},
//             timeline: {t_s: [], queue, running, kv: {min: [], mean: [], max: []}, instants,
//                        instants_per_point, replicas}}}
//
// Rows of `fleet` are replicas, or with `quantiles` those of each pool; there are none for a single
// replica. Without outcomes only `timeline` stands in `series`. In `verdict`, one letter a point:
// '+' met the targets, '-' missed them, '.' was not judged. `kv` is in percent.
std::string page_data_json(const RunFolder& run);

}  // namespace inferscale
