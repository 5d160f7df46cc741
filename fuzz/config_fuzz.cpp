// Fuzzes the configuration reader with a configuration file and, after a line of three dashes, a file of contexts/. The
// outcome is either a configuration or faults. Each fault names its file, and its line and column if it is about a key.

#include <cstdint>
#include <string_view>

#include "app/config/read_config.hpp"
#include "check.hpp"

using proteus::fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace proteus::app;
  const std::string_view input = proteus::fuzz::as_text(data, size);
  const auto separator = input.find("\n---\n");
  ConfigSources sources{SourceFile{"proteus.toml", std::string(input.substr(0, separator))}, {}};
  if (separator != std::string_view::npos)
    sources.contexts.push_back({"contexts/more.toml", std::string(input.substr(separator + 5))});
  const auto outcome = read_config(sources, {}, proteus::fixed_environment({{"TOKEN", "t"}}), Purpose::serve);

  bool refused = false;
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    refused = refused || diagnostic.severity == Severity::fault;
    check(!diagnostic.message.empty() && diagnostic.message.size() < 10'000, "a message has a bounded length");
    check(!diagnostic.file.empty(), "a fault names its file");
    check(diagnostic.path.empty() || diagnostic.position.line > 0, "a fault of a key has a position");
    check(!show(diagnostic).contains('\n'), "a fault is one line");
    const std::string written = boost::json::serialize(write_diagnostic(diagnostic));
    check(proteus::fuzz::boost_opinion(written).value.has_value(), "a fault is JSON, UTF-8 included");
  }
  check(outcome.config.has_value() != refused, "there is a configuration, or a fault");
  check(outcome.diagnostics.size() <= kMaxDiagnostics, "diagnostics are bounded");
  if (outcome.config) {
    for (const auto& entry : outcome.config->upstreams) {
      const auto restored = proteus::providers::restore_upstream(proteus::providers::write_upstream(entry),
                                                                 proteus::providers::write_upstream_secrets(entry),
                                                                 outcome.config->upstream_defaults);
      check(restored.has_value() && *restored == entry, "an upstream is read back as it was written");
    }
  }
  return 0;
}
