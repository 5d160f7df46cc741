// Fuzzes HTTP tools: the first line of the input is a tool that a back end registers, the rest the arguments of a call.
// An accepted tool can be read again from its definition and its hidden half, and the body of a request is JSON.
#include <cstdint>
#include <string>
#include <string_view>

#include "check.hpp"
#include "json/text.hpp"
#include "providers/http_tool/arguments.hpp"
#include "providers/http_tool/http_tool_reader.hpp"

using namespace proteus;
using namespace proteus::providers;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\n'));
  const std::string_view arguments = text.size() < input.size() ? input.substr(text.size() + 1) : std::string_view();

  SharedSchemas schemas;
  auto outcome = read_http_tool(text, schemas, {});
  const auto* read = std::get_if<ReadTool>(&outcome);
  if (read == nullptr) {
    check(!std::get<std::vector<ToolFault>>(outcome).empty(), "what is refused has a fault");
    return 0;
  }
  auto again = read_http_tool(join_tool(read->definition, read->hidden), schemas, {});
  const auto* second = std::get_if<ReadTool>(&again);
  check(second != nullptr && second->definition == read->definition && second->hidden == read->hidden,
        "a tool can be read from its halves");
  check(second->tool->tail == read->tool->tail, "what is fixed stays the same");

  const auto checked = CheckedArguments::check(*read->tool, arguments);
  if (!checked) return 0;
  std::string body = "{";
  body += checked->members();
  if (!checked->members().empty() && !read->tool->tail.empty()) body += ",";
  body += read->tool->tail + "}";
  const auto sent = json::parse(body);
  check(sent && sent->is_object(), "what is sent is JSON, with each name once");
  return 0;
}
