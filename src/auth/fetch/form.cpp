#include "auth/fetch/form.hpp"

#include <algorithm>
#include <optional>

#include "base/text/ascii.hpp"
#include "base/text/base64.hpp"

namespace proteus::auth {
namespace {

constexpr std::size_t kMaxFormFields = 64;

std::optional<std::string> form_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>((high * 16) + low));
    i += 2;
  }
  return out;
}

}  // namespace

std::string form_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
                          c == '.' || c == '_' || c == '*';
    if (is_plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 0xFU]);
  }
  return out;
}

void append_form(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!out.empty()) out.push_back('&');
  out += form_encoded(name);
  out.push_back('=');
  out += form_encoded(value);
}

std::string basic_credentials(std::string_view id, const Secret& secret) {
  return "Basic " + base64_encode(form_encoded(id) + ":" + form_encoded(secret.reveal()));
}

Result<FormFields> read_form(std::string_view text) {
  if (text.size() > kMaxForm) return std::unexpected(errors::too_large("a form", kMaxForm));
  FormFields form;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), field.size() + 1));
    if (field.empty()) continue;
    if (form.size() == kMaxFormFields)
      return std::unexpected(errors::too_large("the fields of a form", kMaxFormFields));
    const std::size_t equals = field.find('=');
    auto name = form_decoded(field.substr(0, equals));
    auto value = equals == std::string_view::npos ? std::string() : form_decoded(field.substr(equals + 1));
    if (!name || !value) return std::unexpected(errors::invalid("a form is not encoded well"));
    const auto has_name = [&](const auto& other) { return other.first == *name; };
    if (std::ranges::any_of(form, has_name)) return std::unexpected(errors::invalid("a form has a field twice"));
    form.emplace_back(std::move(*name), std::move(*value));
  }
  return form;
}

std::string_view find_in(const FormFields& form, std::string_view name) {
  for (const auto& [key, value] : form) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace proteus::auth
