#include "cli/policy_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/signal_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

using Words = std::vector<std::string>;

struct Described {
  std::vector<KeyDescription> keys;
  PolicyNeeds needs;
};

// Reading in the mode that describes takes defaults, and 0 where there is none.
Described describe(const PolicyEntry& entry) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode nothing = ConfigNode::map({});
  ConfigReader reader(nothing, session);
  const PolicyFactory factory = entry.read(reader);
  reader.finish();
  Described described{.keys = session.descriptions(), .needs = {}};
  if (factory) described.needs = factory({})->needs();
  return described;
}

Words signal_words(const PolicyNeeds& needs) {
  Words words;
  for (const SignalSpec& spec : all_signals()) {
    if (!needs.signals.has(spec.signal)) continue;
    words.push_back(fmt::format("{} ({})", spec.name, origin_word(spec.origin)));
  }
  return words;
}

Words other_needs(const PolicyNeeds& needs) {
  Words words;
  if (needs.request.tenant) words.emplace_back("tenant");
  if (needs.request.session) words.emplace_back("session");
  if (needs.request.deadline) words.emplace_back("deadline");
  if (needs.request.itl_target) words.emplace_back("itl_target");
  if (needs.request.predicted_output) words.emplace_back("predicted_output");
  if (needs.request.true_output) words.emplace_back("true_output");
  if (needs.service_model) words.emplace_back("service_model");
  if (needs.outcomes) words.emplace_back("outcomes");
  return words;
}

std::string joined(const Words& words, std::string_view empty) {
  if (words.empty()) return std::string(empty);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

JsonValue list_json(const Words& words) {
  JsonValue list = JsonValue::array();
  for (const std::string& word : words) list.append(word);
  return list;
}

JsonValue signals_json(const PolicyNeeds& needs) {
  JsonValue list = JsonValue::array();
  for (const SignalSpec& spec : all_signals()) {
    if (!needs.signals.has(spec.signal)) continue;
    list.append(JsonValue::object().add("name", spec.name).add("from", origin_word(spec.origin)));
  }
  return list;
}

const LoadedPlugin* plugin_of(std::string_view policy, const PluginSearch& search) {
  const auto found = std::find_if(search.loaded.begin(), search.loaded.end(),
                                  [&](const LoadedPlugin& one) { return one.policy == policy; });
  return found == search.loaded.end() ? nullptr : &*found;
}

// Its rules name what it reads; without any there is nothing to show.
std::string signals_text(const PolicyCard& card, const PolicyNeeds& needs) {
  return joined(signal_words(needs), card.name == "rules" ? "those of its rules" : "-");
}

// In a table a long list would push everything else off the screen: then how many there are.
std::string signals_cell(const PolicyCard& card, const PolicyNeeds& needs) {
  constexpr std::size_t kMostNamed = 3;
  const std::size_t count = signal_words(needs).size();
  if (count > kMostNamed) return fmt::format("{} signals: see its card", count);
  return signals_text(card, needs);
}

JsonValue summary_json(const PolicyEntry& entry, const PolicyNeeds& needs,
                       const PluginSearch& search) {
  const PolicyCard& card = entry.card;
  const LoadedPlugin* plugin = plugin_of(card.name, search);
  const auto text = [](std::string_view value) {
    return value.empty() ? JsonValue() : JsonValue(value);
  };
  JsonValue value = JsonValue::object();
  value.add("name", card.name)
      .add("summary", card.summary)
      .add("unit", unit_name(card.unit))
      .add("slo_awareness", text(card.slo_awareness))
      .add("signal_structure", text(card.signal_structure))
      .add("signals", signals_json(needs))
      .add("needs", list_json(other_needs(needs)))
      .add("inspired_by", text(card.inspired_by))
      .add("preserved", text(card.preserved))
      .add("dropped", text(card.dropped))
      .add("plugin", plugin == nullptr ? JsonValue()
                                       : JsonValue::object()
                                             .add("path", plugin->path)
                                             .add("version", text(plugin->version)));
  return value;
}

const ParameterNote* note_of(const PolicyCard& card, const std::string& key) {
  const auto found = std::find_if(card.parameters.begin(), card.parameters.end(),
                                  [&](const ParameterNote& note) { return note.key == key; });
  return found == card.parameters.end() ? nullptr : &*found;
}

}  // namespace

