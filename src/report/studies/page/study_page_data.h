// What the page of a study shows, as JSON. Its figures are those of result.json as they are.

#pragma once

#include <string>

#include "report/studies/page/study_folder_reader.h"

namespace inferscale {

// Which runs and which of their figures the page has.
const StudyRunsWanted& study_page_runs();

// Bounded in size however large the study was: long lists of the result are thinned, the plan is
// left out when it is long. Safe to stand inside a <script> element: it holds no '<'.
//
//   {study: {kind, name, inferscale, simulated, warnings: [], opening: [{head, text, command}],
//   text,
//            plan: map or null},
//    result,
//    left_out: {"candidates": {shown, count}},   lists of which not all items are in `result`
//    runs: {count, failed, figures: [names],
//           rows: [{repeat, figures: [number or null], failure: text or null}]}}
//
// `text` is the study's text for terminals; `opening` how it begins (text_opening.h).
std::string study_page_json(const StudyFolderContent& study, const std::string& text);

// Thins lists of more than `most` items, or of large ones of fewer, wherever they are in `result`;
// returns what was left out.
// Items that are marked ("frontier": true and the like: any member that is true and whose key ends
// in "frontier") stay, of the others every n-th.
Json thin_lists(Json& result, std::size_t most);

}  // namespace inferscale
