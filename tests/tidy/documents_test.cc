// Documents and links, on made-up texts and on the project.

#include "tidy/documents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace inferscale::tidy {
namespace {

using Strings = std::vector<std::string>;

TEST(NamesBetween, AreFoundInCodeOnly) {
  EXPECT_EQ(names_between("add(\"a\"); // add(\"b\");\nadd(\"c d\", 1); add(x);", "add(\"", "\""),
            (Strings{"a", "c d"}));
}

TEST(LocalLinks, LeaveOutTheNetworkAndCode) {
  const auto links = local_links(
      "[a](b.md) ![p](c.png \"title\")\n[x](https://x.org) [m](mailto:x@y)\n"
      "`[code](no.md)`\n```\n[code](no.md)\n```\n[d](#part)\n");
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[0].target, "b.md");
  EXPECT_EQ(links[1].target, "c.png");
  EXPECT_EQ(links[2].target, "#part");
  EXPECT_EQ(links[2].line, 7);
}

TEST(HeadingAnchors, AreThoseOfGitHub) {
  EXPECT_EQ(heading_anchors("# The run, again\ntext\n## `a_b` (c-d)\n## x\n## x\n```\n# no\n```\n"),
            (Strings{"the-run-again", "a_b-c-d", "x", "x-1"}));
}

TEST(CheckLinks, FindsFilesFoldersAndHeadings) {
  const std::string page = "# Part\n";
  const TextOf text_of = [&](const std::string& path) {
    return path == "docs/a.md" || path == "docs/pictures" ? &page : nullptr;
  };
  const auto broken = [&](const std::string& link) {
    return check_links({"docs/x.md", "\n[l](" + link + ")\n"}, text_of);
  };
  EXPECT_TRUE(broken("a.md").empty());
  EXPECT_TRUE(broken("../docs/a.md#part").empty());
  EXPECT_TRUE(broken("pictures").empty());
  EXPECT_EQ(broken("b.md"), Strings{"docs/x.md:2: the link 'b.md' leads nowhere"});
  EXPECT_FALSE(broken("a.md#other").empty());
  EXPECT_FALSE(broken("#part").empty());
}

// The project's own file, "" for a folder and for what is not text, null when it is not there.
const std::string* project_text(const std::string& path) {
  static const std::string empty;
  for (const ProjectFile& file : project_files()) {
    if (file.path == path) return &file.text;
  }
  const auto place = std::filesystem::path(INFERSCALE_SOURCE_DIR) / path;
  return std::filesystem::exists(place) ? &empty : nullptr;
}

TEST(Project, HasLinksThatLeadSomewhere) {
  expect_none(violations_of([](const ProjectFile& f) { return check_links(f, project_text); }));
}

// Every name in the code between the marks, in files below `folder`.
Strings names_in(std::string_view folder, std::string_view before, std::string_view after) {
  Strings names;
  for (const ProjectFile& file : project_files()) {
    if (!file.is_cxx() || !file.is_below(folder) || file.is_test()) continue;
    for (std::string& name : names_between(file.text, before, after)) names.push_back(name);
  }
  return names;
}

// "trace_inspect" has a page of its own, or a part of the page "trace" that shows how it is called.
bool is_documented(const std::string& command) {
  if (project_text("docs/commands/" + command + ".md") != nullptr) return true;
  const std::size_t underscore = command.find('_');
  const std::string group = command.substr(0, underscore);
  const std::string* page = project_text("docs/commands/" + group + ".md");
  if (page == nullptr || underscore == std::string::npos) return false;
  const std::string call = "inferscale " + group + " " + command.substr(underscore + 1);
  return page->find(call) != std::string::npos;
}

TEST(Project, DocumentsEveryCommand) {
  const std::string* table = project_text("src/cli/commands.h");
  ASSERT_NE(table, nullptr);
  const Strings commands = names_between(*table, "make_", "_command()");
  EXPECT_FALSE(commands.empty());
  for (const std::string& command : commands) {
    EXPECT_TRUE(is_documented(command)) << "docs/commands/" << command << ".md";
  }
}

TEST(Project, DocumentsEveryScheduler) {
  const Strings schedulers = names_in("src/replica", "SchedulerRules{.name = \"", "\"");
  EXPECT_FALSE(schedulers.empty());
  for (const std::string& scheduler : schedulers) {
    EXPECT_NE(project_text("docs/schedulers/" + scheduler + ".md"), nullptr)
        << "docs/schedulers/" << scheduler << ".md";
  }
}

// A lock file with download addresses ties the project to one registry.
TEST(Project, LocksNoDownloadAddresses) {
  for (const ProjectFile& file : project_files()) {
    if (!file.path.ends_with("package-lock.json")) continue;
    EXPECT_EQ(file.text.find("\"resolved\""), std::string::npos) << file.path;
  }
}

}  // namespace
}  // namespace inferscale::tidy
