// Fuzzes JSON Schema with a schema, a line of three dashes, and an instance, both arbitrary JSON. Compiling and
// validating must stay within limits of time and memory, and `validate` and `accepts` must agree.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <boost/json/parse.hpp>

#include "json/schema/schema.hpp"

namespace {

// Limits the work, so that inputs that merely reach a limit do not slow down the fuzzer.
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
  // `validate` takes more work than `accepts`, so only complete validations are compared. Time in patterns counts as
  // work, so a disagreement may come from a pause of the machine: only the third in a row is a finding.
  int disagreements = 0;
  while (validation.complete && validation.ok() != (*schema)->accepts(instance)) {
    if (++disagreements == 3) std::abort();
  }
  for (const auto& fault : validation.errors) {
    if (fault.message.empty() || fault.message.size() > 10'000) std::abort();
  }
  return 0;
}
