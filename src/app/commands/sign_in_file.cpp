#include "app/commands/sign_in_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/canonical.hpp"
#include "store/private_file.hpp"

namespace proteus::app {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

Result<std::filesystem::path> folder_of(const Environment& environment) {
  const auto given = [&](const char* name) { return environment(name).value_or(""); };
  if (std::string folder = given("PROTEUS_SIGN_INS"); !folder.empty()) return folder;
  if (const std::string config = given("XDG_CONFIG_HOME"); !config.empty())
    return std::filesystem::path(config) / "proteus" / "sign-ins";
  if (const std::string home = given("HOME"); !home.empty())
    return std::filesystem::path(home) / ".config" / "proteus" / "sign-ins";
  return std::unexpected(errors::invalid("neither PROTEUS_SIGN_INS, XDG_CONFIG_HOME nor HOME is set"));
}

// The host is for people; the hash distinguishes the URLs of a host.
std::string name_of(const net::Url& server) {
  std::string host(server.host());
  std::ranges::replace_if(host, [](char c) { return c == ':' || c == '/'; }, '_');
  return fmt::format("{}-{}.json", host.substr(0, 100), json::hex(json::sha256(server.text())).substr(0, 16));
}

}  // namespace

Result<SignInFile> SignInFile::of(const net::Url& server, const Environment& environment) {
  auto folder = folder_of(environment);
  if (!folder) return std::unexpected(std::move(folder.error()));
  return SignInFile(*folder / name_of(server));
}

Result<Secret> SignInFile::load() const {
  auto text = store::read_private(path_, kMostBytes);
  if (text) return Secret(std::move(*text));
  if (text.error().kind() == ErrorKind::not_found) return Secret();
  return std::unexpected(std::move(text.error()));
}

Result<> SignInFile::save(const Secret& kept) const {
  std::error_code fault;
  const auto folder = path_.parent_path();
  // An existing directory may be somebody else's, so its mode stays as it is.
  if (std::filesystem::create_directories(folder, fault))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, fault);
  if (fault) return std::unexpected(errors::internal(fmt::format("{}: {}", folder.string(), fault.message())));
  return store::write_private(path_, kept.reveal());
}

Result<> SignInFile::remove() const {
  std::error_code fault;
  std::filesystem::remove(path_, fault);
  if (fault) return std::unexpected(errors::internal(fmt::format("{}: {}", path_.string(), fault.message())));
  return {};
}

}  // namespace proteus::app
