#include "gateway/operate/registration_rules.hpp"

#include <fmt/format.h>

#include "net/http/url.hpp"

namespace proteus::gateway {
namespace {

using providers::UpstreamEntry;
using providers::UpstreamSettings;

// Whoever is there gets what is sent there. Empty where that cannot be told.
std::string place_of(const UpstreamSettings& settings) {
  if (settings.command.empty()) {
    const auto url = net::Url::parse(settings.url);
    return url ? std::string(url->origin()) : std::string();
  }
  std::string place = "program";
  for (const std::string& word : settings.command)
    place.append(1, '\0').append(word);
  return place;
}

void add_variables(const UpstreamSettings& settings, RegistrationRules::Variables& onto) {
  if (const std::string& variable = settings.authentication.variable(); !variable.empty()) onto.insert(variable);
  onto.insert(settings.pass_environment.begin(), settings.pass_environment.end());
}

std::string own_secret(std::string_view variable) {
  return fmt::format("{} is a secret of Proteus itself and is never sent", variable);
}

std::string not_named(std::string_view variable) {
  return fmt::format(
      "the configuration does not name {} for this upstream: [admin] environment, or an upstream of the file at the "
      "same place, must name it",
      variable);
}

}  // namespace

RegistrationRules::RegistrationRules(const RegistrationSettings& settings, const std::vector<UpstreamEntry>& file,
                                     const UpstreamSettings& defaults)
    : everywhere_(settings.environment.begin(), settings.environment.end()),
      own_secrets_(settings.own_secrets.begin(), settings.own_secrets.end()),
      programs_(settings.programs) {
  add_variables(defaults, everywhere_);
  for (const UpstreamEntry& entry : file)
    add_variables(entry.settings, by_place_[place_of(entry.settings)]);
}

bool RegistrationRules::may_go(std::string_view variable, const Variables* of_the_place) const {
  return everywhere_.contains(variable) || (of_the_place != nullptr && of_the_place->contains(variable));
}

std::vector<json::Fault> RegistrationRules::check(const UpstreamEntry& entry) const {
  json::Faults faults;
  const json::Place root(faults);
  const UpstreamSettings& settings = entry.settings;
  const bool is_program = !settings.command.empty();
  // A program's variables decide what it runs as much as its arguments do.
  for (const std::string_view key : {"command", "environment"}) {
    if (is_program && programs_ == Commands::refused && entry.given.contains(key))
      root.member(key).fault("[admin] commands does not allow the API to set what runs");
  }

  const std::string where = place_of(settings);
  const auto named = by_place_.find(where);
  const Variables* of_the_place = where.empty() || named == by_place_.end() ? nullptr : &named->second;
  const auto check_one = [&](std::string_view variable, const json::Place& at) {
    if (own_secrets_.contains(variable)) return at.fault(own_secret(variable));
    if (!may_go(variable, of_the_place)) at.fault(not_named(variable));
  };
  // What the file names and the API sends elsewhere is a fault of where it is sent.
  const json::Place moved = root.member(is_program ? "command" : "url");
  if (const std::string& variable = settings.authentication.variable(); !variable.empty()) {
    const json::Place authentication = root.member("authentication");
    check_one(variable, entry.given.contains("authentication")
                            ? authentication.member(settings.authentication.variable_key())
                            : moved);
  }
  const json::Place passed = root.member("pass_environment");
  for (std::size_t i = 0; i < settings.pass_environment.size(); ++i)
    check_one(settings.pass_environment[i], entry.given.contains("pass_environment") ? passed.item(i) : moved);
  return faults.all();
}

}  // namespace proteus::gateway
