// Fuzzes header values: any text survives encoding and decoding, and an encoded value has only one spelling. An input
// with a line of three dashes is also tried as an input schema and arguments.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/text/base64.hpp"
#include "check.hpp"
#include "json/text.hpp"
#include "mcp/headers.hpp"

namespace {

using proteus::Base64;
using proteus::base64_decode;
using proteus::base64_encode;
using proteus::fuzz::check;
namespace mcp = proteus::mcp;

void check_value(std::string_view text) {
  const std::string encoded = mcp::encode_header_value(text);
  check(std::ranges::all_of(encoded, [](char c) { return c >= 0x20 && c <= 0x7e; }), "a header value is visible ASCII");
  check(!encoded.empty() && encoded.front() != ' ' && encoded.back() != ' ', "a header value survives trimming");
  const auto decoded = mcp::decode_header_value(encoded);
  check(decoded && *decoded == text, "a header value reads back as the same");
  check(mcp::check_name_header(encoded, text).has_value(), "an encoded name matches its body");

  const auto taken = mcp::decode_header_value(text);
  if (taken && *taken != text) {
    check("=?base64?" + base64_encode(*taken) + "?=" == text, "an encoded value has one spelling");
  }
  check(mcp::check_name_header(text, taken ? *taken : "").has_value() == taken.has_value(),
        "a name matches what its header decodes to");
}

void check_base64(std::string_view text) {
  for (const auto alphabet : {Base64::standard, Base64::url}) {
    const auto bytes = base64_decode(text, alphabet);
    check(!bytes || base64_encode(*bytes, alphabet) == text, "Base64 has one spelling");
    check(base64_decode(base64_encode(text, alphabet), alphabet) == text, "Base64 reads back as the same");
  }
}

void check_mirror(std::string_view schema_text, std::string_view arguments_text) {
  const auto schema = proteus::json::parse(schema_text);
  const auto arguments = proteus::json::parse(arguments_text);
  if (!schema || !arguments) return;
  const auto parameters = mcp::mirrored_parameters(*schema);
  if (!parameters) return;
  const auto headers = mcp::mirror(*parameters, *arguments);
  if (!headers) return;
  const auto lookup = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto found = std::ranges::find(*headers, name, &std::pair<std::string, std::string>::first);
    return found == headers->end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
  check(mcp::check_mirrored(*parameters, *arguments, lookup).has_value(), "what is mirrored passes the check");
  if (headers->empty()) return;
  const auto nothing = [](std::string_view) -> std::optional<std::string_view> { return std::nullopt; };
  check(!mcp::check_mirrored(*parameters, *arguments, nothing), "a header that is missing is noticed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = proteus::fuzz::as_text(data, size);
  const auto separator = text.find("\n---\n");
  if (separator != std::string_view::npos) check_mirror(text.substr(0, separator), text.substr(separator + 5));
  check_value(text);
  check_base64(text);
  return 0;
}
