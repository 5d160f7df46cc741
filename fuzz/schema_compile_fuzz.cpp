// A schema, a line of three dashes, an instance, both arbitrary JSON: compiling and validating must end, in
// time and in memory, and the two ways to validate must agree.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <boost/json/parse.hpp>

#include "json/schema/schema.hpp"

namespace {

// Small enough that the fuzzer is not slowed down by inputs that only reach a limit.
proteus::json::SchemaOptions options() {
  proteus::json::SchemaOptions options;
  options.limits.work = 100'000;
  options.documents.emplace("http://example.com/other", boost::json::parse(R"({
      "$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}],
      "definitions": {"a": {"$id": "http://example.com/inner", "minimum": 1}}})"));
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const proteus::json::SchemaOptions kOptions = options();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto separator = input.find("\n---\n");
  if (separator == std::string_view::npos) return 0;
  boost::json::error_code error;
  const auto document = boost::json::parse(input.substr(0, separator), error);
  if (error) return 0;
  const auto instance = boost::json::parse(input.substr(separator + 5), error);
  if (error) return 0;

  const auto schema = proteus::json::Schema::compile(document, kOptions);
  if (!schema) return 0;
  const auto validation = (*schema)->validate(instance);
  // Explaining takes work of its own, so only what was decided within the limit can be compared; and as time
  // in patterns counts, a machine that paused is no fault.
  int disagreements = 0;
  while (validation.complete && validation.ok() != (*schema)->accepts(instance)) {
    if (++disagreements == 3) std::abort();
  }
  for (const auto& fault : validation.errors) {
    if (fault.message.empty() || fault.message.size() > 10'000) std::abort();
  }
  return 0;
}
