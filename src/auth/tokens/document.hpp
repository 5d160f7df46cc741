#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

namespace proteus::auth {

// A JSON object that a server published about itself, read member by member. What is absent or null changes nothing;
// what has another type is a fault. Bounded in size, depth, and the length of lists.
class DocumentReader {
 public:
  static constexpr std::size_t kMaxItems = 1000;
  static constexpr std::size_t kMaxText = 8192;

  // `what` names the document in errors, and is a literal.
  static Result<DocumentReader> parse(std::string_view text, std::size_t limit, std::string_view what);

  Result<> text(std::string_view name, std::string& onto) const;
  // One that can be requested; https where that is needed.
  Result<> url(std::string_view name, std::string& onto, bool needs_https) const;
  Result<> texts(std::string_view name, std::vector<std::string>& onto) const;
  // True only where it says so.
  bool flag(std::string_view name) const;

 private:
  DocumentReader(boost::json::object object, std::string_view what);

  const boost::json::value* find(std::string_view name) const;
  Error fault(std::string_view name, std::string_view expected) const;

  boost::json::object object_;
  std::string_view what_;
};

}  // namespace proteus::auth
