#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/value.hpp>
#include <proteus/error.hpp>

namespace proteus::json {

enum class Draft : std::uint8_t { draft7, draft2020_12 };

// What one schema may cost. The defaults leave an order of magnitude to the largest tool schemas seen in
// practice and keep a hostile one from holding a thread or the memory of the process.
struct SchemaLimits {
  // Names and strings of every document a schema is made of: what the compiled form can at most have to keep.
  std::size_t bytes = std::size_t{1024} * 1024;
  // JSON values of those documents.
  std::size_t values = 100'000;
  // Nesting of a document; the compiler recurses once per level.
  std::size_t depth = 128;
  std::size_t subschemas = 20'000;
  // Different patterns, each of which may hold up to 1 MiB while it is matched, and the instructions of all
  // of them, which take 2 µs each to compile; most patterns have fewer than a hundred.
  std::size_t patterns = 100;
  std::size_t pattern_instructions = 50'000;

  // Steps of one validation: one per rule and value, and more for long texts; time in patterns counts as one
  // per 50 ns. Two million take some 20 ms, and 0.1 s if patterns are all there is. Branches that multiply
  // end here.
  std::size_t work = 2'000'000;
  // Nesting of the instance, and nesting of rules within rules while it is checked: both are C++ stack.
  std::size_t instance_depth = 128;
  std::size_t evaluation_depth = 1024;
  // Whoever reads the errors corrects a few at a time.
  std::size_t errors = 20;
};

struct SchemaOptions {
  // What `$ref` and `$schema` may name besides the document itself and the two standard metaschemas, by
  // absolute URI without fragment. Nothing is ever fetched.
  std::map<std::string, boost::json::value, std::less<>> documents;
  // For documents without `$schema`.
  Draft default_draft = Draft::draft2020_12;
  SchemaLimits limits;
};

// One thing wrong with an instance, worded for whoever has to correct it.
struct SchemaError {
  std::string instance_path;  // JSON Pointer (RFC 6901); empty for the whole instance
  std::string keyword;        // the schema keyword, or "limit" for a limit of this library
  std::string message;        // bounded, however large the instance is
};

// `/age: must be an integer, not the string "four"`; the whole instance shows as `/`, and long paths are cut.
std::string to_string(const SchemaError& error);

struct Validation {
  std::vector<SchemaError> errors;
  // False if checking stopped at a limit, so that more may be wrong than `errors` says.
  bool complete = true;

  bool ok() const { return errors.empty(); }
  // One line per error.
  std::string text() const;
};

namespace schema {
struct Program;
}

// A JSON Schema, compiled once. Immutable, so any number of threads may use one at a time; keeps nothing of
// the documents it was compiled from.
class Schema {
 public:
  // Dialects: 2020-12, draft-07, and metaschemas among `options.documents` that choose vocabularies of
  // 2020-12. Fails as `unsupported` for other dialects and for patterns that have no linear-time form, as
  // `too_large` over a limit, as `invalid` for everything else, with the place in the schema.
  static Result<std::shared_ptr<const Schema>> compile(const boost::json::value& document,
                                                       const SchemaOptions& options = {});

  // Whether the instance is valid, found as cheaply as possible. False if a limit was hit first.
  bool accepts(const boost::json::value& instance) const;

  // The same, with what is wrong: at most `limits.errors` things, or as many as given. The work is bounded all the
  // same.
  Validation validate(const boost::json::value& instance) const { return validate(instance, limits_.errors); }
  Validation validate(const boost::json::value& instance, std::size_t max_errors) const;

  Schema(std::unique_ptr<const schema::Program> program, const SchemaLimits& limits);
  ~Schema();
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

 private:
  std::unique_ptr<const schema::Program> program_;
  SchemaLimits limits_;
};

}  // namespace proteus::json
