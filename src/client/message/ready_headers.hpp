#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace proteus::client {

using Header = std::pair<std::string, std::string>;

// Headers that many requests carry, such as a caller's credentials, checked and written once. Immutable.
class ReadyHeaders {
 public:
  using Pointer = std::shared_ptr<const ReadyHeaders>;

  explicit ReadyHeaders(std::vector<Header> headers);

  const std::vector<Header>& headers() const { return headers_; }
  // Returns the headers as lines of a request's head; empty if they cannot be sent.
  const std::string& lines() const { return lines_; }

 private:
  std::vector<Header> headers_;
  std::string lines_;
};

}  // namespace proteus::client
