#include "report/studies/page/study_page.h"

#include "base/edge/output_file.h"
#include "report/page.h"
#include "report/studies/page/study_folder_reader.h"
#include "report/studies/page/study_page_assets.h"
#include "report/studies/page/study_page_data.h"
#include "report/studies/study_texts.h"

namespace inferscale {

Result<std::string> render_study_report(const std::string& folder) {
  const Result<StudyFolderContent> study = read_study_folder(folder, study_page_runs());
  if (!study) return std::unexpected(study.error());
  // The text reads every part of the result, so a result that it takes is whole.
  Result<std::string> text =
      study_text(study->kind, study->result.dump(-1, ' ', false, Json::error_handler_t::replace),
                 PlotGlyphs::kUnicode);
  if (!text) {
    Error error = text.error();
    error.where = folder + "/" + error.where;
    return std::unexpected(std::move(error));
  }
  return assemble_page(
      {.style = kStudyStyle, .script = kStudyScript, .data_json = study_page_json(*study, *text)});
}

Result<void> write_study_report(const std::string& folder, const std::string& out_path) {
  const Result<std::string> page = render_study_report(folder);
  if (!page) return std::unexpected(page.error());
  return write_file(out_path, *page);
}

}  // namespace inferscale
