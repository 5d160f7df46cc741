#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

namespace proteus::auth {

// A JSON object that a server published about itself, read member by member. An absent or null member leaves the output
// unchanged; a member of another type is an error, except for flags. Size, depth, and the length of lists and of single
// texts are limited.
class DocumentReader {
 public:
  static constexpr std::size_t kMaxItems = 1000;
  static constexpr std::size_t kMaxText = 8192;

  // `what` names the document in errors and must be a string literal.
  static Result<DocumentReader> parse(std::string_view text, std::size_t limit, std::string_view what);

  Result<> text(std::string_view name, std::string& onto) const;
  // Reads a URL that can be requested; with `needs_https`, only an https URL.
  Result<> url(std::string_view name, std::string& onto, bool needs_https) const;
  Result<> texts(std::string_view name, std::vector<std::string>& onto) const;
  // Returns true only if the member is the boolean true.
  bool flag(std::string_view name) const;

 private:
  DocumentReader(boost::json::object object, std::string_view what);

  const boost::json::value* find(std::string_view name) const;
  Error fault(std::string_view name, std::string_view expected) const;

  boost::json::object object_;
  std::string_view what_;
};

}  // namespace proteus::auth
