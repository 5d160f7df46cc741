#include "server/core/service.hpp"

#include <exception>

namespace proteus::server {

Error Service::failed(const mcp::Request& request) {
  const auto note = [&](std::string_view what) {
    const std::string_view between = request.name.empty() ? "" : " of ";
    exceptions_.at(log::Level::error, "answering {}{}{} threw: {}", request.method->name, between, request.name, what);
  };
  try {
    throw;
  } catch (const std::exception& failure) {
    note(failure.what());
  } catch (...) {
    note("something that is no exception");
  }
  // The log has the reason; the client learns only that the server failed.
  return errors::internal("The server failed to handle this request");
}

}  // namespace proteus::server
