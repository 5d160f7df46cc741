#pragma once

#include <array>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "mcp/errors.hpp"
#include "mcp/jsonrpc.hpp"
#include "net/http_server.hpp"

namespace proteus::server {

// A whole HTTP answer that was found without waiting: a text, or a result in pieces that are not copied together.
class HttpAnswer {
 public:
  using Parts = boost::container::small_vector<std::string_view, 8>;

  // `fields` are whole lines of the head, and live longer than the answer. What an error itself has to say there comes
  // by itself.
  static HttpAnswer error(unsigned status, std::string_view id, const Error& error, mcp::Era era,
                          std::string_view fields = {});
  static HttpAnswer empty(unsigned status);
  static HttpAnswer json(std::string body);
  // Events that are all there already.
  static HttpAnswer events(std::string frames);

  // A result, as JSON or as the last of some events. Made where it is to stay: it is large.
  HttpAnswer(std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply, const mcp::ResultStyle& style);
  HttpAnswer(std::string frames, std::string_view id, const mcp::MethodInfo& method, mcp::Reply&& reply,
             const mcp::ResultStyle& style);

  net::ResponseHead head() const {
    return {.status = status_,
            .content_type = type_,
            .prepared = own_fields_.empty() ? fields_ : std::string_view(own_fields_)};
  }
  // Views into this answer, which must stay where it is.
  Parts parts() const;

 private:
  HttpAnswer() = default;

  unsigned status_ = 200;
  std::string_view type_;
  std::string_view fields_;
  std::string own_fields_;
  std::string text_;
  mcp::ResultFrame frame_;
  mcp::Reply reply_;
  bool joined_ = false;  // the text has the reply in it
  std::string_view behind_;
};

}  // namespace proteus::server
