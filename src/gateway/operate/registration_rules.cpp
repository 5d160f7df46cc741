#include "gateway/operate/registration_rules.hpp"

#include <fmt/format.h>

#include "net/http/url.hpp"

namespace proteus::gateway {
namespace {

using providers::UpstreamEntry;
using providers::UpstreamSettings;

// Returns who gets what is sent to the upstream: an origin or a program. Empty if the URL cannot be read.
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

// Returns who gets the credentials. Those of an OAuth client go only to the issuer, whatever the upstream says.
std::string receiver_of(const UpstreamSettings& settings) {
  const auto& authentication = settings.authentication;
  return authentication.is_oauth() ? "issuer " + authentication.oauth.issuer : place_of(settings);
}

// A file counts like a variable: an upstream that names it has it read.
std::string as_variable(std::string_view file) { return fmt::format("file {}", file); }

void add_credentials(const UpstreamSettings& settings, RegistrationRules::Variables& onto) {
  if (const std::string& variable = settings.authentication.variable(); !variable.empty()) onto.insert(variable);
  if (const std::string& file = settings.authentication.oauth.client_key_file; !file.empty())
    onto.insert(as_variable(file));
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
  add_credentials(defaults, defaults.authentication.is_oauth() ? by_place_[receiver_of(defaults)] : everywhere_);
  everywhere_.insert(defaults.pass_environment.begin(), defaults.pass_environment.end());
  for (const UpstreamEntry& entry : file) {
    add_credentials(entry.settings, by_place_[receiver_of(entry.settings)]);
    const auto& passed = entry.settings.pass_environment;
    by_place_[place_of(entry.settings)].insert(passed.begin(), passed.end());
  }
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

  const auto named_for = [this](const std::string& where) -> const Variables* {
    const auto named = by_place_.find(where);
    return where.empty() || named == by_place_.end() ? nullptr : &named->second;
  };
  const Variables* const of_the_place = named_for(place_of(settings));
  const Variables* const of_the_receiver = named_for(receiver_of(settings));
  const auto check_one = [&](std::string_view variable, const Variables* where, const json::Place& at) {
    if (own_secrets_.contains(variable)) return at.fault(own_secret(variable));
    if (!may_go(variable, where)) at.fault(not_named(variable));
  };
  // If the file names a variable and the API only changed where it goes, the fault is in the new place.
  const json::Place moved = root.member(is_program ? "command" : "url");
  if (const std::string& variable = settings.authentication.variable(); !variable.empty()) {
    const json::Place authentication = root.member("authentication");
    check_one(
        variable, of_the_receiver,
        entry.given.contains("authentication") ? authentication.member(settings.authentication.variable_key()) : moved);
  }
  if (const std::string& file = settings.authentication.oauth.client_key_file; !file.empty()) {
    const json::Place authentication = root.member("authentication");
    if (!may_go(as_variable(file), of_the_receiver))
      authentication.member("client_key_file")
          .fault("the configuration does not name this file for this issuer: an upstream of the file must name it");
  }
  const json::Place passed = root.member("pass_environment");
  for (std::size_t i = 0; i < settings.pass_environment.size(); ++i)
    check_one(settings.pass_environment[i], of_the_place,
              entry.given.contains("pass_environment") ? passed.item(i) : moved);
  return faults.all();
}

}  // namespace proteus::gateway
