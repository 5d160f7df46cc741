#include <memory>

#include "catalog/definitions/definition_list.hpp"

namespace proteus::catalog {

DefinitionList::Pointer DefinitionList::derive(const Pointer& list,
                                               const std::function<Face(const Definition&)>& face) {
  std::vector<Face> faces;
  faces.reserve(list->size());
  std::size_t bytes = 0;
  bool same = true;
  for (const Definition& definition : list->definitions()) {
    const Face& one = faces.emplace_back(face(definition));
    same = same && one.kept && !one.text;
    if (one.kept) bytes += 1 + (one.text ? one.text->size() : definition.text.size());
  }
  if (same) return list;

  std::unique_ptr<DefinitionList> derived(new DefinitionList(list->kind()));
  derived->rules_ = list->rules_;
  derived->origin_ = list;
  derived->modern_output_ = list->modern_output_;
  derived->task_only_ = list->task_only_;
  derived->text_.reserve(bytes);
  constexpr std::uint32_t kGone = UINT32_MAX;
  std::vector<std::uint32_t> places(list->size(), kGone);
  std::vector<std::size_t> begins;
  begins.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (!faces[i].kept) continue;
    places[i] = static_cast<std::uint32_t>(derived->definitions_.size());
    if (!derived->text_.empty()) derived->text_.push_back(',');
    begins.push_back(derived->text_.size());
    Definition definition = (*list)[i];
    derived->text_ += faces[i].text ? std::string_view(*faces[i].text) : definition.text;
    derived->definitions_.push_back(definition);
  }
  // The buffer does not move any more, so views into it are safe.
  const std::string_view text = derived->text_;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] - 1 : text.size();
    derived->definitions_[i].text = text.substr(begins[i], end - begins[i]);
  }
  for (Key key : list->keys_) {
    if (places[key.index] == kGone) continue;
    key.index = places[key.index] & 0x7FFFFFFFU;
    derived->keys_.push_back(key);
  }
  for (const std::uint32_t index : list->by_precision_) {
    if (places[index] != kGone) derived->by_precision_.push_back(places[index]);
  }
  return Pointer(std::move(derived));
}

}  // namespace proteus::catalog