PolicyNeeds default_needs(const PolicyEntry& entry) {
  return describe(entry).needs;
}

std::string policies_text(const PluginSearch& search) {
  TextTable table({"policy", "unit", "signals (where from)", "needs besides", "inspired by"});
  for (const PolicyEntry& entry : all_policies()) {
    const PolicyNeeds needs = default_needs(entry);
    const PolicyCard& card = entry.card;
    table.add({std::string(card.name), std::string(unit_name(card.unit)), signals_cell(card, needs),
               joined(other_needs(needs), "-"),
               card.inspired_by.empty() ? "-" : std::string(card.inspired_by)});
  }
  std::string text = table.text();
  text +=
      "\n  Signals are those of the defaults. 'inferscale policies NAME' shows a policy's card, "
      "'inferscale signals' the signals.\n";
  if (search.loaded.empty()) return text;
  TextTable plugins({"plug-in", "version", "file"});
  for (const LoadedPlugin& plugin : search.loaded) {
    plugins.add({plugin.policy, plugin.version.empty() ? "-" : plugin.version, plugin.path});
  }
  return text + "\n" + plugins.text();
}

JsonValue policies_json(const PluginSearch& search) {
  JsonValue list = JsonValue::array();
  for (const PolicyEntry& entry : all_policies()) {
    list.append(summary_json(entry, default_needs(entry), search));
  }
  return list;
}

std::string policy_text(const PolicyEntry& entry, const PluginSearch& search) {
  const PolicyCard& card = entry.card;
  const Described described = describe(entry);
  std::string text = fmt::format("{}: {}\n\n", card.name, card.summary);
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<14}{}\n", name, value);
  };
  line("unit", unit_name(card.unit));
  line("SLO awareness", card.slo_awareness);
  line("rule", card.signal_structure);
  line("signals", signals_text(card, described.needs));
  line("needs", joined(other_needs(described.needs), "nothing besides"));
  line("inspired by", card.inspired_by);
  line("preserved", card.preserved);
  line("dropped", card.dropped);
  if (const LoadedPlugin* plugin = plugin_of(card.name, search)) {
    line("plug-in", plugin->path);
    line("version", plugin->version);
  } else {
    line("page", fmt::format("docs/policies/{}.md", card.name));
  }
  if (described.keys.empty()) return text + "\n  no parameters\n";
  TextTable table({"parameter", "type", "default", "unit", "from", "note", "meaning"});
  for (const KeyDescription& key : described.keys) {
    const ParameterNote* note = note_of(card, key.path);
    table.add({key.path, key.type, key.fallback, key.unit,
               std::string(note != nullptr ? note->provenance : ""),
               std::string(note != nullptr ? note->note : ""), key.doc});
  }
  return text + "\n" + table.text();
}

JsonValue policy_json(const PolicyEntry& entry, const PluginSearch& search) {
  const Described described = describe(entry);
  JsonValue parameters = JsonValue::array();
  for (const KeyDescription& key : described.keys) {
    const ParameterNote* note = note_of(entry.card, key.path);
    parameters.append(JsonValue::object()
                          .add("key", key.path)
                          .add("type", key.type)
                          .add("default", key.fallback)
                          .add("unit", key.unit)
                          .add("meaning", key.doc)
                          .add("provenance", note ? JsonValue(note->provenance) : JsonValue())
                          .add("note", note ? JsonValue(note->note) : JsonValue()));
  }
  JsonValue value = summary_json(entry, described.needs, search);
  value.add("parameters", std::move(parameters));
  return value;
}

}  // namespace inferscale
