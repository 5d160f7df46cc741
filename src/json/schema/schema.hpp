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

// Limits of what one schema may cost. The defaults are an order of magnitude above the largest tool schemas seen in
// practice, and keep a hostile schema from blocking a thread or exhausting the memory of the process.
struct SchemaLimits {
  // Bytes of the names and strings in all documents of the schema, which bounds the size of the compiled form.
  std::size_t bytes = std::size_t{1024} * 1024;
  // JSON values in all documents of the schema.
  std::size_t values = 100'000;
  // Nesting of a document. The search for subschemas recurses once per level.
  std::size_t depth = 128;
  std::size_t subschemas = 20'000;
  // Different patterns, each of which may take up to 1 MiB while it is matched, and the instructions of all patterns.
  // Each instruction takes 2 µs to compile; most patterns have fewer than a hundred.
  std::size_t patterns = 100;
  std::size_t pattern_instructions = 50'000;

  // Steps of one validation: one per rule and value, and more for long texts; 50 ns in patterns count as one step. Two
  // million steps take some 20 ms, or 0.1 s if all are spent in patterns. Only the last match may exceed that, by up to
  // 0.6 s. Stops branches that multiply.
  std::size_t work = 2'000'000;
  // Nesting of the instance, and of schemas applied within schemas during validation. Both use the C++ stack.
  std::size_t instance_depth = 128;
  std::size_t evaluation_depth = 1024;
  // Errors per validation: readers correct only a few at a time.
  std::size_t errors = 20;
};

struct SchemaOptions {
  // Documents that `$ref` and `$schema` may name besides the document itself and the standard metaschemas, by absolute
  // URI without fragment. Nothing is ever fetched.
  std::map<std::string, boost::json::value, std::less<>> documents;
  // The draft of documents without `$schema`.
  Draft default_draft = Draft::draft2020_12;
  SchemaLimits limits;
};

// One fault of an instance, worded for the reader who has to correct it.
struct SchemaError {
  std::string instance_path;  // JSON Pointer (RFC 6901); empty for the whole instance
  std::string keyword;        // the schema keyword, or "limit" for a limit of this library
  std::string message;        // bounded, however large the instance is
};

// Returns `/age: must be an integer, not the string "four"`. The path of the whole instance is `/`; long paths are cut.
std::string to_string(const SchemaError& error);

struct Validation {
  std::vector<SchemaError> errors;
  // False if there may be more errors, because `errors` is full or validation stopped at a limit.
  bool complete = true;
  // Whether validation stopped at a limit of work or depth. The errors found so far may not be faults of the instance.
  bool stopped = false;

  bool ok() const { return errors.empty(); }
  // Returns one line per error.
  std::string text() const;
};

namespace schema {
struct Program;
}

// A compiled JSON Schema. Immutable and thread-safe. Keeps no reference to the documents from which it was compiled.
class Schema {
 public:
  // Compiles a schema in a supported dialect: 2020-12, draft-07, or a metaschema among `options.documents` that chooses
  // vocabularies of 2020-12. Fails as `unsupported` for other dialects and for patterns without a linear-time form, as
  // `too_large` over a limit, and as `invalid` otherwise. Most messages about limits do not name the place in the
  // schema; all others do.
  static Result<std::shared_ptr<const Schema>> compile(const boost::json::value& document,
                                                       const SchemaOptions& options = {});

  // Whether the instance is valid, found as cheaply as possible. False if validation stopped at a limit.
  bool accepts(const boost::json::value& instance) const;

  // Validates the instance and returns up to `limits.errors` or `max_errors` errors, which must be at least one. The
  // same limit of work applies.
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
