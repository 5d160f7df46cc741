#include "client/message/ready_headers.hpp"

#include <boost/container/small_vector.hpp>

#include "net/http_client/request_head.hpp"

namespace proteus::client {
namespace {

std::string lines_of(const std::vector<Header>& headers) {
  boost::container::small_vector<net::Field, 2> fields;
  for (const auto& [name, value] : headers)
    fields.push_back({name, value});
  return net::write_fields({fields.data(), fields.size()}).value_or("");
}

}  // namespace

ReadyHeaders::ReadyHeaders(std::vector<Header> headers) : headers_(std::move(headers)), lines_(lines_of(headers_)) {}

}  // namespace proteus::client
