#pragma once

#include <string>

#include "base/secret.hpp"
#include "json/binding.hpp"

namespace proteus::app {

struct EmbeddingSettings {
  std::string url;        // empty: search works by words alone, and nothing leaves the gateway
  std::string model;      // as the endpoint calls it
  std::string token_env;  // empty: it wants no token
  Secret token;           // what the variable holds; not a key

  bool enabled() const { return !url.empty(); }
  friend bool operator==(const EmbeddingSettings&, const EmbeddingSettings&) = default;
};

// [search]
struct SearchSettings {
  EmbeddingSettings embeddings;

  friend bool operator==(const SearchSettings&, const SearchSettings&) = default;
};

const json::Binding<SearchSettings>& search_binding();

}  // namespace proteus::app
