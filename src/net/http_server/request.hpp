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

// What a handler keeps for the further requests of a connection.
class ConnectionNote {
 public:
  virtual ~ConnectionNote() = default;
};

// One HTTP request. All views point into the connection's buffers, which do not move them: they are valid until the
// request's exchange ends.
class Request {
 public:
  // How many bytes behind `body` may be read, whatever they hold: parsers that work in whole vectors need no
  // copy.
  static constexpr std::size_t kBodyPadding = ReadBuffer::kPadding;

  std::string_view method() const { return method_; }
  // As it was sent.
  std::string_view target() const { return target_; }
  // The parts of the target, not decoded: neither holds the question mark. Empty path for "*".
  std::string_view path() const { return path_; }
  std::string_view query() const { return query_; }
  const Fields& fields() const { return fields_; }
  // Whole, and decoded if it came in chunks. Empty as long as not all of it is here; see Exchange::read_body.
  std::string_view body() const { return body_; }
  HttpVersion version() const { return version_; }

  const Peer& peer() const { return *peer_; }
  // Whom it comes from, by the word of proxies that are trusted: an address, for logs. Valid until it is asked for
  // again.
  std::string_view client() const;
  bool is_tls() const { return tls_; }
  // Two requests of a connection that have an Authorization have the same number only where it is the same, byte for
  // byte: the head says so, which is compared anyway.
  std::uint64_t authorization_number() const { return authorization_number_; }
  // Of whoever handles the requests; none at first.
  std::unique_ptr<ConnectionNote>& note() const { return note_; }

 private:
  friend class RequestReader;
  friend class RequestHeadParser;
  friend class Connection;

  void clear();
  // Splits the target. False if it has none of the forms a server is asked with (RFC 9112, 3.2).
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
  const TrustedProxies* proxies_ = nullptr;  // none where it is null
  mutable std::string client_;
  mutable std::unique_ptr<ConnectionNote> note_;
};

}  // namespace proteus::net
