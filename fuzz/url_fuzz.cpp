// Compares our URL parser with libcurl's: libcurl accepts whatever ours accepts, with the same host, port and target.
// Ours may reject more.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <curl/curl.h>

#include "check.hpp"
#include "net/http/url.hpp"

namespace {

using namespace proteus;

constexpr unsigned kAsItIs = CURLU_PATH_AS_IS | CURLU_NO_DEFAULT_PORT;

class Theirs {
 public:
  CURLUcode set(std::string_view text) {
    return curl_url_set(url_.get(), CURLUPART_URL, std::string(text).c_str(), kAsItIs);
  }
  // Returns an empty string if the URL has no such part.
  std::string part(CURLUPart what, unsigned flags = kAsItIs) const {
    char* found = nullptr;
    if (curl_url_get(url_.get(), what, &found, flags) != CURLUE_OK) return {};
    const std::unique_ptr<char, decltype(&curl_free)> owned(found, curl_free);
    return found;
  }

 private:
  std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url_{curl_url(), curl_url_cleanup};
};

std::string lower(std::string text) {
  for (char& c : text)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

// libcurl normalises addresses: it writes 127.1 as 127.0.0.1, and shortens the zeros of IPv6.
bool is_same_host(std::string ours, std::string theirs) {
  if (theirs.starts_with('[')) {
    in6_addr a{};
    in6_addr b{};
    theirs = theirs.substr(1, theirs.size() - 2);
    return inet_pton(AF_INET6, ours.c_str(), &a) == 1 && inet_pton(AF_INET6, theirs.c_str(), &b) == 1 &&
           std::string_view(reinterpret_cast<char*>(&a), sizeof a) ==
               std::string_view(reinterpret_cast<char*>(&b), sizeof b);
  }
  if (ours == lower(theirs)) return true;
  in_addr a{};
  in_addr b{};
  return inet_aton(ours.c_str(), &a) == 1 && inet_pton(AF_INET, theirs.c_str(), &b) == 1 && a.s_addr == b.s_addr;
}

void check_same_origin(const net::Url& ours, const Theirs& theirs) {
  fuzz::check(lower(theirs.part(CURLUPART_SCHEME)) == ours.scheme(), "the scheme is the same");
  fuzz::check(is_same_host(std::string(ours.host()), theirs.part(CURLUPART_HOST)), "the host is the same");
  fuzz::check(theirs.part(CURLUPART_PORT, CURLU_DEFAULT_PORT) == std::to_string(ours.port()), "the port is the same");
  fuzz::check(theirs.part(CURLUPART_USER).empty() && theirs.part(CURLUPART_PASSWORD).empty(), "there is no user");
}

void check_parse(std::string_view text) {
  const auto ours = net::Url::parse(text);
  if (!ours) return;
  Theirs theirs;
  fuzz::check(theirs.set(text) == CURLUE_OK, "both accept it");
  check_same_origin(*ours, theirs);
  const std::string query = theirs.part(CURLUPART_QUERY);
  const std::string target = theirs.part(CURLUPART_PATH) + (query.empty() ? "" : "?" + query);
  fuzz::check(ours->target() == target || ours->target() == target + "?", "the target is the same");
  fuzz::check(ours->target().starts_with('/'), "it begins with a slash");
  const auto again = net::Url::parse(ours->text());
  fuzz::check(again && *again == *ours, "it is written as it is read");
}

void check_resolve(std::string_view reference) {
  static const net::Url kBase = net::Url::parse("https://base.example:8443/a/b/c?d").value();
  const auto ours = kBase.resolve(reference);
  if (!ours) return;
  check_parse(ours->text());
  Theirs theirs;
  theirs.set(kBase.text());
  if (reference.empty()) return;
  fuzz::check(theirs.set(reference) == CURLUE_OK, "both resolve it");
  check_same_origin(*ours, theirs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_parse(text);
  check_parse("http://" + std::string(text));
  check_parse("https://127.0.0.1" + std::string(text));
  check_parse("http://[::1]" + std::string(text));
  check_resolve(text);
  return 0;
}
