// Maps that take from another map what they do not say themselves.

#include "base/config_reader.h"

namespace inferscale {
namespace {

// What `own` reads as when `base` fills its gaps.
ConfigNode filled(const ConfigNode& own, const ConfigNode& base) {
  if (!own.is_map() || !base.is_map()) return own;
  ConfigNode merged = own;
  for (const ConfigNode::Entry& entry : base.entries()) {
    const ConfigNode* written = own.find(entry.key);
    merged.put(entry.key, written == nullptr ? entry.value : filled(*written, entry.value),
               entry.key_position);
  }
  return merged;
}

}  // namespace

ConfigReader ConfigReader::inheriting(const ConfigReader& base,
                                      std::initializer_list<Inheritance> keys) const {
  ConfigNode merged = *node_;
  for (const Inheritance& rule : keys) {
    const ConfigNode* from = base.node_->find(rule.key);
    if (from == nullptr) continue;
    const ConfigNode* own = node_->find(rule.key);
    if (own == nullptr) {
      merged.append(std::string(rule.key), *from, from->position());
      continue;
    }
    const ConfigNode* choice = own->find(rule.chooser);
    const ConfigNode* inherited = from->find(rule.chooser);
    const bool differs =
        choice != nullptr && (inherited == nullptr || choice->text() != inherited->text());
    if (!differs) merged.put(std::string(rule.key), filled(*own, *from), own->position());
  }
  session_->inherited_.push_back(std::move(merged));
  ConfigReader reader = *this;
  reader.node_ = &session_->inherited_.back();
  return reader;
}

ConfigReader ConfigReader::with_defaults(const ConfigNode& defaults,
                                         std::initializer_list<Inheritance> keys) const {
  ConfigSession unused;
  const ConfigReader reader = inheriting(ConfigReader(defaults, unused), keys);
  for (const Inheritance& rule : keys) {
    const ConfigNode* value = reader.node_->find(rule.key);
    if (value != nullptr) session_->fill_in(path_of(rule.key), *value);
  }
  return reader;
}

}  // namespace inferscale
