#include "app/config/search_settings.hpp"

#include "app/config/url_check.hpp"
#include "base/settings/environment.hpp"

namespace proteus::app {
namespace {

using json::field;
using json::text;

Result<> check_variable(std::string_view name) { return name.empty() ? Result<>() : check_variable_name(name); }

const json::Binding<EmbeddingSettings>& embedding_binding() {
  using S = EmbeddingSettings;
  static const json::Binding<S> binding{
      field("url", &S::url, text({.max_bytes = 2048, .check = check_url}),
            "Endpoint that answers in the usual `/v1/embeddings` form. Queries and definitions are sent there."),
      field("model", &S::model, text({.max_bytes = 256}), "Model to ask it for."),
      field("token_env", &S::token_env, text({.max_bytes = 256, .check = check_variable}),
            "Environment variable that holds its token."),
  };
  return binding;
}

void check_embeddings(const EmbeddingSettings& settings, const json::Place& place) {
  if (settings.enabled() && settings.model.empty()) place.fault("needs a model");
  if (!settings.enabled() && !settings.model.empty()) place.fault("needs a url");
}

}  // namespace

const json::Binding<SearchSettings>& search_binding() {
  using S = SearchSettings;
  static const json::Binding<S> binding{
      field(
          "embeddings", &S::embeddings, json::table<EmbeddingSettings>(embedding_binding(), check_embeddings),
          "Also rank by meaning, with vectors from this endpoint. If it does not answer in time, words alone decide."),
  };
  return binding;
}

}  // namespace proteus::app
