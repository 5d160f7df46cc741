#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http/fields.hpp"
#include "net/http_server/read_buffer.hpp"
#include "net/io/stream.hpp"

namespace proteus::net {

class TrustedProxies;

enum class HttpVersion : std::uint8_t { http_1_0, http_1_1 };

// State that a handler keeps for later requests of the same connection.
class ConnectionNote {
 public:
  virtual ~ConnectionNote() = default;
};

// One HTTP request. Its views point into the buffers of the connection and are valid until the request's exchange ends.
class Request {
 public:
  // Number of readable bytes after `body`, whatever they contain, for parsers that read whole vectors.
  static constexpr std::size_t kBodyPadding = ReadBuffer::kPadding;

  std::string_view method() const { return method_; }
  // Returns the target as it was sent.
  std::string_view target() const { return target_; }
  // The parts of the target, not decoded and without the question mark. The path of "*" is empty.
  std::string_view path() const { return path_; }
  std::string_view query() const { return query_; }
  const Fields& fields() const { return fields_; }
  // Returns the whole body, decoded if it was chunked. Empty until all of it has arrived; see Exchange::read_body.
  std::string_view body() const { return body_; }
  HttpVersion version() const { return version_; }

  const Peer& peer() const { return *peer_; }
  // Returns the client's address according to trusted proxies. Must not decide about access. Valid until the next call.
  std::string_view client() const;
  bool is_tls() const { return tls_; }
  // Two requests of a connection that have an Authorization field have the same number only if the field is the same,
  // byte for byte. Costs nothing: the parser compares heads anyway.
  std::uint64_t authorization_number() const { return authorization_number_; }
  // Returns the handler's note on the connection; null at first.
  std::unique_ptr<ConnectionNote>& note() const { return note_; }

 private:
  friend class RequestReader;
  friend class RequestHeadParser;
  friend class Connection;

  void clear();
  // Splits the target. Returns false if a server does not accept its form (RFC 9112, section 3.2).
  bool set_target(std::string_view target);

  std::string_view method_;
  std::string_view target_;
  std::string_view path_;
  std::string_view query_;
  std::string_view body_;
  Fields fields_;
  HttpVersion version_ = HttpVersion::http_1_1;
  bool tls_ = false;
  std::uint64_t authorization_number_ = 0;
  const Peer* peer_ = nullptr;
  const TrustedProxies* proxies_ = nullptr;  // null for none
  mutable std::string client_;
  mutable std::unique_ptr<ConnectionNote> note_;
};

}  // namespace proteus::net
