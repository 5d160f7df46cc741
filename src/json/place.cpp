#include "json/place.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/schema/explain.hpp"
#include "json/schema/json_pointer.hpp"

namespace proteus::json {
namespace {

bool is_bare(std::string_view key) {
  return !key.empty() && key.size() <= 100 && std::ranges::all_of(key, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

}  // namespace

Place Place::member(std::string_view key) const {
  Place place(*faults_, secrets_);
  place.up_ = this;
  place.key_ = key;
  place.step_ = Step::member;
  return place;
}

Place Place::item(std::size_t index) const {
  Place place(*faults_, secrets_);
  place.up_ = this;
  place.index_ = index;
  place.step_ = Step::item;
  return place;
}

void Place::fault(std::string message) const {
  if (faults_->full()) return;
  faults_->add({pointer(), path(), std::move(message)});
}

std::string Place::pointer() const {
  std::string out = up_ == nullptr ? std::string() : up_->pointer();
  if (step_ == Step::member) schema::append_pointer_token(out, key_);
  if (step_ == Step::item) fmt::format_to(std::back_inserter(out), "/{}", index_);
  return out;
}

std::string Place::path() const {
  std::string out = up_ == nullptr ? std::string() : up_->path();
  if (step_ == Step::item) fmt::format_to(std::back_inserter(out), "[{}]", index_);
  if (step_ == Step::member) {
    if (!out.empty()) out += '.';
    out += is_bare(key_) ? std::string(key_) : schema::explain::quoted(key_, 100);
  }
  return out;
}

}  // namespace proteus::json
