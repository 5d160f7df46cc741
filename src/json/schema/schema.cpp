#include "json/schema/schema.hpp"

#include <fmt/format.h>

#include "json/schema/compile.hpp"
#include "json/schema/evaluate.hpp"
#include "json/schema/explain.hpp"

namespace proteus::json {

std::string to_string(const SchemaError& error) {
  const std::string path = schema::explain::shortened(error.instance_path, 200);
  return fmt::format("{}: {}", path.empty() ? "/" : path, error.message);
}

std::string Validation::text() const {
  std::string lines;
  for (const SchemaError& error : errors) {
    if (!lines.empty()) lines.push_back('\n');
    lines += to_string(error);
  }
  return lines;
}

Result<std::shared_ptr<const Schema>> Schema::compile(const boost::json::value& document,
                                                      const SchemaOptions& options) {
  auto program = schema::Compiler(options).run(document);
  if (!program) return std::unexpected(std::move(program).error());
  return std::make_shared<const Schema>(*std::move(program), options.limits);
}

Schema::Schema(std::unique_ptr<const schema::Program> program, const SchemaLimits& limits)
    : program_(std::move(program)), limits_(limits) {}

Schema::~Schema() = default;

bool Schema::accepts(const boost::json::value& instance) const {
  return schema::Evaluator(*program_, limits_, nullptr, 0).run(instance);
}

Validation Schema::validate(const boost::json::value& instance, std::size_t max_errors) const {
  Validation validation;
  schema::Evaluator evaluator(*program_, limits_, &validation.errors, max_errors);
  evaluator.run(instance);
  validation.stopped = evaluator.stopped();
  if (validation.stopped) validation.errors.push_back(evaluator.stop_reason());
  validation.complete = !validation.stopped && validation.errors.size() < max_errors;
  return validation;
}

}  // namespace proteus::json
