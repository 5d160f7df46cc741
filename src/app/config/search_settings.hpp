#pragma once

#include <string>

#include "base/secrets/secret.hpp"
#include "json/binding.hpp"

namespace proteus::app {

struct EmbeddingSettings {
  std::string url;        // empty: search by words alone; nothing leaves the gateway
  std::string model;      // its name at the endpoint
  std::string token_env;  // empty: the endpoint needs no token
  Secret token;           // value of the variable; not a key

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
