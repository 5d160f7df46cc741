#include "datasets/mapping/ratification.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/secrets/sealing.hpp"
#include "datasets/mapping/mapping.hpp"
#include "datasets/mapping/toml_text.hpp"
#include "datasets/mapping/value.hpp"
#include "json/binding.hpp"
#include "json/canonical.hpp"

namespace proteus::datasets {
namespace {

constexpr std::size_t kBytes = 32;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// Returns what the authentication code of an entry covers. Each part has its length in front, so that no two entries
// have the same text.
std::string covered(std::string_view name, const Ratification& ratification) {
  const std::string at = write_instant(ratification.at);
  const std::string_view state = ratification.revoked ? "revoked" : "ratified";
  std::string text;
  for (const std::string_view part :
       {name, std::string_view(ratification.sha256), std::string_view(ratification.by), std::string_view(at), state})
    text += fmt::format("{}:{};", part.size(), part);
  return json::hex(json::sha256(text));
}

std::string mac_with(const Secret& key, std::string_view name, const Ratification& ratification) {
  return hex(derive_bytes(key.reveal(), covered(name, ratification), kBytes));
}

struct RawEntry {
  std::string sha256;
  std::string by;
  std::string at;
  std::string mac;
  bool revoked = false;
};

Result<> check_hex(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != 2 * kBytes || !std::ranges::all_of(text, is_digit))
    return std::unexpected(errors::invalid("must be 64 hexadecimal digits"));
  return {};
}

const json::Binding<RawEntry>& entry_binding() {
  static const json::Binding<RawEntry> binding{
      json::field("sha256", &RawEntry::sha256, json::text({.check = check_hex}), "Of the file").required(),
      json::field("by", &RawEntry::by, json::text({.check = check_who}), "Who").required(),
      json::field("at", &RawEntry::at, json::text(), "When").required(),
      json::field("mac", &RawEntry::mac, json::text({.check = check_hex}), "Proof").required(),
      json::field("revoked", &RawEntry::revoked, json::boolean(), "Whether it was taken back"),
  };
  return binding;
}

}  // namespace

std::string write_instant(store::Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (time - seconds).count());
}

std::optional<store::Time> parse_instant(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00.000000Z";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t begin, std::size_t count) {
    int value = 0;
    std::from_chars(text.data() + begin, text.data() + begin + count, value);
    return value;
  };
  const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2))));
  if (!day.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
  return store::Time(std::chrono::sys_days(day)) + std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) +
         std::chrono::microseconds(number(20, 6));
}

Result<> check_who(std::string_view by) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (by.empty() || by.size() > 200 || std::ranges::any_of(by, is_control) || take_text(by, by.size()).repaired)
    return std::unexpected(errors::invalid("must be a name of 1 to 200 bytes of UTF-8, on one line"));
  return {};
}

Seals::Seals(std::string_view pepper, std::optional<std::string_view> previous) {
  keys_.emplace_back(derive_bytes(pepper, "dataset ratification", kBytes));
  if (previous) keys_.emplace_back(derive_bytes(*previous, "dataset ratification", kBytes));
}

std::string Seals::make(std::string_view name, const Ratification& ratification) const {
  return mac_with(keys_.front(), name, ratification);
}

Seals::Verdict Seals::check(std::string_view name, const Ratification& ratification, std::string_view mac) const {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (equal_in_constant_time(mac_with(keys_[i], name, ratification), mac))
      return i == 0 ? Verdict::current : Verdict::previous;
  }
  return Verdict::wrong;
}

RatificationFile parse_ratifications(std::string_view text) {
  RatificationFile file;
  const auto document = toml::Document::parse(text);
  if (!document) {
    file.faults.push_back(fmt::format("line {}: {}", document.error().position.line, document.error().message));
    return file;
  }
  for (const auto& member : document->root().as_object()) {
    const bool full = file.entries.size() == limits::kRatifications;
    const std::string name(member.key());
    json::Faults faults;
    RawEntry raw;
    const json::Place root(faults);
    const json::Place place = root.member(name);
    if (full)
      place.fault(fmt::format("neither this nor what follows is read: there are {} entries", limits::kRatifications));
    if (auto checked = check_dataset_name(name); !checked) place.fault(checked.error().message());
    entry_binding().read(member.value(), raw, place);
    const auto at = parse_instant(raw.at);
    if (!at && faults.empty()) place.member("at").fault("must be an instant such as 2026-07-28T12:00:00.000000Z");
    for (const auto& fault : faults.all())
      file.faults.push_back(
          fmt::format("line {}: {}: {}", document->locate(fault.pointer).line, fault.path, fault.message));
    if (full) break;
    if (!faults.empty()) continue;
    file.entries[name] = {{.sha256 = raw.sha256, .by = raw.by, .at = *at, .revoked = raw.revoked}, raw.mac};
  }
  return file;
}

std::string write_ratifications(const RatificationEntries& entries) {
  std::string out = "# Written by `proteus dataset ratify` and `revoke`. An entry that is edited counts no more.\n";
  for (const auto& [name, entry] : entries) {
    out += fmt::format("\n[{}]\nsha256 = \"{}\"\nby = {}\nat = \"{}\"\n", name, entry.ratification.sha256,
                       toml_quoted(entry.ratification.by), write_instant(entry.ratification.at));
    if (entry.ratification.revoked) out += "revoked = true\n";
    out += fmt::format("mac = \"{}\"\n", entry.mac);
  }
  return out;
}

}  // namespace proteus::datasets
